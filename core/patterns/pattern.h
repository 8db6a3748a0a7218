// Patterns: kernels that Heddle writes for you. A pattern is a name, a sentence, a list of typed options, and a function that makes a
// kernel of them; `heddle new` and the window's dialog read the same description.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

struct PatternOption {
  enum class Type { Choice, Integer, Flag };
  std::string name, about;
  Type type = Type::Flag;
  std::string standard;                      ///< what it is when nothing is said, as text: "gelu", "8192", "no"
  std::vector<std::string> choices = {};     ///< Choice: the words; Flag: "no" and "yes"
  std::int64_t low = 0, high = 0, step = 1;  ///< Integer: the range, and what it is a multiple of
};

/// Options by name, as text.
using PatternChoices = std::map<std::string, std::string, std::less<>>;

/// All options of a pattern, checked.
class PatternValues {
 public:
  explicit PatternValues(PatternChoices values) : values_(std::move(values)) {}
  const std::string& word(std::string_view option) const { return values_.find(option)->second; }
  bool flag(std::string_view option) const { return word(option) == "yes"; }
  std::int64_t number(std::string_view option) const { return std::stoll(word(option)); }
  DType dtype(std::string_view option) const { return parse_dtype(word(option)).value(); }

 private:
  PatternChoices values_;
};

struct Pattern {
  std::string name, about;
  std::vector<PatternOption> options;
  /// Faults where options do not go together; the pointer names the option.
  Result<Kernel> (*make)(const PatternValues& values);
};

/// In the order in which they are offered.
const std::vector<Pattern>& patterns();
/// nullptr when unknown.
const Pattern* find_pattern(std::string_view name);

/// "128 to 8192, a multiple of 8", "none, relu or gelu".
std::string allowed_text(const PatternOption& option);
/// What is wrong with a value of this option; empty when it is fine.
std::string option_fault(const PatternOption& option, const std::string& value);

/// The kernel that a pattern makes with these options and its own defaults for the others, called `name` or, without one, after the
/// pattern. All faults at once; the pointer of each names the option.
Result<Kernel> kernel_of(const Pattern& pattern, const PatternChoices& choices, const std::string& name = {});

}  // namespace heddle
