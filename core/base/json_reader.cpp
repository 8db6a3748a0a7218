#include "core/base/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/scanner.h"

namespace heddle {
namespace {

constexpr std::size_t kLongestName = 200;

/// The whitelist of names (json_reader.h).
bool made_as_a_name(std::string_view text) {
  return !text.empty() && in_name(text.front()) && text.back() != ' ' && std::all_of(text.begin(), text.end(), [](char c) {
    return in_name(c) || std::string_view(" .:/#+-()[],").find(c) != std::string_view::npos;
  });
}

bool belongs_to_others(const std::string& key) { return key.starts_with("x-") || key == "$schema" || key == "generator"; }

std::string quoted(const std::string& text) {
  constexpr std::size_t kShown = 40;
  return Json(text.size() <= kShown ? text : text.substr(0, kShown) + "...").line();
}

/// `pointer` is `prefix` or lies below it.
bool below(const std::string& pointer, const std::string& prefix) {
  return pointer.starts_with(prefix) && (pointer.size() == prefix.size() || pointer[prefix.size()] == '/');
}

}  // namespace

void ReadLog::fault(const std::string& pointer, std::string message, std::string hint) {
  faults.push_back({file, pointer, std::move(message), std::move(hint)});
}

bool ReadLog::touched(const std::string& pointer) const {
  return std::any_of(faults.begin(), faults.end(),
                     [&](const Fault& f) { return below(f.pointer, pointer) || (!f.pointer.empty() && below(pointer, f.pointer)); });
}

std::string describe(const Json& json) {
  if (json.is_null()) return "null";
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  if (const std::string* text = json.string()) return quoted(*text);
  return json.line();
}

void Cursor::expected(const std::string& what, std::string hint) const {
  fault(fmt::format("expected {}, found {}", what, describe(*json_)), std::move(hint));
}

std::optional<std::int64_t> Cursor::integer(std::int64_t low, std::int64_t high) const {
  const bool bounded = high < kLargestNumber;
  const std::string what = low == high ? fmt::format("{}", low)
                           : bounded   ? fmt::format("an integer from {} to {}", low, high)
                           : low == 1  ? "a positive integer"
                           : low == 0  ? "an integer of at least 0"
                                       : "an integer";
  if (const std::int64_t* value = json_->integer()) {
    if (*value >= low && *value <= high) return *value;
    std::string hint;
    if (*value > high && !bounded) hint = fmt::format("the largest number accepted here is {}", high);
    expected(what, std::move(hint));
    return std::nullopt;
  }
  std::string hint;
  if (const std::string* text = json_->string()) {
    if (const auto value = read_number<std::int64_t>(*text)) hint = fmt::format("did you mean {}?", *value);
  } else if (const double* number = json_->number()) {
    if (std::abs(*number) >= 9.2e18)
      hint = "that does not fit 64 bits";
    else if (*number == std::floor(*number))
      hint = fmt::format("did you mean {}?", static_cast<std::int64_t>(*number));
  }
  expected(what, std::move(hint));
  return std::nullopt;
}

std::optional<std::uint64_t> Cursor::natural64() const {
  if (const std::int64_t* value = json_->integer())
    if (*value >= 0) return static_cast<std::uint64_t>(*value);
  if (json_->number()) {
    if (const auto value = read_number<std::uint64_t>(json_->number_text())) return value;
  }
  expected("an integer from 0 to 2^64-1");
  return std::nullopt;
}

std::optional<double> Cursor::real() const {
  if (const std::int64_t* value = json_->integer())
    if (*value >= 0) return static_cast<double>(*value);
  if (const double* value = json_->number())
    if (*value >= 0 && std::isfinite(*value)) return *value;
  expected("a number of at least 0");
  return std::nullopt;
}

std::optional<bool> Cursor::boolean() const {
  if (const bool* value = json_->boolean()) return *value;
  std::string hint;
  if (const std::string* text = json_->string(); text && (*text == "true" || *text == "false"))
    hint = fmt::format("did you mean {}?", *text);
  if (const std::int64_t* number = json_->integer(); number && (*number == 0 || *number == 1))
    hint = fmt::format("did you mean {}?", *number == 1);
  expected("true or false", std::move(hint));
  return std::nullopt;
}

std::optional<std::string> Cursor::string() const {
  if (const std::string* text = json_->string()) return *text;
  expected("a string", json_->integer() ? fmt::format("did you mean \"{}\"?", *json_->integer()) : "");
  return std::nullopt;
}

std::optional<std::string> Cursor::name() const {
  const std::string* text = json_->string();
  if (text && text->size() <= kLongestName && made_as_a_name(*text)) return *text;
  expected(text && text->size() > kLongestName ? fmt::format("a name of at most {} characters", kLongestName) : "a name",
           text && !text->empty() && text->size() <= kLongestName
               ? "letters, digits, blanks and _ . : / # + - ( ) [ ] , with a letter, a digit or _ in front"
               : "");
  return std::nullopt;
}

std::optional<std::string> Cursor::label() const {
  const std::string* text = json_->string();
  const bool good = text && !text->empty() && text->size() <= kLongestName &&
                    std::none_of(text->begin(), text->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (good) return *text;
  expected(text && text->size() > kLongestName ? fmt::format("a name of at most {} characters", kLongestName) : "a name");
  return std::nullopt;
}

std::optional<Expr> Cursor::expr() const {
  if (const std::int64_t* value = json_->integer()) return Expr(*value);
  const std::string* text = json_->string();
  if (!text) {
    const double* number = json_->number();
    expected("an integer or an expression", number && std::abs(*number) >= 9.2e18 ? "that does not fit 64 bits" : "");
    return std::nullopt;
  }
  Result<Expr> expr = Expr::parse(*text);
  if (expr) return std::move(*expr);
  for (const Fault& f : expr.error().faults) fault("expected an integer or an expression: " + f.message, f.hint);
  return std::nullopt;
}

std::vector<Cursor> Cursor::items() const {
  std::vector<Cursor> cursors;
  const Json::Array* list = json_->items();
  if (list && list->size() > kLongestList)
    fault(fmt::format("expected at most {} items, found {}", kLongestList, list->size()));
  else if (list)
    for (std::size_t i = 0; i < list->size(); ++i) cursors.emplace_back((*list)[i], pointer_to(pointer_, i), *log_);
  else
    expected("a list", json_->string() || json_->integer() ? fmt::format("did you mean [{}]?", describe(*json_)) : "");
  return cursors;
}

std::vector<std::string> Cursor::names() const {
  std::vector<std::string> out;
  for (const Cursor& item : items())
    if (auto text = item.name()) out.push_back(std::move(*text));
  return out;
}

std::vector<std::string> Cursor::labels() const {
  std::vector<std::string> out;
  for (const Cursor& item : items())
    if (auto text = item.label()) out.push_back(std::move(*text));
  return out;
}

void Cursor::unknown_word(const char* what, const std::string& found, const std::vector<std::string>& known) const {
  fault(fmt::format("unknown {} {} (known: {})", what, quoted(found), list_of(known)), did_you_mean(found, known));
}

ObjectReader::ObjectReader(const Cursor& at) : at_(at), good_(at.json().is_object()) {
  if (!good_) at.fault("expected an object, found " + describe(at.json()));
}

ObjectReader::~ObjectReader() {
  if (!good_) return;
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const JsonMember& member : *at_.json().members()) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const std::string pointer = pointer_to(at_.pointer(), member.key);
    at_.log().unknown_keys.push_back(pointer);
    if (belongs_to_others(member.key)) continue;
    std::string hint = at_.log().warnings.size() < kMostFaults ? did_you_mean(member.key, known) : "";
    if (hint.empty()) hint = "keys that start with x- are yours";
    at_.log().warnings.push_back({at_.log().file, pointer, "unknown key, ignored", std::move(hint)});
  }
  // Which keys are known is only complete now, so this is where a missing one can be matched with a misspelt one.
  const std::vector<std::string> spare = spare_keys();
  for (const std::string& key : missing_) {
    const std::string found = nearest(key, spare);
    at_.fault(fmt::format("missing key '{}'", key), found.empty() ? "" : fmt::format("is '{}' meant to be it?", found));
  }
}

