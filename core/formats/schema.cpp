#include "core/formats/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_reader.h"

namespace heddle::schema {

Json type(const char* name) { return Json::object().set("type", name); }
Json integer(std::int64_t low, std::int64_t high) { return type("integer").set("minimum", low).set("maximum", high); }
Json count() { return type("integer").set("minimum", 0); }
Json real() { return type("number").set("minimum", 0); }

Json words(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) list.push(word);
  return Json::object().set("enum", std::move(list));
}

Json list(Json item, std::size_t least, std::size_t most, bool distinct) {
  Json list = type("array").set("items", std::move(item));
  if (least > 0) list.set("minItems", least);
  list.set("maxItems", std::min(most, kLongestList));
  if (distinct) list.set("uniqueItems", true);
  return list;
}

Json or_null(Json schema) {
  if (const Json* type = schema.find("type")) {
    if (type->string()) schema.set("type", Json::array().push(*type).push("null"));
    return schema;
  }
  return Json::object().set("anyOf", Json::array().push(std::move(schema)).push(type("null")));
}

Json params() { return type("object").set("additionalProperties", integer(-kLargestNumber, kLargestNumber)); }

Json defined(Json& definitions, const char* name, Json schema) {
  if (!definitions.find(name)) definitions.set(name, std::move(schema));
  return Json::object().set("$ref", fmt::format("#/$defs/{}", name));
}

Json matching(Json& definitions, const char* name, const char* pattern) {
  return defined(definitions, name, type("string").set("maxLength", 200).set("pattern", pattern));
}

Json name(Json& definitions) {
  return matching(definitions, "name", R"(^[A-Za-z0-9_]([A-Za-z0-9_ .:/#+()\[\],-]*[A-Za-z0-9_.:/#+()\[\],-])?$)");
}

Json label(Json& definitions) {
  return defined(definitions, "label",
                 type("string").set("minLength", 1).set("maxLength", 200).set("pattern", R"(^[^\u0000-\u001f\u007f]*$)"));
}

Json expression(Json& definitions) {
  Json text = type("string").set("minLength", 1).set("maxLength", 4096);
  return defined(
      definitions, "expr",
      Json::object()
          .set("description",
               "An integer, or an expression: names, + - * / %, comparisons, min, max, ceil_div, cbrt, if. Division rounds towards "
               "minus infinity.")
          .set("anyOf", Json::array().push(type("integer")).push(std::move(text))));
}

Object& Object::add(bool required, const char* key, Json schema, const char* about) {
  if (*about) schema.set("description", about);
  properties_.set(key, std::move(schema));
  if (required) required_.push(key);
  return *this;
}

Object& Object::called(const char* name, const char* about) {
  name_ = name, about_ = about;
  return *this;
}

Object& Object::choose(const char* how, const std::vector<std::vector<const char*>>& sets) {
  Json choices = Json::array();
  for (const auto& keys : sets) {
    Json required = Json::array();
    for (const char* key : keys) required.push(key);
    choices.push(Json::object().set("required", std::move(required)));
  }
  return also(Json::object().set(how, std::move(choices)));
}

Object& Object::also(Json clause) {
  also_.push(std::move(clause));
  return *this;
}

void Object::end_of_kind(const char* kind, const Object& before) {
  const std::string text = object().line();
  std::vector<Alternative> alternatives = std::move(alternatives_);
  auto same = std::find_if(alternatives.begin(), alternatives.end(), [&](const Alternative& other) { return other.text == text; });
  if (same == alternatives.end()) same = alternatives.insert(same, {{}, text, {}});
  same->kinds.emplace_back(kind);
  required("kind", same->kinds.size() == 1 ? Json::object().set("const", kind) : words(same->kinds));
  same->schema = object();
  *this = before;
  alternatives_ = std::move(alternatives);
}

Json Object::object() const {
  Json object = type("object");
  if (*about_) object.set("description", about_);
  if (!required_.items()->empty()) object.set("required", required_);
  if (!also_.items()->empty()) object.set("allOf", also_);
  object.set("properties", properties_);
  if (!open_) object.set("patternProperties", Json::object().set("^(x-.*|\\$schema|generator)$", true)).set("additionalProperties", false);
  return object;
}

Json Object::finish() const {
  Json whole = object();
  if (!alternatives_.empty()) {
    Json all = Json::array();
    for (const Alternative& alternative : alternatives_) all.push(alternative.schema);
    whole = Json::object().set("oneOf", std::move(all));
  }
  return *name_ ? defined(*definitions_, name_, std::move(whole)) : whole;
}

namespace {

Json whole(const char* format, const char* title, Json object, Json definitions) {
  const std::string name = format;
  const std::size_t dot = name.find('.'), slash = name.find('/');
  Json all = Json::object();
  all.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  all.set("$id", fmt::format("urn:heddle:{}:{}", name.substr(dot + 1, slash - dot - 1), name.substr(slash + 1)));
  all.set("title", fmt::format("{} ({})", title, name));
  for (JsonMember& member : *object.members()) all.set(std::move(member.key), std::move(member.value));
  if (!definitions.members()->empty()) all.set("$defs", std::move(definitions));
  return all;
}

Json whole(const char* format, const char* title, bool named, const std::function<void(Object&)>& fill) {
  Json definitions = Json::object(), schema = Json::object().set("const", format);
  Object root(definitions);
  named ? root.required("schema", std::move(schema)) : root.optional("schema", std::move(schema), "may be left out");
  fill(root);
  Json object = root.finish();
  return whole(format, title, std::move(object), std::move(definitions));
}

}  // namespace

Json document(const char* format, const char* title, const std::function<void(Object&)>& fill) { return whole(format, title, true, fill); }
Json line(const char* format, const char* title, const std::function<void(Object&)>& fill) { return whole(format, title, false, fill); }

Json document_of(const char* format, const char* title, const std::vector<Json (*)(Json& definitions)>& parts) {
  Json definitions = Json::object(), all = Json::array();
  for (Json (*part)(Json&) : parts) all.push(part(definitions));
  return whole(format, title, Json::object().set("oneOf", std::move(all)), std::move(definitions));
}

}  // namespace heddle::schema
