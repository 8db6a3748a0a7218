// Layouts, instructions and schedule chosen together.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <map>
#include <random>

#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/questions/choose_layouts.h"
#include "solver/questions/price.h"
#include "solver/questions/sensitivity.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

struct Asked {
  Kernel kernel;
  Machine machine;
  LayoutChoices given;

  ChosenLayouts choose(std::vector<std::string> names = {"all"}, std::optional<Cycle> ii = {}) const {
    solver::SolveRequest request;
    request.ii = ii;
    request.objectives = {};
    return solver::choose_layouts(
        open_layouts(with(spec_of(kernel, machine), given), names).value(),
        [&](const LayoutChoices& choices) { return resolve(kernel, machine, {}, {}, choices); }, request);
  }
};

Asked backward(LayoutChoices given = {}) {
  return {load_kernel("attention_backward_hopper").value(), load_machine("h100").value(), std::move(given)};
}

/// Decisions over a random problem, each of which moves numbers of its own.
struct RandomQuestion {
  OpenLayouts open;

  Result<Problem> problem_of(const LayoutChoices& choices) const {
    std::vector<std::vector<std::size_t>> only;
    for (const LayoutDecision& decision : open.decisions)
      only.push_back({static_cast<std::size_t>(std::stoi(choices.layouts.at(decision.name())))});
    return easiest(open, only);
  }
};

RandomQuestion random_question(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(high - low + 1));
  };
  RandomQuestion question;
  question.open.problem = test::random_problem(seed);
  question.open.shape = question.open.problem;
  const ProblemNumbers given = numbers_of(question.open.problem);
  std::vector<std::size_t> free;  // what may move; how deep rings may be, and what is taken anyway, stay
  for (std::size_t i = 0; i + 3 < given.size(); ++i)
    if (given[i] > 0) free.push_back(i);
  std::shuffle(free.begin(), free.end(), engine);
  const std::int64_t decisions = between(1, 5);
  for (std::int64_t d = 0; d < decisions; ++d) {
    LayoutDecision decision;
    decision.values = {fmt::format("d{}", d)};
    std::vector<std::size_t> moved;
    for (std::int64_t k = between(1, 5); k > 0 && !free.empty(); --k) moved.push_back(free.back()), free.pop_back();
    for (std::int64_t c = between(2, 3); c > 0; --c) {
      LayoutCandidate candidate;
      candidate.choices.layouts[decision.values[0]] = std::to_string(decision.candidates.size());
      candidate.numbers = given;
      for (const std::size_t i : moved) candidate.numbers[i] = std::max<std::int64_t>(given[i] > 1 ? 1 : 0, given[i] + between(-3, 3));
      decision.candidates.push_back(std::move(candidate));
    }
    drop_dominated(decision);
    question.open.decisions.push_back(std::move(decision));
  }
  return question;
}

/// The least II over every combination, dominated ones too, each solved by itself; nothing where none has a schedule.
std::optional<Cycle> least_of_all(const RandomQuestion& question, int& combinations, const solver::SolveRequest& ask = {}) {
  std::optional<Cycle> least;
  std::map<std::string, bool> known;
  std::vector<std::vector<std::size_t>> only(question.open.decisions.size(), {0});
  for (bool more = true; more;) {
    ++combinations;
    solver::SolveRequest request = ask;
    request.problem = easiest(question.open, only);
    request.objectives = {};
    request.explain = false;
    if (known.emplace(problem_hash(request.problem), true).second) {
      const SolveOutcome outcome = solver::solve(request);
      REQUIRE((outcome.status == Status::Optimal || outcome.status == Status::Infeasible || !ask.constraints.empty()));
      if (outcome.schedule) least = std::min(least.value_or(outcome.schedule->ii), outcome.schedule->ii);
    }
    more = false;
    for (std::size_t d = 0; d < only.size() && !more; ++d) {
      more = ++only[d][0] < question.open.decisions[d].candidates.size();
      if (!more) only[d][0] = 0;
    }
  }
  return least;
}

void agree(std::uint64_t seed, int& combinations, int& split) {
  INFO("seed " << seed);
  const RandomQuestion question = random_question(seed);
  const std::optional<Cycle> least = least_of_all(question, combinations);
  solver::SolveRequest request;
  request.objectives = {};
  const ChosenLayouts answer = solver::choose_layouts(
      question.open, [&](const LayoutChoices& choices) { return question.problem_of(choices); }, request);
  split += answer.cases > 1;
  if (!least) {
    CHECK(answer.outcome.status == Status::Infeasible);
    return;
  }
  REQUIRE(answer.outcome.schedule);
  CHECK(answer.outcome.status == Status::Optimal);
  CHECK(answer.outcome.schedule->ii == *least);
  CHECK(answer.outcome.lower_bound == *least);
  CHECK(check(answer.problem, *answer.outcome.schedule).valid());
  CHECK(problem_hash(answer.problem) == problem_hash(question.problem_of(answer.choices).value()));
}

