// A JSON value as a plain tree: objects keep the order of their keys, integers stay exact, numbers that are no 64-bit
// integer keep their text. Reading reports line, column and JSON Pointer; writing is deterministic and made to be read:
// whatever is short stands on one line.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace heddle {

struct JsonMember;

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;

  Json();  ///< null
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();
  Json(bool value);
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value);
  Json(double value);  ///< shortest text that reads back the same; not a number and infinities become null
  Json(const char* value);
  Json(std::string value);
  Json(std::string_view value);
  Json(Array items);
  Json(Object members);

  static Json array();
  static Json object();
  /// A number in the words of the file ("1e400", "18446744073709551616").
  static Json number(std::string text, double value);

  bool is_null() const;
  bool is_object() const;
  bool is_array() const;
  const bool* boolean() const;  ///< nullptr when it is something else; the same below
  const std::int64_t* integer() const;
  const double* number() const;            ///< only numbers that are no 64-bit integers
  const std::string& number_text() const;  ///< Pre: number()
  const std::string* string() const;
  const Array* items() const;
  Array* items();
  const Object* members() const;
  Object* members();

  const Json* find(std::string_view key) const;  ///< nullptr when absent or not an object
  Json* find(std::string_view key);
  /// Adds or replaces a member of an object. Returns itself, so that members can be listed in a row.
  Json& set(std::string_view key, Json value);
  /// Appends to an array.
  Json& push(Json value);

  /// Several lines, two spaces per level, a newline at the end. Anything that fits into the width stands on one line,
  /// except lists of several objects.
  std::string pretty(std::size_t width = 120) const;
  /// One line without a newline (JSON Lines).
  std::string line() const;

 private:
  struct Wide {
    std::uint64_t bits;
    bool negative;
  };
  struct Number {
    double value;
    std::string text;
  };
  explicit Json(Wide integer);

  std::variant<std::monostate, bool, std::int64_t, Number, std::string, Array, Object> value_;
};

struct JsonMember {
  std::string key;
  Json value;
};

template <std::integral T>
requires(!std::same_as<T, bool>) Json::Json(T value) : Json(Wide{static_cast<std::uint64_t>(value), value < 0}) {}

/// Reads text. Faults: syntax (with line and column), nesting deeper than 64, more than four million values or 10 000
/// keys in one object, keys given twice (all of them).
Result<Json> parse_json(std::string_view text, const std::string& file);

/// "pointer/key", escaped as RFC 6901 wants.
std::string pointer_to(const std::string& pointer, std::string_view key);
std::string pointer_to(const std::string& pointer, std::size_t index);

}  // namespace heddle
