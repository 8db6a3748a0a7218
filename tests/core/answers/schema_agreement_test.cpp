// What a reader takes, its JSON Schema takes; what a reader refuses because of its form, the schema refuses too. Whether our files are
// valid is also asked of another judge of schemas, in tests/schema/validate.py.
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "core/answers/pareto.h"
#include "core/answers/simulation.h"
#include "core/base/atomic_file.h"
#include "core/formats/changes_json.h"
#include "core/formats/constraints_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/measurement_json.h"
#include "core/formats/schedule_json.h"
#include "core/formats/space_json.h"
#include "core/library/project_json.h"
#include "tests/support/json_schema.h"
#include "tests/support/paths.h"
#include "tests/support/problem_builder.h"

using namespace heddle;

namespace {

constexpr std::uint64_t kSeed = 20261123;
constexpr int kMutants = 300;  ///< of each document

struct Said {
  std::vector<Fault> faults, warnings;
};

struct Format {
  const char* file;
  Json schema;
  std::function<Said(const std::string&)> read;
};

/// What `parse`, given the text, a name and room for warnings, says.
template <class Parse>
std::function<Said(const std::string&)> reader(Parse parse) {
  return [parse](const std::string& text) {
    Said said;
    const auto result = parse(text, "f", &said.warnings);
    if (!result) said.faults = result.error().faults;
    return said;
  };
}

Problem golden_problem() {
  test::ProblemBuilder build({"TMA", "TC", "EXP"});
  const OpId load = build.load("load", "TMA", 30, 500), gemm = build.async_op("gemm", "TC", 100, 150);
  const OpId soft = build.op("soft", "EXP", 80, 80);
  build.ring(load, 1024, {{gemm, 0}});
  build.registers(gemm, 32, {{soft, 0}});
  return build.problem;
}

std::vector<Format> formats() {
  static const Problem problem = golden_problem(), toy = test::toy_problem();
  using Warnings = std::vector<Fault>*;
  const auto constraints_of = [](const Problem& judged) {
    return reader([&judged](std::string_view text, const char* file, Warnings w) {
      const Result<Constraints> constraints = parse_constraints(text, file, judged, w);
      return constraints ? parse_changes(text, file, w) : Result<Changes>(constraints.error());
    });
  };
  const auto space = [](std::string_view text, const char* file, Warnings w) { return parse_space(text, file, w); };
  const auto schedule = [](std::string_view text, const char* file, Warnings w) { return parse_schedule(text, file, problem, w); };
  const auto project = [](std::string_view text, const char* file, Warnings w) { return parse_project(text, file, {}, w); };
  return {{"kernels/toy_fig1.json", kernel_schema(), reader(parse_kernel)},
          {"kernels/gemm_hopper.json", kernel_schema(), reader(parse_kernel)},
          {"assets/machines/h100.json", machine_schema(), reader(parse_machine)},
          {"tests/kernels/ring_machine.json", machine_schema(), reader(parse_machine)},
          {"kernels/spaces/gemm_hopper_wide.json", space_schema(), reader(space)},
          {"tests/golden/measurement.json", measurement_schema(), reader(parse_measurement)},
          {"tests/golden/constraints.json", constraints_schema(), constraints_of(problem)},
          {"tests/golden/changes.json", constraints_schema(), constraints_of(toy)},
          {"tests/golden/schedule.json", schedule_schema(), reader(schedule)},
          {"tests/golden/project.json", project_schema(), reader(project)}};
}

/// Every value below, itself included, with the object or list that holds it.
struct Place {
  Json* value;
  Json* holder;
  std::size_t index;
  std::string key;
};

void collect(Json& json, Json* holder, std::size_t index, const std::string& key, std::vector<Place>& places) {
  places.push_back({&json, holder, index, key});
  if (Json::Array* items = json.items())
    for (std::size_t i = 0; i < items->size(); ++i) collect((*items)[i], &json, i, key, places);
  if (Json::Object* members = json.members())
    for (std::size_t i = 0; i < members->size(); ++i) collect((*members)[i].value, &json, i, (*members)[i].key, places);
}

/// One thing wrong, or only odd, at one place. Empty: nothing was changed.
std::string mutant(Json json, std::mt19937_64& random) {
  std::vector<Place> places;
  collect(json, nullptr, 0, "", places);
  Place& place = places[random() % places.size()];
  // Members that follow from others are written for people; no reader looks at them.
  for (const char* derived : {"ii_residual", "ratio", "start_residual", "duration_residual", "cost"})
    if (place.key == derived && !place.value->is_object()) return "";
  static const std::vector<Json> foreign{Json(),
                                         true,
                                         -1,
                                         0,
                                         1,
                                         1.5,
                                         std::int64_t{1} << 41,
                                         "",
                                         "no such word",
                                         "x[1]",
                                         "pin",
                                         "\n",
                                         std::string(201, 'a'),
                                         Json::array(),
                                         Json::object(),
                                         Json::array().push(1),
                                         Json::object().set("kind", "pin")};
  switch (random() % 5) {
    case 0:
      if (!place.holder) return "";
      if (Json::Object* members = place.holder->members())
        members->erase(members->begin() + static_cast<std::ptrdiff_t>(place.index));
      else
        place.holder->items()->erase(place.holder->items()->begin() + static_cast<std::ptrdiff_t>(place.index));
      break;
    case 1:
      if (Json::Object* members = place.value->members())
        members->push_back({std::vector<std::string>{"x-mine", "unknown", "$schema"}[random() % 3], 1});
      else if (Json::Array* items = place.value->items(); items && !items->empty())
        items->push_back(items->front());
      else
        return "";
      break;
    default: *place.value = foreign[random() % foreign.size()];
  }
  return json.line();
}

/// What a schema could have said too: not how one number follows from another.
bool about_form(const Fault& fault) {
  const std::string& message = fault.message;
  for (const char* end : {"/default", "/group", "/a", "/b"})
    if (fault.pointer.ends_with(end)) return false;
  for (const char* start : {"missing key", "expected an object", "expected a list", "expected true or false", "expected a string",
                            "expected a name", "expected an integer from", "expected an integer of", "expected an integer,",
                            "expected a positive integer", "expected a number", "expected exactly one"})
    if (message.starts_with(start)) return true;
  return message.find("(known: ") != std::string::npos && message.find("unknown") == 0;
}

}  // namespace

