// The JSON Schemas name the same vocabulary as the code. Whether files validate is tests/schema/validate.py's business.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/answers/pareto.h"
#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/base/words.h"
#include "core/chart/gantt_model.h"
#include "core/kernel/op_kind.h"
#include "core/library/library.h"
#include "core/machine/machine.h"
#include "core/problem/changes.h"
#include "core/records/measurement.h"
#include "core/schedule/certificate.h"
#include "core/schedule/constraints.h"
#include "core/simulate/simulate.h"

using namespace heddle;

namespace {

/// Every list that stands under the key "enum" or, alone, under "const".
void collect(const Json& json, std::vector<std::vector<std::string>>& vocabularies) {
  if (const Json::Array* items = json.items())
    for (const Json& item : *items) collect(item, vocabularies);
  if (!json.is_object()) return;
  for (const JsonMember& member : *json.members()) {
    if (member.key == "const" && member.value.string()) vocabularies.push_back({*member.value.string()});
    if (member.key == "enum") {
      auto& words = vocabularies.emplace_back();
      for (const Json& word : *member.value.items()) words.push_back(*word.string());
    }
    collect(member.value, vocabularies);
  }
}

std::vector<std::vector<std::string>> vocabularies_of(const std::string& schema) {
  const auto path = find_in_library(Shelf::Schemas, schema);
  REQUIRE(path.ok());
  const auto json = parse_json(read_file(*path).value(), *path);
  REQUIRE(json.ok());
  std::vector<std::vector<std::string>> vocabularies;
  collect(*json, vocabularies);
  return vocabularies;
}

bool holds(const std::vector<std::vector<std::string>>& vocabularies, const std::vector<std::string>& words) {
  return std::find(vocabularies.begin(), vocabularies.end(), words) != vocabularies.end();
}

}  // namespace

TEST_CASE("the kernel schema knows every kind, dtype and space", "[core]") {
  std::vector<std::string> kinds;
  for (const OpKind& kind : op_kinds()) kinds.emplace_back(kind.name);
  const auto vocabularies = vocabularies_of("kernel");
  CHECK(holds(vocabularies, kinds));
  CHECK(holds(vocabularies, words_up_to(DType::I32)));
  CHECK(holds(vocabularies, words_up_to(Space::Global)));
}

TEST_CASE("the machine schema knows every role, the schedule schema every status and reason", "[core]") {
  CHECK(holds(vocabularies_of("machine"), words_up_to(UnitRole::Other)));
  CHECK(holds(vocabularies_of("schedule"), words_up_to(Status::Invalid)));
  CHECK(holds(vocabularies_of("schedule"), words_up_to(BoundReason::Requested)));
}

TEST_CASE("the constraints schema knows every kind of constraint and of change once", "[core]") {
  std::vector<std::string> found;
  for (const auto& words : vocabularies_of("constraints"))
    for (const std::string& word : words)
      if (word != "heddle.constraints/1") found.push_back(word);
  auto expected = words_up_to(kLastConstraintKind);
  for (const std::string& word : words_up_to(ChangeKind::Groups)) expected.push_back(word);
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  CHECK(found == expected);
}

TEST_CASE("the pareto schema knows every resource", "[core]") { CHECK(holds(vocabularies_of("pareto"), words_up_to(Resource::Tmem))); }

TEST_CASE("the simulation schema knows every reason to wait, shape and arbitration", "[core]") {
  CHECK(holds(vocabularies_of("simulation"), words_up_to(StallReason::Credit)));
  CHECK(holds(vocabularies_of("simulation"), words_up_to(JitterShape::Tail)));
  CHECK(holds(vocabularies_of("simulation"), words_up_to(Arbitration::FirstCome)));
}

TEST_CASE("the measurement schema knows every status", "[core]") {
  CHECK(holds(vocabularies_of("measurement"), words_up_to(RunStatus::NoGpu)));
}

TEST_CASE("the project schema knows every status and mode", "[core]") {
  CHECK(holds(vocabularies_of("project"), words_up_to(Status::Invalid)));
  CHECK(holds(vocabularies_of("project"), words_up_to(GanttMode::Pipeline)));
}

TEST_CASE("schemas can be asked for by name", "[core]") {
  std::string names;
  for (const LibraryEntry& entry : list_library(Shelf::Schemas)) names += entry.name + " ";
  CHECK(names == "constraints job kernel machine measurement pareto project published result schedule simulation space validation ");
  CHECK(to_string(find_in_library(Shelf::Schemas, "kernl").error()) == "unknown schema 'kernl' (did you mean 'kernel'?)");
}
