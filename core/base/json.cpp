#include "core/base/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/text_style.h"

namespace heddle {
namespace {

/// Bytes of the well-formed UTF-8 sequence that starts at `at`; 0 if there is none (Unicode, table 3-7).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const auto tails = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if (!within(i, 0x80, 0xBF)) return std::size_t{0};
    return to;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tails(1, 2);
  if (first >= 0xE0 && first <= 0xEF) return within(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) ? tails(2, 3) : 0;
  if (first >= 0xF0 && first <= 0xF4) return within(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) ? tails(2, 4) : 0;
  return 0;
}

/// What would steer a terminal is escaped, so that a document can be printed: whoever reads it gets the same text.
void append_character(std::string& out, std::string_view character) {
  if (printable(character) == character) {
    out += character;
    return;
  }
  // None of them takes more than three bytes.
  unsigned code = static_cast<unsigned char>(character[0]) & (character.size() == 2 ? 0x1f : 0x0f);
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  out += fmt::format("\\u{:04x}", code);
}

/// Messages may quote bytes of a damaged file; what is no UTF-8 becomes U+FFFD, so that the output stays JSON.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t length = sequence_length(text, at);
    if (length != 1) {
      append_character(out, length == 0 ? std::string_view("\uFFFD") : text.substr(at, length));
      at += length == 0 ? 1 : length;
      continue;
    }
    ++at;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        else
          out += c;
    }
  }
  out += '"';
}

/// Appends the one-line form; gives up (and returns false) once `out` is longer than `limit`.
bool append_line(std::string& out, const Json& json, std::size_t limit) {
  if (json.is_null())
    out += "null";
  else if (const bool* b = json.boolean())
    out += *b ? "true" : "false";
  else if (const std::int64_t* i = json.integer())
    out += std::to_string(*i);
  else if (json.number())
    out += json.number_text();
  else if (const std::string* s = json.string())
    append_quoted(out, *s);
  else if (const Json::Array* items = json.items()) {
    out += '[';
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (i > 0) out += ", ";
      if (!append_line(out, (*items)[i], limit)) return false;
    }
    out += ']';
  } else {
    out += '{';
    bool first = true;
    for (const JsonMember& member : *json.members()) {
      if (!first) out += ", ";
      first = false;
      append_quoted(out, member.key);
      out += ": ";
      if (!append_line(out, member.value, limit)) return false;
    }
    out += '}';
  }
  return out.size() <= limit;
}

bool lists_objects(const Json& json) {
  if (const Json::Array* items = json.items()) {
    std::size_t objects = 0;
    for (const Json& item : *items) {
      objects += item.is_object();
      if (lists_objects(item)) return true;
    }
    return objects > 1;
  }
  if (json.is_object())
    for (const JsonMember& member : *json.members())
      if (lists_objects(member.value)) return true;
  return false;
}

class PrettyPrinter {
 public:
  explicit PrettyPrinter(std::size_t width) : width_(width) {}

  std::string print(const Json& root) {
    value(root, 0);
    return std::move(out_) + '\n';
  }

 private:
  std::size_t column() const { return out_.size() - line_begin_; }

  void new_line(std::size_t indent) {
    out_ += '\n';
    line_begin_ = out_.size();
    out_.append(indent, ' ');
  }

  /// True (and written) if it fits on the rest of the line, one column left for the comma that may follow. Scalars
  /// always fit.
  bool fits(const Json& json) {
    const bool container = json.is_array() ? !json.items()->empty() : json.is_object() && !json.members()->empty();
    const std::size_t room = width_ > column() + 1 ? width_ - column() - 1 : 0;
    std::string line;
    if (!append_line(line, json, container ? room : std::numeric_limits<std::size_t>::max())) return false;
    out_ += line;
    return true;
  }