TEST_CASE("readers and schemas agree on damaged files", "[core]") {
  for (const Format& format : formats()) {
    INFO(format.file << ", seed " << kSeed);
    const Json document = *parse_json(read_file(test::repository_path(format.file)).value(), format.file);
    CHECK(test::schema_fault(format.schema, document) == "");
    CHECK(format.read(document.line()).faults.empty());
    std::mt19937_64 random(kSeed);
    int taken = 0, refused = 0;
    for (int i = 0; i < kMutants; ++i) {
      const std::string text = mutant(document, random);
      const Result<Json> json = parse_json(text, "f");
      if (text.empty() || !json) continue;
      const Said said = format.read(text);
      const std::string fault = test::schema_fault(format.schema, *json);
      const bool odd = std::any_of(said.warnings.begin(), said.warnings.end(),
                                   [](const Fault& w) { return w.message.find("unknown key") != std::string::npos; });
      if (said.faults.empty() && !odd && !fault.empty()) {
        FAIL_CHECK("the schema refuses what is read: " << fault << "\n" << text);
        break;
      }
      const auto form = std::find_if(said.faults.begin(), said.faults.end(), about_form);
      if (form != said.faults.end() && fault.empty()) {
        FAIL_CHECK("the schema takes what is refused: " << to_string(*form) << "\n" << text);
        break;
      }
      fault.empty() ? ++taken : ++refused;
    }
    CHECK(taken > 30);
    CHECK(refused > 100);
  }
}

TEST_CASE("a schema says what stands there, in words", "[core]") {
  const std::string kernel = kernel_schema().pretty(), constraints = constraints_schema().pretty();
  for (const char* part :
       {"\"A tile instruction.\"", "\"tma_load\"", "\"cycles until the result is usable\"", "\"additionalProperties\": false"})
    CHECK(kernel.find(part) != std::string::npos);
  for (const char* part : {"\"max_crossing_smem\"", "\"Start at exactly this cycle.\"", "{\"const\": \"before\"}"})
    CHECK(constraints.find(part) != std::string::npos);
}