std::vector<std::string> ObjectReader::spare_keys() const {
  std::vector<std::string> spare;
  for (const JsonMember& member : *at_.json().members())
    if (!belongs_to_others(member.key) && std::find(known_.begin(), known_.end(), member.key) == known_.end()) spare.push_back(member.key);
  return spare;
}

std::optional<Cursor> ObjectReader::find(const char* key) {
  if (!good_) return std::nullopt;
  known_.push_back(key);
  const Json* value = at_.json().find(key);
  if (!value) return std::nullopt;
  return Cursor(*value, pointer_to(at_.pointer(), key), at_.log());
}

std::optional<Cursor> ObjectReader::require(const char* key) {
  auto member = find(key);
  if (!member && good_) missing_.push_back(key);
  return member;
}

std::string ObjectReader::name(const char* key) {
  const auto at = require(key);
  return at ? at->name().value_or("") : "";
}
std::string ObjectReader::label(const char* key) {
  const auto at = require(key);
  return at ? at->label().value_or("") : "";
}
Expr ObjectReader::expr(const char* key) {
  const auto at = require(key);
  return at ? at->expr().value_or(Expr()) : Expr();
}
std::int64_t ObjectReader::integer(const char* key, std::int64_t low, std::int64_t high) {
  const auto at = require(key);
  return at ? at->integer(low, high).value_or(low) : low;
}
std::string ObjectReader::string(const char* key, std::string otherwise) {
  const auto at = find(key);
  return at ? at->string().value_or("") : otherwise;
}
std::int64_t ObjectReader::integer(const char* key, std::int64_t low, std::int64_t high, std::int64_t otherwise) {
  const auto at = find(key);
  return at ? at->integer(low, high).value_or(low) : otherwise;
}
bool ObjectReader::boolean(const char* key, bool otherwise) { return maybe_boolean(key).value_or(otherwise); }
Expr ObjectReader::expr(const char* key, Expr otherwise) { return maybe_expr(key).value_or(std::move(otherwise)); }
std::optional<Expr> ObjectReader::maybe_expr(const char* key) {
  const auto at = find(key);
  return at ? at->expr() : std::nullopt;
}
std::optional<bool> ObjectReader::maybe_boolean(const char* key) {
  const auto at = find(key);
  return at ? at->boolean() : std::nullopt;
}
std::vector<Cursor> ObjectReader::list(const char* key) {
  const auto at = find(key);
  return at ? at->items() : std::vector<Cursor>{};
}
std::vector<Cursor> ObjectReader::required_list(const char* key) {
  const auto at = require(key);
  return at ? at->items() : std::vector<Cursor>{};
}
std::vector<std::string> ObjectReader::names(const char* key) {
  const auto at = find(key);
  return at ? at->names() : std::vector<std::string>{};
}
std::vector<std::string> ObjectReader::labels(const char* key) {
  const auto at = find(key);
  return at ? at->labels() : std::vector<std::string>{};
}

