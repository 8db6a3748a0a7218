// Programs of the shipped attention kernels: as many as were counted by hand in a prototype, and none of the hand schedules is shorter than
// the least.
#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "core/library/contenders.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/timing/program.h"
#include "solver/programs/least_program.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::programs;

namespace {

Problem problem_of(const std::string& kernel, const Scope& params = {}) {
  const auto file = load_kernel(test::repository_path("kernels/" + kernel + ".json"));
  const auto machine = load_machine(test::repository_path("assets/machines/h100.json"));
  return *resolve(*file, *machine, params);
}

/// Hand schedules that are legal; where there is none one made of these streams.
std::vector<KnownProgram> known_programs(const Problem& problem, const std::vector<std::string>& streams = {}) {
  std::vector<KnownProgram> known;
  for (Contender& contender : shelf_contenders(problem))
    if (contender.schedule && check(problem, *contender.schedule).valid())
      known.push_back({contender.name, *std::move(contender.schedule)});
  if (!known.empty()) return known;
  timing::LoopProgram program;
  program.streams = *timing::parse_streams(problem, streams);
  program.depths.assign(problem.channels.size(), 2);
  return {{"by hand", timing::earliest_schedule(problem, program).schedule}};
}

struct Numbers {
  OrderCounts counts;
  std::int64_t programs;
};

void expect(const Numbers& numbers, const ProgramSpace& space, std::int64_t programs) {
  CHECK(space.refusal == "");
  CHECK(space.copies);
  REQUIRE(space.groups.size() == 2);
  for (const GroupSpace& group : space.groups) {
    CHECK(group.counts.seen == numbers.counts.seen);
    CHECK(group.counts.keep_dependences == numbers.counts.keep_dependences);
    CHECK(group.counts.fit == numbers.counts.fit);
    CHECK(group.counts.differ == numbers.counts.differ);
  }
  CHECK(programs == numbers.programs);
}

/// How many there are, without running one.
std::int64_t programs_of(const Assembly& assembly, const ProgramSpace& space) {
  Ranking none(1, 0);
  EnumerateLimits limits;
  limits.most_programs = 10'000'000;
  limits.deadline = Deadline(0);
  return enumerate(assembly, space, none, limits).programs;
}

const std::vector<std::string> kCausal{"load_k load_v@1", "QK0 PV0@1 mask0 max0 alpha0 sub0 exp0 sum0 cvt0 rescale0",
                                       "QK1 PV1@1 mask1 max1 alpha1 sub1 exp1 sum1 cvt1 rescale1"};

}  // namespace

TEST_CASE("attention has as many orders and programs as were counted", "[solver][programs]") {
  const auto count = [](const Problem& problem, const Schedule& seed, const Numbers& numbers) {
    const Assembly assembly(problem, seed, {});
    const ProgramSpace space = program_space(assembly);
    expect(numbers, space, programs_of(assembly, space));
  };
  const Problem at128 = problem_of("attention_forward_hopper", {{"KV", 128}}),
                at176 = problem_of("attention_forward_hopper", {{"KV", 176}}), causal = problem_of("attention_forward_causal_hopper");
  SECTION("128 keys") { count(at128, known_programs(at128).front().schedule, {{40'320, 30'197, 734, 173}, 75'082}); }
  SECTION("176 keys") { count(at176, known_programs(at176).front().schedule, {{40'320, 30'197, 283, 59}, 8'791}); }
  SECTION("causal") { count(causal, known_programs(causal, kCausal).front().schedule, {{362'880, 157'623, 1'122, 218}, 119'137}); }
}

TEST_CASE("ops that lag more than dependences ask for give attention no other programs: registers are too few", "[solver][programs]") {
  const Problem problem = problem_of("attention_forward_hopper", {{"KV", 176}});
  const Schedule seed = known_programs(problem).front().schedule;
  Rules rules;
  rules.more_lag = true;
  CHECK(program_space(Assembly(problem, seed, rules)).digest == program_space(Assembly(problem, seed, {})).digest);
}

namespace {

void expect_least(const Problem& problem, const std::vector<KnownProgram>& known) {
  LeastOptions options;
  options.seconds = 3600;  // the answer must not depend on how fast this machine is
  const LeastProgram answer = least_program(problem, known, options);
  CAPTURE(problem.kernel, answer.sentence, answer.why);
  CHECK(answer.standing == ProgramStanding::LeastOfAll);
  REQUIRE(answer.schedule);
  CHECK(check(problem, *answer.schedule).valid());
  CHECK(motion::motion_of(problem, *answer.schedule).period.cycles() == Approx(answer.period.cycles()));
  for (const KnownProgram& k : known) {
    CAPTURE(k.name);
    CHECK_FALSE(motion::shorter(motion::motion_of(problem, k.schedule).period, answer.top.front().period));
  }
  CHECK(answer.top.front().period.ticks >= answer.bound.ticks * answer.top.front().period.iterations);
  CHECK_THAT(answer.sentence, Catch::Contains("of 2 groups that keep the dependences in 3 stages"));
}

}  // namespace

TEST_CASE("at 176 keys no hand schedule is shorter than the least program", "[solver][programs]") {
  const Problem problem = problem_of("attention_forward_hopper", {{"KV", 176}});
  expect_least(problem, known_programs(problem));
}

TEST_CASE("at 128 keys, and with a mask, no hand schedule is shorter than the least program", "[.slow][solver][programs]") {
  const Problem problem = problem_of("attention_forward_hopper", {{"KV", 128}}), causal = problem_of("attention_forward_causal_hopper");
  expect_least(problem, known_programs(problem));
  expect_least(causal, known_programs(causal, kCausal));
}
