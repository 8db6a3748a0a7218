// The default answer: II is proved as before, and of the orders at hand the one that is predicted to be fastest is taken.
#include "solver/questions/fastest.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "core/answers/scoreboard.h"
#include "core/answers/summary.h"
#include "core/check/checker.h"
#include "core/check/claim.h"
#include "core/formats/schedule_json.h"
#include "core/library/contenders.h"
#include "core/library/library.h"
#include "core/motion/motion.h"
#include "core/problem/resolve.h"
#include "solver/questions/least_order.h"
#include "solver/questions/scoreboard.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

struct Subject {
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const Machine> machine;
  SolveRequest request;
  std::shared_ptr<TimeChoice> choice = std::make_shared<TimeChoice>();
  bool resolved = false;

  Scope params;

  Subject(const std::string& kernel_name, const std::string& machine_name, Scope with = {}) : params(std::move(with)) {
    kernel = std::make_shared<Kernel>(*load_kernel(test::repository_path("kernels/" + kernel_name + ".json")));
    machine = std::make_shared<Machine>(*load_machine(test::repository_path("assets/machines/" + machine_name + ".json")));
    Result<Problem> problem = resolve(*kernel, *machine, params);
    if (!problem) return;
    resolved = true;
    request.problem = *std::move(problem);
    for (Contender& c : shelf_contenders(request.problem))
      if (c.schedule) choice->orders.push_back({c.name, *std::move(c.schedule)});
    choice->sources = [uncertain = std::make_shared<UncertainNumbers>(uncertain_numbers(request.problem, *machine))] {
      return OrderSources{{}, uncertain, ""};
    };
    choice->predict = [spec = spec()](const Problem& p, const Schedule& s, const std::stop_token& stop) {
      return forecast(Instance(spec, p), s, stop);
    };
    request.by_time = choice;
    request.timeout_seconds = 3600;  // what is compared must not depend on how fast this machine is
  }

  InstanceSpec spec() const { return {kernel, machine, params}; }
  double predicted(const Schedule& schedule) const { return forecast(Instance(spec(), request.problem), schedule)->microseconds; }
};

/// Nothing on the kernel's own scoreboard is predicted to be faster than the default answer.
void expect_fastest(const std::string& kernel, const std::string& machine) {
  Subject s(kernel, machine);
  if (!s.resolved) return;
  CAPTURE(kernel, machine);
  ScoreboardRequest request;
  request.solve = s.request;
  request.given = shelf_contenders(s.request.problem);
  request.baselines = all_baselines();
  request.simulate = [&](const Problem& of, const Schedule& schedule) { return simulated_figures(Instance(s.spec(), of), schedule); };
  const Scoreboard board = make_scoreboard(request);
  const Contender& answer = board.contenders.back();
  REQUIRE(answer.kind == ContenderKind::Solver);
  if (!answer.schedule || !answer.simulated || !answer.simulated->fault.empty()) return;
  for (const Contender& other : board.contenders) {
    if (!other.valid() || !other.simulated || !other.simulated->fault.empty()) continue;
    CAPTURE(other.name);
    CHECK(answer.simulated->decides >= other.simulated->decides);
    if (answer.simulated->decides && other.simulated->decides)
      CHECK(other.simulated->period >= answer.simulated->period * (1 - 1e-9));
    else
      CHECK(other.simulated->microseconds >= answer.simulated->microseconds * (1 - 1e-9));
  }
}

}  // namespace

TEST_CASE("the default of attention keeps the proof of II, and is faster than the first schedule of least II", "[solver]") {
  Subject s("attention_forward_hopper", "h100");
  SolveRequest plain = s.request;
  plain.by_time.reset();
  const SolveOutcome first = solve(plain), fastest = solve_for_time(s.request);
  REQUIRE(first.schedule);
  REQUIRE(fastest.schedule);
  REQUIRE(fastest.fastest);
  CHECK(fastest.lower_bound == first.lower_bound);
  CHECK(fastest.fastest->least_ii == first.schedule->ii);
  CHECK(fastest.fastest->least_proved);
  CHECK(fastest.fastest->complete);
  CHECK(check(s.request.problem, *fastest.schedule).valid());
  CHECK(fastest.fastest->microseconds == Approx(s.predicted(*fastest.schedule)));
  CHECK(fastest.fastest->first_microseconds == Approx(s.predicted(*first.schedule)));
  const auto period = [&](const Schedule& schedule) { return deciding_period(s.request.problem, schedule).value(); };
  CHECK(period(*fastest.schedule) < 0.96 * period(*first.schedule));
  REQUIRE(fastest.schedule->certificate);
  CHECK(fastest.schedule->certificate->status == (fastest.schedule->ii == first.lower_bound ? Status::Optimal : Status::Feasible));
}

namespace {

/// The schedule as a file that says of its period what `change` makes of it.
template <class Change>
std::string why_void(const Subject& s, const Schedule& schedule, Change change) {
  Schedule claimed = schedule;
  claimed.claim = std::exchange(claimed.certificate, std::nullopt);
  change(*claimed.claim->period);
  return why_claim_is_void(s.request.problem, {}, claimed).value_or("stands");
}

}  // namespace

