// Fronts as values, files and pictures.
#include "core/answers/pareto.h"

#include <catch2/catch.hpp>

#include "tests/support/json_schema.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using heddle::test::place;

namespace {

Problem pair_of_ops() {
  Problem p = test::empty_problem();
  p.kernel = "pair";
  p.machine = "test";
  const OpId a = test::add_op(p, "a", 4, 1), b = test::add_op(p, "b", 4, 1);
  test::add_edge(p, a, b, 4);
  return p;
}

Pareto front_of(const Problem& p) {
  Pareto front;
  front.against = {Resource::Stages};
  front.complete = true;
  for (const auto& [ii, stages] : {std::pair<Cycle, std::int64_t>(4, 2), {8, 1}}) {
    ParetoStep step;
    step.caps = {stages == 1 ? 1 : kNoCap};
    step.status = Status::Optimal;
    step.lower_bound = ii;
    step.schedule = place(p, ii, {{0, 0}, {5, 0}});
    for (ScheduleGroup& g : step.schedule->groups) g.registers = 24;
    step.values = {stages};
    front.steps.push_back(std::move(step));
  }
  return front;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a front survives being written and read", "[core]") {
  const Problem p = pair_of_ops();
  const Pareto front = front_of(p);
  const std::string text = pareto_json(p, {}, front).pretty();
  CHECK(test::schema_fault(pareto_schema(), pareto_json(p, {}, front)) == "");
  std::vector<Fault> warnings;
  const Result<Pareto> read = parse_pareto(text, "front.json", p, {}, &warnings);
  for (const Fault& f : read ? std::vector<Fault>{} : read.error().faults) UNSCOPED_INFO(to_string(f));
  REQUIRE(read);
  CHECK(warnings.empty());
  CHECK(read->against == front.against);
  REQUIRE(read->steps.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(read->steps[i].caps == front.steps[i].caps);
    CHECK(read->steps[i].values == front.steps[i].values);
    CHECK(read->steps[i].status == front.steps[i].status);
    CHECK(read->steps[i].schedule->ii == front.steps[i].schedule->ii);
  }
  CHECK(front_points(*read) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("a front of another problem, of other constraints, or with false schedules is refused with a reason", "[core]") {
  const Problem p = pair_of_ops();
  const std::string text = pareto_json(p, {}, front_of(p)).pretty();
  const auto refused = [&](const std::string& changed, const Problem& problem, const Constraints& constraints) {
    const Result<Pareto> read = parse_pareto(changed, "front.json", problem, constraints);
    return read ? std::string("accepted") : to_string(read.error().faults.front());
  };
  using Catch::Matchers::Contains;
  Problem other = p;
  other.ops[0].latency = 5;
  CHECK_THAT(refused(text, other, {}), Contains("another problem"));
  UserConstraint cap;
  cap.name = "few";
  cap.kind = ConstraintKind::MaxStages;
  cap.high = 2;
  CHECK_THAT(refused(text, p, {cap}), Contains("other constraints"));
  CHECK_THAT(refused(replaced(text, "\"start\": 5", "\"start\": 3"), p, {}), Contains("steps/0/schedule"));
  CHECK_THAT(refused(replaced(text, "\"optimal\"", "\"perfect\""), p, {}), Contains("status"));
  CHECK_THAT(refused(replaced(text, "\"lower_bound\": 4, \"exp", "\"lower_bound\": 5, \"exp"), p, {}), Contains("below the lower bound"));
  CHECK_THAT(refused(replaced(text, "\"lower_bound\": 4, \"exp", "\"lower_bound\": 1, \"exp"), p, {}), Contains("above the lower bound"));
  CHECK_THAT(refused(replaced(text, "\"against\": [\"stages\"]", "\"against\": []"), p, {}), Contains("at least one resource"));
  Pareto lie = front_of(p);
  lie.steps.push_back(lie.steps[1]);
  lie.steps.back().caps[0] += 1;
  lie.steps.back().status = Status::Infeasible;
  lie.steps.back().schedule.reset();
  lie.steps.back().values.clear();
  CHECK_THAT(refused(pareto_json(p, {}, lie).pretty(), p, {}), Contains("step 2 says that there is no schedule"));
  CHECK_THAT(refused(replaced(text, "\"caps\": {}", "\"caps\": {\"stages\": 1}"), p, {}), Contains("steps/0"));
  CHECK_THAT(refused("{}", p, {}), Contains("schema"));
}

TEST_CASE("points that another one beats are not on the front", "[core]") {
  const Problem p = pair_of_ops();
  Pareto front = front_of(p);
  ParetoStep worse = front.steps[1];
  worse.schedule->ii = 9;
  worse.status = Status::Feasible;
  front.steps.push_back(worse);
  CHECK(front_points(front) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("a front is told with its proofs and drawn as a staircase", "[core]") {
  const Problem p = pair_of_ops();
  Pareto front = front_of(p);
  using Catch::Matchers::Contains;
  const std::string text = pareto_summary(p, front, {});
  CHECK_THAT(text, Contains("2 points, complete and proved"));
  CHECK_THAT(text, Contains("●"));
  const std::string ascii = staircase(front, {100, false, false});
  CHECK_THAT(ascii, Contains("o---"));
  CHECK(ascii.find("●") == std::string::npos);
  front.steps[1].status = Status::Feasible;
  front.steps[1].lower_bound = 6;
  front.complete = false;
  front.timed_out = true;
  CHECK_THAT(pareto_headline(front), Contains("time is up, 1 not proved"));
  CHECK_THAT(point_sentence(front, front.steps[1]), Contains("II 8 with 1 stage, not proved, II at least 6"));
}

TEST_CASE("amounts go down by what there is", "[core]") {
  const Problem p = pair_of_ops();
  CHECK(next_below(p, 160, Resource::Registers) == 152);
  CHECK(next_below(p, 512, Resource::Tmem) == 256);
  CHECK(next_below(p, 32, Resource::Tmem) == 0);
  CHECK(next_below(p, 4096, Resource::Smem) == 4095);
  CHECK(next_below(p, 0, Resource::Smem) < 0);
  CHECK(least_possible(p, Resource::Warps) == 1);
}
