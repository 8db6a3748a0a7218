// Programs: what streams, turns and ring depths say, starts keep; and what a text may say.
#include "core/timing/program.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/analysis/period.h"
#include "core/check/checker.h"
#include "tests/support/problem_builder.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::timing;

namespace {

/// Every op in a random group, streams in a random order that respects the dependences of one iteration.
LoopProgram random_program(const Problem& problem, std::mt19937& random) {
  LoopProgram program;
  program.streams.resize(1 + random() % static_cast<std::size_t>(problem.max_groups));
  std::vector<int> waiting(problem.ops.size(), 0);
  for (const Edge& e : problem.edges) waiting[e.to.index()] += e.distance == 0;
  std::vector<std::size_t> free;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (waiting[v] == 0) free.push_back(v);
  while (!free.empty()) {
    std::swap(free[random() % free.size()], free.back());
    const std::size_t v = free.back();
    free.pop_back();
    const std::size_t group = problem.ops[v].variable_latency ? 0 : random() % program.streams.size();
    program.streams[group].push_back({OpId(v), 0});
    for (const Edge& e : problem.edges)
      if (e.distance == 0 && e.from.index() == v && --waiting[e.to.index()] == 0) free.push_back(e.to.index());
  }
  for (const Channel& channel : problem.channels)
    program.depths.push_back(1 + static_cast<int>(random() % static_cast<unsigned>(channel.max_depth)));
  return program;
}

}  // namespace

TEST_CASE("starts of a program are legal but for groups, registers and memory, and sustain their II", "[core]") {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  int timed = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Problem problem = test::random_problem(seed);
    LoopProgram program = random_program(problem, random);
    std::vector<std::string> log;
    const timing::LoopTiming timing = running_schedule(problem, program, log);
    INFO("problem " << seed << ", programs from seed " << kSeed);
    CHECK_FALSE(timing.limit.empty());
    if (timing.deadlock) continue;
    ++timed;
    for (const Violation& v : check(problem, timing.schedule).violations) {
      INFO(v.message);
      CHECK((v.family == "registers" || v.family == "memory" || v.family == "variable"));
    }
    const Period period = sustainable_period(problem, timing.schedule);
    CHECK_FALSE(period.deadlock);
    CHECK(period.cycles() <= timing.schedule.ii);
  }
  CHECK(timed > 250);
}

TEST_CASE("a stage lets an op lag behind, and turns are kept", "[core]") {
  const Problem problem = test::toy_problem();  // S and O share a unit, P lies between them
  const auto ii_of = [&](const std::string& stream) {
    const auto streams = parse_streams(problem, {stream});
    REQUIRE(streams);
    LoopProgram program;
    program.streams = *streams;
    program.depths.assign(problem.channels.size(), 1);
    const timing::LoopTiming timing = earliest_schedule(problem, program);
    REQUIRE_FALSE(timing.deadlock);
    CHECK(check(problem, timing.schedule).valid());
    return timing.schedule.ii;
  };
  CHECK(ii_of("S P O") == 3);
  CHECK(ii_of("S O@1 P") == 2);
}

TEST_CASE("whoever comes first has the tensor core, unless turns are prescribed", "[core]") {
  // Two groups, each with a short and a long way to the unit they share.
  Problem problem = test::empty_problem();
  const UnitId tc = test::add_unit(problem, "TC");
  problem.units[tc.index()].role = UnitRole::Tensor;
  const OpId late = test::add_op(problem, "late", 50, 50), a = test::add_op(problem, "A", 10, 10, {{tc, 0, 10, 1}});
  const OpId early = test::add_op(problem, "early", 5, 5), b = test::add_op(problem, "B", 10, 10, {{tc, 0, 10, 1}});
  test::add_edge(problem, late, a, 50);
  test::add_edge(problem, early, b, 5);
  LoopProgram program;
  program.streams = {{{late}, {a}}, {{early}, {b}}};
  CHECK(earliest_schedule(problem, program).schedule.start(b) == 5);
  program.turns = {{a, b}};
  CHECK(earliest_schedule(problem, program).schedule.start(b) >= 60);
}

TEST_CASE("a program that cannot run says what waits for itself, or gets the slot it lacks", "[core]") {
  Problem problem = test::empty_problem();
  const OpId load = test::add_op(problem, "load", 10), use = test::add_op(problem, "use", 10);
  test::add_edge(problem, load, use, 10);
  test::add_channel(problem, load, 16, {{use, 0, 10, 0}});
  LoopProgram program;
  program.streams = {{{load}}, {{use, 1}}};
  program.streams = {{{load, 0}, {use, 2}}};  // two more loads before the first use
  program.depths = {1};
  const timing::LoopTiming stuck = earliest_schedule(problem, program);
  CHECK(stuck.deadlock);
  CHECK(stuck.limit.find("waits for itself") != std::string::npos);
  std::vector<std::string> log;
  CHECK_FALSE(running_schedule(problem, program, log).deadlock);
  CHECK(program.depths.front() == 3);
  CHECK(log.size() == 2);
  problem.channels.front().max_depth = 2;
  program.depths = {1};
  CHECK(running_schedule(problem, program, log).deadlock);
}

TEST_CASE("faults in the text of streams are told all at once", "[core]") {
  const Problem problem = test::toy_problem();
  const auto parsed = parse_streams(problem, {"S PP O", "S O@x O@-1 O@"});
  REQUIRE_FALSE(parsed);
  const std::string text = to_string(parsed.error());
  CHECK(text.find("unknown op 'PP'") != std::string::npos);
  CHECK(text.find("'O@x'") != std::string::npos);
  CHECK(text.find("'O@-1'") != std::string::npos);
  CHECK(text.find("S comes twice") != std::string::npos);
  CHECK(text.find("P is in no stream") != std::string::npos);
  const auto good = parse_streams(problem, {"  S O@1  P "});
  REQUIRE(good);
  LoopProgram program;
  program.streams = *good;
  CHECK(stream_text(problem, program) == std::vector<std::string>{"S O@1 P"});
}