/// The question with one number of each changed op otherwise: that which its place among the numbers above 0 gives it.
RandomQuestion changed_question(const RandomQuestion& question, const Changes& changes) {
  RandomQuestion out = question;
  ProblemNumbers numbers = numbers_of(question.open.problem);
  const ProblemNumbers before = numbers;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i + 3 < numbers.size(); ++i)
    if (numbers[i] > 0) places.push_back(i);
  for (const Change& change : changes) {
    const std::size_t place = places[question.open.problem.find_op(change.op).index() * 7 % places.size()];
    numbers[place] = changed(change, numbers[place]);
  }
  out.open.problem = out.open.shape = with_numbers(question.open.problem, numbers);
  for (LayoutDecision& decision : out.open.decisions) {
    for (LayoutCandidate& candidate : decision.candidates) {
      for (std::size_t i = 0; i < numbers.size(); ++i)
        if (numbers[i] != before[i]) candidate.numbers[i] = std::max<std::int64_t>(1, candidate.numbers[i] + numbers[i] - before[i]);
      candidate.dominated_by.reset();
    }
    drop_dominated(decision);
  }
  return out;
}

}  // namespace

TEST_CASE("what sensitivity proves with layouts open is the least over all combinations at that number", "[solver]") {
  int proved = 0, combinations = 0, others = 0;
  for (std::uint64_t seed = 126; seed <= 150; ++seed) {
    const RandomQuestion question = random_question(seed);
    solver::SensitivityRequest request;
    request.solve.problem = question.open.problem;
    request.solve.objectives = {};
    request.percent = 40;
    for (std::size_t k = 0; k < question.open.problem.ops.size() && k < 3; ++k)
      request.numbers.emplace_back().op = question.open.problem.ops[k].name;
    request.open_with = [&](const Changes& changes) { return Result<OpenLayouts>(changed_question(question, changes).open); };
    request.problem_with_layouts = [&](const Changes& changes, const LayoutChoices& choices) {
      return changed_question(question, changes).problem_of(choices);
    };
    const Sensitivity answer = solver::sensitivity(request);
    if (!answer.schedule) continue;
    CHECK(least_of_all(question, combinations) == std::optional(answer.ii));
    for (const SensitivityRow& row : answer.rows)
      for (const bool more : {false, true}) {
        const SensitivitySide& side = more ? row.more : row.less;
        if (side.same_problem || !side.proved()) continue;
        Change change;
        change.op = row.number.substr(0, row.number.find('.'));
        change.effect = ChangeEffect::Percent;
        change.value = more ? 40 : -40;
        INFO("seed " << seed << ", " << row.number << " " << change.value << " %");
        CHECK(least_of_all(changed_question(question, {change}), combinations).value_or(kNoFiniteII) == side.ii);
        ++proved;
        others += !side.layouts.empty();
      }
  }
  CHECK(proved > 40);
  CHECK(others > 0);
}

TEST_CASE("a price with layouts open is the difference of two optima over all combinations", "[solver]") {
  int combinations = 0, dear = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    INFO("seed " << seed);
    const RandomQuestion question = random_question(seed);
    solver::SolveRequest request;
    request.problem = question.open.problem;
    request.objectives = {};
    UserConstraint shallow;
    shallow.name = "one stage";
    shallow.kind = ConstraintKind::MaxStages;
    shallow.high = 1;
    request.constraints = {shallow};
    const solver::LayoutsLeftOpen layouts{{},
                                          [&](const LayoutChoices&) { return Result<OpenLayouts>(question.open); },
                                          [&](const LayoutChoices& choices) { return question.problem_of(choices); }};
    const Prices prices = solver::price_constraints(request, {}, {}, &layouts);
    CHECK(prices.none.ii == least_of_all(question, combinations));
    CHECK(prices.all.ii == least_of_all(question, combinations, request));
    CHECK(prices.constraints.size() == 1);
    dear += prices.all.ii && prices.none.ii && *prices.all.ii > *prices.none.ii;
  }
  CHECK(dear > 0);
}

