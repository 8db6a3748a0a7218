// The JSON tree and its printer.
#include "core/io/json.h"

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace heddle {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        else
          out += c;
    }
  }
  out += '"';
}

/// Appends the one-line form; gives up (and returns false) once `out` is longer than `limit`.
bool append_line(std::string& out, const Json& json, std::size_t limit) {
  if (json.is_null()) out += "null";
  else if (const bool* b = json.boolean()) out += *b ? "true" : "false";
  else if (const std::int64_t* i = json.integer()) out += std::to_string(*i);
  else if (json.number()) out += json.number_text();
  else if (const std::string* s = json.string()) append_quoted(out, *s);
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

void append_pretty(std::string& out, const Json& json, std::size_t indent, std::size_t column, std::size_t width) {
  const bool container = json.is_array() ? !json.items()->empty() : json.is_object() && !json.members()->empty();
  const bool root = indent == 0;
  if (!container || (!(root && json.is_object()) && !lists_objects(json))) {
    // One column is left for the comma that may follow.
    std::string line;
    const std::size_t room = width > column + 1 ? width - column - 1 : 0;
    if (append_line(line, json, container ? room : std::numeric_limits<std::size_t>::max())) {
      out += line;
      return;
    }
  }
  const std::string margin(indent + 2, ' ');
  bool first = true;
  const auto begin_item = [&] {
    out += first ? "\n" : ",\n";
    out += margin;
    first = false;
  };
  if (json.is_array()) {
    out += '[';
    for (const Json& item : *json.items()) {
      begin_item();
      append_pretty(out, item, indent + 2, indent + 2, width);
    }
  } else {
    out += '{';
    for (const JsonMember& member : *json.members()) {
      begin_item();
      const std::size_t before = out.size();
      append_quoted(out, member.key);
      out += ": ";
      append_pretty(out, member.value, indent + 2, indent + 2 + out.size() - before, width);
    }
  }
  out += '\n';
  out.append(indent, ' ');
  out += json.is_array() ? ']' : '}';
}

}  // namespace

Json::Json() = default;
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

Json& Json::set(std::string key, Json value) {
  HEDDLE_ASSERT(is_object(), "set() on something that is no object");
  if (Json* old = find(key))
    *old = std::move(value);
  else
    members()->push_back({std::move(key), std::move(value)});
  return *this;
}

Json& Json::push(Json value) {
  HEDDLE_ASSERT(is_array(), "push() on something that is no array");
  items()->push_back(std::move(value));
  return *this;
}

std::string Json::pretty(std::size_t width) const {
  std::string out;
  append_pretty(out, *this, 0, 0, width);
  out += '\n';
  return out;
}

std::string Json::line() const {
  std::string out;
  append_line(out, *this, std::numeric_limits<std::size_t>::max());
  return out;
}

std::string pointer_to(const std::string& pointer, std::string_view key) {
  std::string out = pointer + '/';
  for (const char c : key) {
    if (c == '~') out += "~0";
    else if (c == '/') out += "~1";
    else out += c;
  }
  return out;
}

std::string pointer_to(const std::string& pointer, std::size_t index) { return pointer + '/' + std::to_string(index); }

}  // namespace heddle
