// What `loc(...)` says, once the whole text is read: most locations stand as aliases behind the ops that use them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/mlir/module.h"

namespace heddle {
class Scanner;
}

namespace heddle::mlir {

/// Views are into the text of the module, which has to live as long.
class Locations {
 public:
  /// `#loc3 = loc(TEXT)`.
  void define(std::string_view alias, std::string_view text) { aliases_.insert_or_assign(alias, text); }
  /// The number of a location that an op has, for resolve(): `loc(TEXT)`. Equal texts have one number.
  std::size_t ask(std::string_view text);
  /// All locations that were asked for without repeats, the unknown one first, and for each number from ask() which of them it is.
  struct Resolved {
    std::vector<Location> locations;
    std::vector<std::size_t> of_number;
  };
  Resolved resolve();

 private:
  Location read(Scanner& in, int depth);
  Location read_alias(std::string_view name, int depth);

  std::unordered_map<std::string_view, std::string_view> aliases_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::vector<std::string_view> asked_;
  std::unordered_map<std::string_view, Location> known_;  ///< of aliases; while one is being read, the unknown location
  std::size_t left_ = std::size_t{1} << 25;               ///< characters that may still be kept: callers are repeated in every location
};

/// A string of the text without its quotes, escapes undone.
std::string unquoted(std::string_view text);

}  // namespace heddle::mlir