TEST_CASE("left to the solver, dQ is stored without conflicts, and the least II over all its layouts is 2688", "[solver]") {
  const ChosenLayouts answer = backward().choose();
  REQUIRE(answer.outcome.schedule);
  CHECK(answer.outcome.status == Status::Optimal);
  CHECK(answer.outcome.schedule->ii == 2688);
  CHECK(answer.question.combinations > 1000);
  CHECK(check(answer.problem, *answer.outcome.schedule).valid());
  CHECK(answer.outcome.schedule->layouts == answer.choices);
  for (const char* op : {"stage_dq0", "stage_dq1"}) {
    REQUIRE(answer.problem.layouts->find(op));
    CHECK(answer.problem.layouts->find(op)->charged().ways == 1);
  }
  CHECK(layout_claim(answer).find("II 2688 is the least over all schedules and the layouts and instructions of") == 0);
}

TEST_CASE("what is said of a layout stays said: with 128-byte panels stored in pairs the least II is 2944", "[solver]") {
  LayoutChoices plain;
  for (const char* half : {"0", "1"}) {
    plain.layouts[fmt::format("dqs{}", half)] = "panels 128";
    plain.instructions[fmt::format("stage_dq{}", half)] = {"st.shared.8", {}};
  }
  const ChosenLayouts forced = backward(plain).choose();
  REQUIRE(forced.outcome.schedule);
  CHECK(forced.outcome.status == Status::Optimal);
  CHECK(forced.outcome.schedule->ii == 2944);
  // With one half left open it is the other half that costs.
  LayoutChoices half = plain;
  half.layouts.erase("dqs1"), half.instructions.erase("stage_dq1");
  const ChosenLayouts one = backward(half).choose({"stage_dq1"});
  REQUIRE(one.outcome.schedule);
  CHECK(one.outcome.schedule->ii == 2816);
  CHECK(one.choices.instructions.at("stage_dq0").name == "st.shared.8");
}

TEST_CASE("one II may be asked about with layouts open", "[solver]") {
  const ChosenLayouts refuted = backward().choose({"all"}, 2687);
  CHECK(refuted.outcome.status == Status::Infeasible);
  CHECK(layout_claim(refuted).find("no schedule at II 2687 with any of") == 0);
  const ChosenLayouts found = backward().choose({"all"}, 2688);
  REQUIRE(found.outcome.schedule);
  CHECK(found.outcome.schedule->ii == 2688);
}

TEST_CASE("a kernel without open layouts is solved as it is, and says that there was nothing to choose", "[solver]") {
  const Asked gemm{load_kernel("gemm_hopper").value(), load_machine("h100").value(), {}};
  const ChosenLayouts answer = gemm.choose();
  CHECK(answer.question.decisions.empty());
  CHECK(answer.outcome.status == Status::Optimal);
  CHECK(layout_claim(answer).find("nothing to choose") != std::string::npos);
}

TEST_CASE("a stop takes effect, and what was found until then is not called proved", "[solver]") {
  std::stop_source stop;
  stop.request_stop();
  const Asked asked = backward();
  solver::SolveRequest request;
  const ChosenLayouts answer = solver::choose_layouts(
      open_layouts(spec_of(asked.kernel, asked.machine), {"all"}).value(),
      [&](const LayoutChoices& choices) { return resolve(asked.kernel, asked.machine, {}, {}, choices); }, request, stop.get_token());
  CHECK(answer.outcome.status != Status::Optimal);
  CHECK(answer.choices.layouts.size() == 5);
}

TEST_CASE("the joint optimum is the least over all combinations, each solved by itself", "[solver]") {
  int combinations = 0, split = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) agree(seed, combinations, split);
  CHECK(combinations > 500);
}

TEST_CASE("a bound that speaks of so many stages only says so", "[solver]") {
  int limited = 0, combinations = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    INFO("seed " << seed);
    const RandomQuestion question = random_question(seed);
    solver::SolveRequest request;
    request.objectives = {};
    UserConstraint late;  // far more stages than a refutation looks at
    late.name = "late";
    late.ops = {question.open.problem.ops.back().name};
    late.low = 60;
    request.constraints = {late};
    const ChosenLayouts answer = solver::choose_layouts(
        question.open, [&](const LayoutChoices& choices) { return question.problem_of(choices); }, request);
    limited += answer.outcome.bound_stages.has_value();
    if (answer.outcome.bound_stages || answer.outcome.status != Status::Optimal) continue;
    solver::SolveRequest many = request;
    many.max_stages = 64;
    const std::optional<Cycle> least = least_of_all(question, combinations, many);
    REQUIRE(least);
    CHECK(answer.outcome.lower_bound <= *least);
  }
  CHECK(limited > 0);
}

TEST_CASE("the joint optimum is the least over all combinations, for a thousand problems", "[solver][.slow]") {
  int combinations = 0, split = 0;
  for (std::uint64_t seed = 1000; seed < 2000; ++seed) agree(seed, combinations, split);
  CHECK(combinations > 20'000);
  CHECK(split > 20);  // one case is not always enough
  UNSCOPED_INFO(combinations << " combinations, split " << split);
}
