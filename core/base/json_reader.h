// A cursor into a JSON tree that collects faults instead of stopping at the first: what every reader of a format uses.
//
// Every question that fails adds one fault (file, pointer, what was expected, what was found, a guess) and answers with
// a harmless value, so that reading goes on. An ObjectReader remembers which keys were asked for; what is left when it
// is destroyed gets a warning with the nearest known key. Keys that start with "x-", and "$schema" and "generator",
// belong to others and are never warned about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/base/json.h"
#include "core/base/suggest.h"

namespace heddle {

/// No count in any file is meant to be larger; far from where sums of products could overflow.
inline constexpr std::int64_t kLargestNumber = std::int64_t{1} << 40;

/// No list in any file is meant to be longer. Keeps what is quadratic in a file's length far from being a hang.
inline constexpr std::size_t kLongestList = 4096;
/// Faults, and warnings, after which guessing stops and the rest is counted instead of listed.
inline constexpr std::size_t kMostFaults = 100;

/// What reading one file has found out.
struct ReadLog {
  std::string file;
  std::vector<Fault> faults;
  std::vector<Fault> warnings;
  std::vector<std::string> unknown_keys;  ///< pointers of members that the format does not define

  void fault(const std::string& pointer, std::string message, std::string hint = {});
  /// A fault at, above (the root apart) or below `pointer` has been reported already.
  bool touched(const std::string& pointer) const;
  Error error() const { return {ErrorKind::Input, faults}; }
};

/// What stands there, for messages: `"12"`, `1.5`, `an object`.
std::string describe(const Json& json);

class Cursor {
 public:
  Cursor(const Json& json, std::string pointer, ReadLog& log) : json_(&json), pointer_(std::move(pointer)), log_(&log) {}

  const Json& json() const { return *json_; }
  const std::string& pointer() const { return pointer_; }
  ReadLog& log() const { return *log_; }
  void fault(std::string message, std::string hint = {}) const { log_->fault(pointer_, std::move(message), std::move(hint)); }

  // Each adds a fault and answers nothing (or the lower bound, false, an empty text) when something else stands there.
  std::optional<std::int64_t> integer(std::int64_t low, std::int64_t high) const;
  std::optional<std::uint64_t> natural64() const;  ///< all 64 bits, for seeds
  std::optional<double> real() const;              ///< seconds and the like; not negative
  std::optional<bool> boolean() const;
  std::optional<std::string> string() const;  ///< any text
  /// What kernels, machines, units, ops, values, tensors, parameters, kinds and roles may be called, wherever one is named: at most 200
  /// letters and digits of ASCII, blanks and _ . : / # + - ( ) [ ] , beginning with a letter, a digit or _ and not ending with a blank.
  /// Such a name is no formula, markup or command in any format that Heddle writes.
  std::optional<std::string> name() const;
  std::optional<std::string> label()
      const;                                ///< a line for people, a path, a word: not empty, at most 200 characters, no control characters
  std::optional<Expr> expr() const;         ///< an integer or an expression string
  std::vector<Cursor> items() const;        ///< of a list of at most kLongestList
  std::vector<std::string> names() const;   ///< a list of names
  std::vector<std::string> labels() const;  ///< a list of labels

  /// A word of a closed vocabulary: `parse` answers nothing for unknown ones.
  template <class Parse>
  auto word(const char* what, const std::vector<std::string>& known, Parse parse) const -> decltype(parse(std::string_view{})) {
    const auto text = string();
    if (!text) return {};
    auto value = parse(std::string_view(*text));
    if (!value) unknown_word(what, *text, known);
    return value;
  }

 private:
  void unknown_word(const char* what, const std::string& found, const std::vector<std::string>& known) const;
  void expected(const std::string& what, std::string hint = {}) const;

  const Json* json_;
  std::string pointer_;
  ReadLog* log_;
};

class ObjectReader {
 public:
  /// Adds a fault if no object stands there; every key is then absent, without further faults.
  explicit ObjectReader(const Cursor& at);
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;
  ~ObjectReader();

  bool good() const { return good_; }
  void abandon() { good_ = false; }  ///< nothing more is read: what was not asked for gets no warning
  const Cursor& cursor() const { return at_; }
  std::optional<Cursor> find(const char* key);     ///< absent: nothing
  std::optional<Cursor> require(const char* key);  ///< absent: a fault, and nothing

  // Required members.
  std::string name(const char* key);
  std::string label(const char* key);
  Expr expr(const char* key);
  std::int64_t integer(const char* key, std::int64_t low, std::int64_t high);
  // Optional members.
  std::string string(const char* key, std::string otherwise = {});
  std::int64_t integer(const char* key, std::int64_t low, std::int64_t high, std::int64_t otherwise);
  bool boolean(const char* key, bool otherwise);
  Expr expr(const char* key, Expr otherwise);
  std::optional<Expr> maybe_expr(const char* key);
  std::optional<bool> maybe_boolean(const char* key);
  std::vector<Cursor> list(const char* key);  ///< empty when absent
  std::vector<Cursor> required_list(const char* key);
  std::vector<std::string> names(const char* key);
  std::vector<std::string> labels(const char* key);

 private:
  std::vector<std::string> spare_keys() const;  ///< present, not asked for so far, not somebody else's

  Cursor at_;
  bool good_;
  std::vector<const char*> known_;
  std::vector<std::string> missing_;
};

/// Reads the root: one object whose "schema" is `schema` ("heddle.kernel/1"). False (with a fault) when it is not.
bool check_schema(ObjectReader& root, const char* schema);

/// Carries the members that the reader did not know from `original` over into `fresh`, which was written from what the
/// reader made of it. List items are matched by "name" or "id" where they have one, else by index.
void keep_unknown(Json& fresh, const Json& original, const std::vector<std::string>& unknown_keys);

/// Beyond kMostFaults, one sentence that counts the rest.
void cut_off(std::vector<Fault>& faults, const char* what);

/// Parse, check, read: the frame of every reader. `read` fills a value from the root; without faults that is the
/// result.
template <class T, class Read>
Result<T> read_document(std::string_view text, const std::string& file, const char* schema, std::vector<Fault>* warnings, Read read) {
  const Result<Json> json = parse_json(text, file);
  if (!json) return json.error();
  ReadLog log{file, {}, {}, {}};
  T value;
  {
    ObjectReader root(Cursor(*json, {}, log));
    if (check_schema(root, schema)) read(root, value);
  }
  cut_off(log.warnings, "warnings");
  cut_off(log.faults, "faults");
  if (warnings) warnings->insert(warnings->end(), log.warnings.begin(), log.warnings.end());
  if (!log.faults.empty()) return log.error();
  return value;
}

/// The text of a file; `read` says which members of the `original` text are not Heddle's and are to be kept.
template <class T, class Read>
std::string document_text(Json fresh, std::string_view original, const char* schema, Read read) {
  if (const Result<Json> json = parse_json(original, {}); !original.empty() && json) {
    ReadLog log;
    T value;
    {
      ObjectReader root(Cursor(*json, {}, log));
      if (check_schema(root, schema)) read(root, value);
    }
    keep_unknown(fresh, *json, log.unknown_keys);
  }
  return fresh.pretty();
}

}  // namespace heddle
