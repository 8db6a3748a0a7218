// Solve reports, verdicts and bounds: the keys that other programs rely on.
#include <catch2/catch.hpp>

#include "core/answers/summary.h"
#include "tests/support/json_schema.h"
#include "tests/support/problem_builder.h"

using namespace heddle;

namespace {

SolveOutcome toy_outcome(const Problem& problem) {
  SolveOutcome outcome;
  outcome.status = Status::Optimal;
  outcome.lower_bound = outcome.res_mii = 2;
  outcome.rec_mii = outcome.issue_mii = 1;
  outcome.reason = BoundReason::Resource;
  outcome.explanation = "TC is full";
  outcome.objectives = {{"stages", 2, true}};
  outcome.seconds = {0.001, 0.0021234567, 0.25, 1};
  outcome.solver = "Z3 4.15.4";
  outcome.seed = 7;
  Schedule s;
  s.ii = 2;
  s.ops = {{0, GroupId(0)}, {1, GroupId(0)}, {3, GroupId(0)}};
  s.groups = {{"consumer A", 1, 24}};
  s.depths.assign(problem.channels.size(), 0);
  outcome.schedule = s;
  return outcome;
}

std::string keys_of(const Json& json) {
  std::string keys;
  for (const JsonMember& member : *json.members()) keys += member.key + " ";
  return keys;
}

}  // namespace

TEST_CASE("a solve report has the promised keys", "[core]") {
  const Problem problem = test::toy_problem();
  const auto json = parse_json(outcome_text(problem, toy_outcome(problem)), "");
  REQUIRE(json.ok());
  CHECK(test::schema_fault(outcome_schema(), *json) == "");
  CHECK(keys_of(*json) ==
        "status ii lower_bound reason explanation res_mii rec_mii issue_mii length stages period deadlock period_limit "
        "kernel "
        "machine params changes problem_hash groups ops channels objectives seconds checker solver seed queries conflicts "
        "cancelled "
        "timed_out cut_off serial ");
  CHECK(*json->find("ii")->integer() == 2);
  CHECK(*json->find("length")->integer() == 4);
  CHECK(*json->find("stages")->integer() == 2);
  CHECK(*json->find("period")->integer() == 2);
  CHECK(*json->find("seed")->integer() == 7);
  CHECK(json->find("ops")->line() ==
        R"([{"id": "S", "start": 0, "stage": 0, "slot": 0, "group": 0}, {"id": "P", "start": 1, "stage": 0, "slot": 1, "group": 0}, )"
        R"({"id": "O", "start": 3, "stage": 1, "slot": 1, "group": 0}])");
  CHECK(json->find("groups")->line() == R"([{"id": 0, "role": "consumer A", "warps": 1, "registers": 24, "ops": ["S", "P", "O"]}])");
  CHECK(json->find("objectives")->line() == R"([{"name": "stages", "value": 2, "proved": true}])");
  CHECK(json->find("seconds")->line() == R"({"encode": 0.001, "first": 0.002123, "proof": 0.25, "total": 1.0})");
  CHECK(json->find("checker")->line() == R"({"valid": true, "violations": []})");
}

TEST_CASE("a report without a schedule says null instead of inventing numbers", "[core]") {
  const Problem problem = test::toy_problem();
  SolveOutcome outcome = toy_outcome(problem);
  outcome.status = Status::Infeasible;
  outcome.schedule.reset();
  const Json json = outcome_json(problem, outcome);
  CHECK(test::schema_fault(outcome_schema(), json) == "");
  for (const char* key : {"ii", "length", "stages", "period", "checker"}) {
    INFO(key);
    REQUIRE(json.find(key));
    CHECK(json.find(key)->is_null());
  }
  CHECK(json.find("ops")->line() == "[]");
  CHECK(*json.find("lower_bound")->integer() == 2);
}

TEST_CASE("a verdict names its violations", "[core]") {
  const Problem problem = test::toy_problem();
  Schedule schedule = *toy_outcome(problem).schedule;
  schedule.ops[2].start = 2;  // S and O meet on the tensor core
  const auto json = parse_json(verdict_text(problem, schedule, check(problem, schedule)), "");
  REQUIRE(json.ok());
  CHECK(test::schema_fault(verdict_schema(), *json) == "");
  CHECK(*json->find("valid")->boolean() == false);
  REQUIRE(!json->find("violations")->items()->empty());
  CHECK(keys_of(json->find("violations")->items()->front()) == "family message ops slot amount limit ");
  CHECK(*json->find("ii")->integer() == 2);
}

TEST_CASE("bounds come with every unit and the critical recurrence", "[core]") {
  const Problem problem = test::toy_problem();
  const auto json = parse_json(bounds_text(problem, compute_bounds(problem)), "");
  REQUIRE(json.ok());
  CHECK(test::schema_fault(bounds_schema(), *json) == "");
  CHECK(*json->find("min_ii")->integer() == 2);
  CHECK(*json->find("binding_unit")->string() == "TC");
  CHECK(json->find("units")->items()->size() == 2);
  CHECK(json->find("recurrence")->line() == R"({"ops": ["O"], "latency": 1, "distance": 1, "bound": 1})");
}