  void value(const Json& json, std::size_t indent) {
    const bool root = indent == 0;
    if (!(root && json.is_object()) && !lists_objects(json) && fits(json)) return;
    indent += 2;
    bool first = true;
    // Members of inner objects and lists of scalars share lines; everything else gets a line of its own.
    bool share = false;
    const auto item = [&](const std::string& prefix, const Json& inner, bool may_share) {
      if (!first) out_ += ',';
      std::string line = prefix;
      const std::size_t room = width_ > column() + 2 ? width_ - column() - 2 : 0;
      if (share && may_share && !lists_objects(inner) && append_line(line, inner, room)) {
        out_ += ' ' + line;
      } else {
        new_line(indent);
        out_ += prefix;
        const std::size_t begin = line_begin_;
        value(inner, indent);
        share = may_share && begin == line_begin_;
      }
      first = false;
    };
    if (const Json::Array* items = json.items()) {
      out_ += '[';
      for (const Json& inner : *items) item({}, inner, !inner.is_array() && !inner.is_object());
      new_line(indent - 2);
      out_ += ']';
    } else {
      out_ += '{';
      for (const JsonMember& member : *json.members()) {
        std::string prefix;
        append_quoted(prefix, member.key);
        item(prefix + ": ", member.value, !root);
      }
      new_line(indent - 2);
      out_ += '}';
    }
  }

  std::size_t width_;
  std::string out_;
  std::size_t line_begin_ = 0;
};

}  // namespace

// Here, not in every file that touches one: six kinds of value to copy or destroy are much code.
Json::Json() = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;
Json::Json(bool value) : value_(value) {}
Json::Json(double value) {
  if (!std::isfinite(value)) return;
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  value_ = Number{value, std::move(text)};
}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(Array items) : value_(std::move(items)) {}
Json::Json(Object members) : value_(std::move(members)) {}
Json::Json(Wide integer) {
  if (!integer.negative && integer.bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    value_ = Number{static_cast<double>(integer.bits), std::to_string(integer.bits)};
  else
    value_ = static_cast<std::int64_t>(integer.bits);
}

Json Json::array() { return Json(Array{}); }
Json Json::object() { return Json(Object{}); }
Json Json::number(std::string text, double value) {
  Json json;
  json.value_ = Number{value, std::move(text)};
  return json;
}

bool Json::is_null() const { return std::holds_alternative<std::monostate>(value_); }
bool Json::is_object() const { return members() != nullptr; }
bool Json::is_array() const { return items() != nullptr; }
const bool* Json::boolean() const { return std::get_if<bool>(&value_); }
const std::int64_t* Json::integer() const { return std::get_if<std::int64_t>(&value_); }
const double* Json::number() const {
  const auto* number = std::get_if<Number>(&value_);
  return number ? &number->value : nullptr;
}
const std::string& Json::number_text() const {
  HEDDLE_ASSERT(number(), "number_text() of something else");
  return std::get<Number>(value_).text;
}
const std::string* Json::string() const { return std::get_if<std::string>(&value_); }
const Json::Array* Json::items() const { return std::get_if<Array>(&value_); }
Json::Array* Json::items() { return std::get_if<Array>(&value_); }
const Json::Object* Json::members() const { return std::get_if<Object>(&value_); }
Json::Object* Json::members() { return std::get_if<Object>(&value_); }

const Json* Json::find(std::string_view key) const {
  if (const Object* object = members())
    for (const JsonMember& member : *object)
      if (member.key == key) return &member.value;
  return nullptr;
}
Json* Json::find(std::string_view key) { return const_cast<Json*>(std::as_const(*this).find(key)); }

Json& Json::set(std::string_view key, Json value) {
  HEDDLE_ASSERT(is_object(), "set() on something that is no object");
  if (Json* old = find(key))
    *old = std::move(value);
  else
    members()->push_back({std::string(key), std::move(value)});
  return *this;
}

Json& Json::push(Json value) {
  HEDDLE_ASSERT(is_array(), "push() on something that is no array");
  items()->push_back(std::move(value));
  return *this;
}

std::string Json::pretty(std::size_t width) const { return PrettyPrinter(width).print(*this); }

std::string Json::line() const {
  std::string out;
  append_line(out, *this, std::numeric_limits<std::size_t>::max());
  return out;
}

std::string pointer_to(const std::string& pointer, std::string_view key) {
  std::string out = pointer + '/';
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string pointer_to(const std::string& pointer, std::size_t index) { return pointer + '/' + std::to_string(index); }

}  // namespace heddle
