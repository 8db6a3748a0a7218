// JSON Schema (draft 2020-12), put together member by member: from the visit() of a part (members.h), or by hand for what Heddle only
// writes.
//
// What is the same in many places stands once among the document's `definitions` ("$defs").
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace heddle::schema {

Json type(const char* name);
Json integer(std::int64_t low, std::int64_t high);
Json count();  ///< an integer of at least 0
Json real();   ///< a number of at least 0
Json words(const std::vector<std::string>& words);
Json list(Json item, std::size_t least = 0, std::size_t most = static_cast<std::size_t>(-1), bool distinct = false);
Json or_null(Json schema);
Json params();  ///< {"M": 128}

/// Adds it to the definitions, if it is not there yet, and answers a reference.
Json defined(Json& definitions, const char* name, Json schema);
Json matching(Json& definitions, const char* name, const char* pattern);
Json name(Json& definitions);
Json label(Json& definitions);
Json expression(Json& definitions);

/// An object under construction. Members that are not Heddle's (json_reader.h) may always be there.
class Object {
 public:
  explicit Object(Json& definitions) : definitions_(&definitions) {}

  Json& definitions() const { return *definitions_; }
  Object& required(const char* key, Json schema, const char* about = "") { return add(true, key, std::move(schema), about); }
  Object& optional(const char* key, Json schema, const char* about = "") { return add(false, key, std::move(schema), about); }
  /// What the whole is; with a name, it stands among the definitions.
  Object& called(const char* name, const char* about = "");
  /// `how`: "oneOf" or "anyOf" of these sets of members are there.
  Object& choose(const char* how, const std::vector<std::vector<const char*>>& sets);
  /// One more thing that holds of it, as JSON Schema.
  Object& also(Json clause);
  /// Other members may stand there too.
  Object& open() { return open_ = true, *this; }
  /// What has been said since `before` goes for this "kind" only; say the next one's then. Kinds that differ in nothing else share one
  /// alternative.
  void end_of_kind(const char* kind, const Object& before);
  /// The schema, or a reference to it.
  Json finish() const;

 private:
  struct Alternative {
    std::vector<std::string> kinds;
    std::string text;  ///< of what its kinds share
    Json schema;
  };
  Object& add(bool required, const char* key, Json schema, const char* about);
  Json object() const;

  Json* definitions_;
  const char* name_ = "";
  const char* about_ = "";
  Json required_ = Json::array(), properties_ = Json::object(), also_ = Json::array();
  std::vector<Alternative> alternatives_;
  bool open_ = false;
};

/// Of a whole document of a format ("heddle.kernel/1"); `fill` says its members other than "schema".
Json document(const char* format, const char* title, const std::function<void(Object& root)>& fill);
/// Of a format whose documents are one of several parts, each of which says its format.
Json document_of(const char* format, const char* title, const std::vector<Json (*)(Json& definitions)>& parts);
/// Of a document, or a line of a file of JSON Lines, that need not name its format.
Json line(const char* format, const char* title, const std::function<void(Object& root)>& fill);

}  // namespace heddle::schema