void cut_off(std::vector<Fault>& faults, const char* what) {
  if (faults.size() <= kMostFaults) return;
  const std::size_t rest = faults.size() - kMostFaults;
  faults.resize(kMostFaults);
  faults.push_back({faults.front().file, {}, fmt::format("and {} more {}", rest, what), {}});
}

bool check_schema(ObjectReader& root, const char* schema) {
  const auto at = root.require("schema");
  if (!at) return root.good();
  const auto found = at->string();
  if (found == schema) return true;
  root.abandon();  // the keys of a file of another kind would all be called unknown
  if (!found) return false;
  const std::string wanted = schema;
  const std::string family = wanted.substr(0, wanted.find('/') + 1);
  std::string hint = did_you_mean(*found, {wanted});
  if (found->starts_with(family))
    hint = "this program reads version " + wanted.substr(family.size());
  else if (found->starts_with("heddle."))
    hint = "this is a file of another kind";
  at->fault(fmt::format("expected {}, found {}", quoted(wanted), quoted(*found)), std::move(hint));
  return false;
}

namespace {

std::vector<std::string> split_pointer(const std::string& pointer) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at + 1), pointer.size());
    std::string part;
    for (std::size_t i = at + 1; i < end; ++i) {
      if (pointer[i] == '~' && i + 1 < end)
        part += pointer[++i] == '1' ? '/' : '~';
      else
        part += pointer[i];
    }
    parts.push_back(std::move(part));
    at = end;
  }
  return parts;
}

const std::string* item_name(const Json& item) {
  for (const char* key : {"name", "id"})
    if (const Json* name = item.find(key)) return name->string();
  return nullptr;
}

Json* counterpart(Json::Array& fresh, const Json& original, std::size_t index) {
  if (const std::string* wanted = item_name(original)) {
    for (Json& item : fresh)
      if (const std::string* name = item_name(item); name && *name == *wanted) return &item;
    return nullptr;
  }
  return index < fresh.size() ? &fresh[index] : nullptr;
}

}  // namespace

void keep_unknown(Json& fresh, const Json& original, const std::vector<std::string>& unknown_keys) {
  for (const std::string& pointer : unknown_keys) {
    std::vector<std::string> parts = split_pointer(pointer);
    const Json* from = &original;
    Json* to = &fresh;
    const std::string key = parts.back();
    parts.pop_back();
    for (const std::string& part : parts) {
      if (const Json::Array* items = from->items()) {
        const std::size_t index = static_cast<std::size_t>(read_number<std::int64_t>(part).value_or(0));
        from = &(*items)[index];
        to = to->items() ? counterpart(*to->items(), *from, index) : nullptr;
      } else {
        from = from->find(part);
        to = to->find(part);
      }
      if (!from || !to) break;
    }
    if (from && to && to->is_object() && from->find(key)) to->set(key, *from->find(key));
  }
}

}  // namespace heddle