TEST_CASE("the default of attention is the least of all programs, and a certificate that says more is refused", "[solver]") {
  const Subject s("attention_forward_hopper", "h100", {{"KV", 176}});
  REQUIRE(chooses_by_period(s.request.problem));
  const SolveOutcome outcome = solve_for_time(s.request);
  REQUIRE(outcome.schedule);
  REQUIRE(outcome.schedule->certificate);
  REQUIRE(outcome.schedule->certificate->period);
  const PeriodProof& proof = *outcome.schedule->certificate->period;
  CHECK(proof.standing == PeriodStanding::LeastOfAll);
  CHECK(proof.numbers == motion_hash(s.request.problem));
  CHECK(period_cycles(proof) == std::llround(motion::motion_of(s.request.problem, *outcome.schedule).period.cycles()));
  for (const KnownOrder& order : s.choice->orders) {
    CAPTURE(order.name);
    const motion::MotionPeriod period = motion::motion_of(s.request.problem, order.schedule).period;
    if (period.iterations > 0) CHECK(period.cycles() >= 0.999 * static_cast<double>(period_cycles(proof)));
  }
  CHECK(outcome_summary(s.request.problem, outcome, {}).find(standing_text(proof)) != std::string::npos);
  // As a file it says the same, and the checker finds the same.
  const Result<Schedule> read = parse_schedule(schedule_text(s.request.problem, *outcome.schedule), "", s.request.problem);
  REQUIRE(read);
  REQUIRE(read->claim);
  REQUIRE(read->claim->period);
  CHECK(read->claim->period->digest == proof.digest);
  CHECK(why_claim_is_void(s.request.problem, {}, *read) == std::nullopt);

  const Schedule& schedule = *outcome.schedule;
  CHECK(why_void(s, schedule, [](PeriodProof&) {}) == "stands");
  CHECK(why_void(s, schedule, [](PeriodProof& p) { p.period -= p.period / 100; }) != "stands");
  CHECK(why_void(s, schedule, [](PeriodProof& p) { ++p.programs; }) != "stands");
  CHECK(why_void(s, schedule, [](PeriodProof& p) { ++p.orders; }) != "stands");
  CHECK(why_void(s, schedule, [](PeriodProof& p) { p.digest = "0123456789abcdef"; }) != "stands");
  CHECK(why_void(s, schedule, [](PeriodProof& p) { p.numbers = "0123456789abcdef"; }) != "stands");
}

TEST_CASE("a period that is not the least of all is certified with less", "[solver]") {
  const Subject s("attention_forward_hopper", "h100", {{"KV", 176}});
  const SolveOutcome first = solve(s.request);
  REQUIRE(first.schedule);
  const LeastOrder least = least_order({s.request.problem, {}, {{"solver", *first.schedule}}, 3600}, {}, {});
  CHECK(least.complete);
  CHECK(least.name() == std::string("least period"));
  // Of the orders at hand one is longer than the least.
  for (const KnownOrder& order : s.choice->orders) {
    Schedule schedule = order.schedule;
    schedule.certificate = first.schedule->certificate;
    const motion::MotionPeriod period = motion::motion_of(s.request.problem, schedule).period;
    if (period.iterations == 0 || programs::same_period(period, least.found->top.front().period)) continue;
    CHECK(certify_period_of(s.request.problem, least, schedule).empty());
    REQUIRE(schedule.certificate->period);
    CHECK(schedule.certificate->period->standing == PeriodStanding::WithinBound);
    CHECK(schedule.certificate->period->programs == 0);
  }
}

TEST_CASE("the fastest order that can be written is taken, and the solver's own where none can", "[solver]") {
  Subject s("attention_forward_hopper", "h100");
  const SolveOutcome free = solve_for_time(s.request);
  REQUIRE(free.fastest);
  s.choice->can_be_written = [&](const Problem&, const Schedule& order) { return !same_program(order, *free.schedule); };
  const SolveOutcome second = solve_for_time(s.request);
  REQUIRE(second.fastest);
  CHECK(!same_program(*second.schedule, *free.schedule));
  CHECK(second.fastest->period >= free.fastest->period);
  s.choice->can_be_written = [](const Problem&, const Schedule&) { return false; };
  const SolveOutcome none = solve_for_time(s.request);
  CHECK(!none.fastest);
  REQUIRE(none.schedule);
  CHECK(none.status == Status::Optimal);
}

TEST_CASE("demands hold for the order that is chosen", "[solver]") {
  Subject s("attention_forward_hopper", "h100", {{"KV", 176}});  // three stages, unless told otherwise
  UserConstraint fewer{"at most 2 stages", true, ConstraintKind::MaxStages, {}, "", 0, 2};
  s.request.constraints.push_back(fewer);
  const SolveOutcome outcome = solve_for_time(s.request);
  REQUIRE(outcome.schedule);
  CHECK(stage_count(*outcome.schedule) <= 2);
  CHECK(check(s.request.problem, *outcome.schedule, s.request.constraints).valid());
}

TEST_CASE("an II that was asked for, and a kernel that cannot be predicted, keep the solver's schedule", "[solver]") {
  Subject s("attention_forward_hopper", "h100");
  s.request.ii = 2100;
  CHECK(!solve_for_time(s.request).fastest);
  s.request.ii.reset();
  s.choice->predict = [](const Problem&, const Schedule&, const std::stop_token&) { return std::nullopt; };
  const SolveOutcome outcome = solve_for_time(s.request);
  CHECK(!outcome.fastest);
  CHECK(outcome.status == Status::Optimal);
}

TEST_CASE("nothing on the scoreboard of attention and SwiGLU is predicted to be faster than the default", "[solver]") {
  expect_fastest("attention_forward_hopper", "h100");
  expect_fastest("swiglu_dual_gemm_hopper", "h100");
}

TEST_CASE("nothing on any shipped kernel's scoreboard is predicted to be faster than the default", "[.slow][solver]") {
  for (const LibraryEntry& machine : list_library(Shelf::Machines))
    for (const LibraryEntry& kernel : list_library(Shelf::Kernels)) expect_fastest(kernel.name, machine.name);
}
