#include "tests/support/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace heddle::test {
namespace {

bool is_type(const Json& json, const std::string& type) {
  if (type == "object") return json.is_object();
  if (type == "array") return json.is_array();
  if (type == "string") return json.string() != nullptr;
  if (type == "boolean") return json.boolean() != nullptr;
  if (type == "null") return json.is_null();
  if (type == "number") return json.integer() || json.number();
  // Integers beyond 64 bits are numbers to Heddle.
  if (type == "integer")
    return json.integer() || (json.number() && json.number_text().find_first_not_of("-0123456789") == std::string::npos);
  return false;
}

double number_of(const Json& json) { return json.integer() ? static_cast<double>(*json.integer()) : *json.number(); }

bool matches(const std::string& text, const std::string& pattern) {
  static std::map<std::string, std::regex> known;
  const auto it = known.try_emplace(pattern, pattern).first;
  return std::regex_search(text, it->second);
}

class Judge {
 public:
  explicit Judge(const Json& root) : root_(root) {}

  std::string fault(const Json& schema, const Json& json, const std::string& at) const {
    if (schema.boolean()) return *schema.boolean() ? "" : at + ": nothing may stand here";
    for (const JsonMember& keyword : *schema.members())
      if (const std::string why = broken(schema, keyword.key, keyword.value, json, at); !why.empty()) return why;
    return "";
  }

 private:
  std::string broken(const Json& schema, const std::string& key, const Json& value, const Json& json, const std::string& at) const {
    const auto unless = [&](bool good) { return good ? std::string() : fmt::format("{}: {} {}", at, key, value.line().substr(0, 200)); };
    const auto size = [&] { return json.items() ? json.items()->size() : json.string() ? json.string()->size() : json.members()->size(); };
    const auto limit = [&] { return static_cast<std::size_t>(*value.integer()); };
    if (key == "type") {
      if (value.string()) return unless(is_type(json, *value.string()));
      return unless(
          std::any_of(value.items()->begin(), value.items()->end(), [&](const Json& type) { return is_type(json, *type.string()); }));
    }
    if (key == "const") return unless(json.line() == value.line());
    if (key == "enum")
      return unless(
          std::any_of(value.items()->begin(), value.items()->end(), [&](const Json& word) { return json.line() == word.line(); }));
    if (key == "$ref") return fault(*root_.find("$defs")->find(value.string()->substr(8)), json, at);
    if (key == "allOf") {
      for (const Json& part : *value.items())
        if (const std::string why = fault(part, json, at); !why.empty()) return why;
      return "";
    }
    if (key == "if") {
      const Json* then = schema.find("then");
      return then && fault(value, json, at).empty() ? fault(*then, json, at) : "";
    }
    if (key == "anyOf" || key == "oneOf") {
      const auto good =
          std::count_if(value.items()->begin(), value.items()->end(), [&](const Json& part) { return fault(part, json, at).empty(); });
      return unless(key == "anyOf" ? good > 0 : good == 1);
    }
    if (key == "minimum" || key == "maximum" || key == "exclusiveMinimum") {
      if (!json.integer() && !json.number()) return "";
      if (json.integer() && value.integer()) {
        const std::int64_t number = *json.integer(), bound = *value.integer();
        return unless(key == "minimum" ? number >= bound : key == "maximum" ? number <= bound : number > bound);
      }
      const double number = number_of(json), bound = number_of(value);
      return unless(key == "minimum" ? number >= bound : key == "maximum" ? number <= bound : number > bound);
    }
    if (key == "minLength") return unless(!json.string() || size() >= limit());
    if (key == "maxLength") return unless(!json.string() || size() <= limit());
    if (key == "pattern") return unless(!json.string() || matches(*json.string(), *value.string()));
    if (key == "minItems") return unless(!json.items() || size() >= limit());
    if (key == "maxItems") return unless(!json.items() || size() <= limit());
    if (key == "uniqueItems") {
      std::set<std::string> seen;
      for (const Json& item : json.items() ? *json.items() : Json::Array{})
        if (!seen.insert(item.line()).second) return unless(false);
      return "";
    }
    if (key == "items") {
      for (std::size_t i = 0; json.items() && i < json.items()->size(); ++i)
        if (const std::string why = fault(value, (*json.items())[i], fmt::format("{}/{}", at, i)); !why.empty()) return why;
      return "";
    }
    if (key == "minProperties") return unless(!json.members() || size() >= limit());
    if (key == "required") {
      for (const Json& name : *value.items())
        if (json.is_object() && !json.find(*name.string())) return fmt::format("{}: {} is missing", at, *name.string());
      return "";
    }
    if (key == "properties") {
      for (const JsonMember& member : json.members() ? *json.members() : Json::Object{})
        if (const Json* known = value.find(member.key))
          if (const std::string why = fault(*known, member.value, at + "/" + member.key); !why.empty()) return why;
      return "";
    }
    if (key == "additionalProperties") {
      const Json *properties = schema.find("properties"), *patterns = schema.find("patternProperties");
      for (const JsonMember& member : json.members() ? *json.members() : Json::Object{}) {
        if (properties && properties->find(member.key)) continue;
        if (patterns && matches(member.key, patterns->members()->front().key)) continue;
        if (const std::string why = fault(value, member.value, at + "/" + member.key); !why.empty()) return why;
      }
      return "";
    }
    if (key == "patternProperties" || key == "description" || key == "title" || key == "$schema" || key == "$id" || key == "$defs" ||
        key == "then")
      return "";
    return "the keyword " + key + " is not known to the judge";
  }

  const Json& root_;
};

}  // namespace

std::string schema_fault(const Json& schema, const Json& document) { return Judge(schema).fault(schema, document, ""); }

}  // namespace heddle::test
