#include "core/formats/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle {

namespace as {

Json Seed::schema(std::uint64_t, Json&) const {
  return schema::type("integer").set("minimum", 0).set("maximum", std::numeric_limits<std::uint64_t>::max());
}

void Positive::read(const Cursor& at, double& value) const {
  const auto found = at.real();
  if (found && *found <= 0) return at.fault("expected a number above 0, found " + describe(at.json()));
  keep(value, found);
}

void Number::read(const Cursor& at, double& value) const {
  if (at.json().is_null())
    value = std::numeric_limits<double>::infinity();
  else if (const std::int64_t* whole = at.json().integer())
    value = static_cast<double>(*whole);
  else if (const double* number = at.json().number(); number && std::isfinite(*number))
    value = *number;
  else
    at.fault("expected a number, or null for one that is not finite, found " + describe(at.json()));
}

Json Expression::write(const Expr& value) const {
  if (!value.is_constant()) return value.text();
  return value.evaluate({}).value();
}

void Params::read(const Cursor& at, Scope& value) const {
  const Json::Object* members = at.json().members();
  if (!members) return at.fault("expected an object, found " + describe(at.json()));
  for (const JsonMember& member : *members)
    if (const auto number = Cursor(member.value, pointer_to(at.pointer(), member.key), at.log()).integer(-kLargestNumber, kLargestNumber))
      value[member.key] = *number;
}

Json Params::write(const Scope& value) const {
  Json object = Json::object();
  for (const auto& [name, number] : value) object.set(name, number);
  return object;
}

}  // namespace as

namespace {

std::string list_of_keys(const std::vector<const char*>& keys) {
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i) text += (i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ") + std::string(keys[i]);
  return text;
}

}  // namespace

std::optional<Cursor> MemberReader::find(bool required, const char* key) {
  auto at = required && !only_known_ ? object_.require(key) : object_.find(key);
  return only_known_ ? std::nullopt : at;
}

void MemberReader::at_least_one(const std::vector<const char*>& keys) {
  for (const char* key : keys)
    if (object_.find(key)) return;
  object_.require(keys.front());
}

void MemberReader::fault(std::string message, std::string hint) {
  if (!only_known_) object_.cursor().fault(std::move(message), std::move(hint));
}

void MemberReader::exactly_one(const std::vector<const char*>& keys, const char* hint) {
  if (only_known_ || !object_.good()) return;
  const auto given = static_cast<std::size_t>(
      std::count_if(keys.begin(), keys.end(), [&](const char* key) { return object_.cursor().json().find(key) != nullptr; }));
  if (given == 1) return;
  const char* found = given == 0 ? "none" : keys.size() == 2 ? "both" : "several";
  object_.cursor().fault(fmt::format("expected exactly one of {}, found {}", list_of_keys(keys), found), hint);
}

static std::vector<std::vector<const char*>> each(const std::vector<const char*>& keys) {
  std::vector<std::vector<const char*>> sets;
  for (const char* key : keys) sets.push_back({key});
  return sets;
}

void MemberSchema::exactly_one(const std::vector<const char*>& keys, const char*) { object_.choose("oneOf", each(keys)); }
void MemberSchema::at_least_one(const std::vector<const char*>& keys) { object_.choose("anyOf", each(keys)); }

}  // namespace heddle
