// The least program against all programs written down one by one, and what is claimed about it.
#include "solver/programs/least_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "core/check/checker.h"
#include "solver/programs/local_search.h"
#include "tests/support/small_attention.h"

using namespace heddle;
using namespace heddle::programs;
using test::small_attention;
using test::small_attention_schedule;

namespace {

/// All streams of one group of four ops: every order with every choice of stages that keeps S before P before C before O.
std::vector<Order> all_streams(std::size_t first_op, int stages) {
  std::vector<Order> streams;
  std::vector<std::size_t> rest{1, 2, 3};
  do {
    std::vector<std::size_t> place(4, 0);
    for (std::size_t i = 0; i < 3; ++i) place[rest[i]] = i + 1;
    for (int code = 0; code < stages * stages * stages; ++code) {
      const int stage[4] = {0, code % stages, code / stages % stages, code / stages / stages};
      const auto time = [&](std::size_t v) { return stage[v] * 4 + static_cast<int>(place[v]); };
      if (time(0) >= time(1) || time(1) >= time(2) || time(2) >= time(3)) continue;
      Order stream{{OpId(first_op), 0}};
      for (const std::size_t v : rest) stream.push_back({OpId(first_op + v), stage[v]});
      streams.push_back(std::move(stream));
    }
  } while (std::next_permutation(rest.begin(), rest.end()));
  return streams;
}

/// The least period by running everything: all streams of both groups, with one turn for each group, or two.
motion::MotionPeriod least_by_hand(const Problem& problem, bool two_turns) {
  motion::MotionPeriod least;
  const OpId s0(0), o0(3), s1(4), o1(7);
  timing::LoopProgram program;
  program.depths.assign(problem.channels.size(), 0);
  program.streams.resize(2);
  for (const std::vector<OpId>& turns :
       {std::vector{s0, o0, s1, o1}, {s0, o0, o1, s1}, {o0, s0, s1, o1}, {o0, s0, o1, s1}, {s0, s1, o0, o1}}) {
    if (!two_turns && turns[1] == s1) continue;
    program.turns = {turns};
    for (const Order& a : all_streams(0, 3))
      for (const Order& b : all_streams(4, 3)) {
        program.streams = {a, b};
        const motion::MotionPeriod period = motion::motion_of(problem, program).period;
        if (motion::shorter(period, least)) least = period;
      }
  }
  return least;
}

}  // namespace

TEST_CASE("no program written down by hand is shorter than the least of the enumeration", "[solver][programs]") {
  for (const bool same : {true, false}) {
    CAPTURE(same);
    const Problem problem = small_attention(same, 16);
    LeastOptions options;
    options.rules.more_lag = true;
    const LeastProgram answer = least_program(problem, {{"one by one", small_attention_schedule(problem)}}, options);
    CHECK(answer.why == "");
    CHECK(answer.standing == ProgramStanding::LeastOfAll);
    CHECK(answer.compared <= answer.programs);
    // Of copies with two turns each the programs of one way round are counted (space.h).
    const motion::MotionPeriod by_hand = least_by_hand(problem, !same);
    REQUIRE(by_hand.iterations > 0);
    if (same) CHECK(answer.top.front().period.cycles() <= by_hand.cycles() * 1.0001);
    if (!same) CHECK(answer.top.front().period.cycles() == Approx(by_hand.cycles()).epsilon(1e-4));
  }
}

TEST_CASE("programs of two copies count once for both ways round", "[solver][programs]") {
  const Problem problem = small_attention();
  const Assembly assembly(problem, small_attention_schedule(problem), {});
  const ProgramSpace space = program_space(assembly);
  std::int64_t one_turn = 0, two_turns = 0;
  for (const GroupProgram& circle : space.groups.front().circles) (circle.runs.size() == 1 ? one_turn : two_turns) += 1;
  Ranking ranking(40, 4);
  const Enumeration found = enumerate(assembly, space, ranking);
  CHECK(found.programs == one_turn * (one_turn + 1) / 2 + two_turns * (two_turns + 1) / 2);
  CHECK(found.complete);
}

TEST_CASE("the answer's schedule passes the checker and stands for the program", "[solver][programs]") {
  const Problem problem = small_attention(true, 16);
  const LeastProgram answer = least_program(problem, {{"one by one", small_attention_schedule(problem)}});
  REQUIRE(answer.schedule);
  CHECK(check(problem, *answer.schedule).valid());
  CHECK(motion::motion_of(problem, *answer.schedule).period.cycles() == Approx(answer.period.cycles()));
  CHECK_THAT(answer.sentence, Catch::Contains("the least of all") && Catch::Contains("no program at all is below"));
  CHECK(answer.gap() >= 0);
}

TEST_CASE("with too many programs the answer comes from changed orders and claims the bound only", "[solver][programs]") {
  const Problem problem = small_attention();
  LeastOptions options;
  options.most_programs = 10;
  options.local_programs = 500;
  const std::vector<KnownProgram> known{{"one by one", small_attention_schedule(problem)}};
  const LeastProgram found = least_program(problem, known, options), again = least_program(problem, known, options);
  CHECK(found.standing == ProgramStanding::WithinPercentOfBound);
  CHECK_THAT(found.sentence, Catch::Contains("not all were compared"));
  CHECK(found.compared <= 500);
  CHECK(found.period.cycles() == again.period.cycles());
  // Of all programs only the fewest stages of each order are compared: what a search found with more stages counts beside them.
  REQUIRE(found.schedule);
  const LeastProgram least = least_program(problem, {known.front(), {"found", *found.schedule}});
  CHECK_FALSE(motion::shorter(found.period, least.top.front().period));
  CHECK_FALSE(motion::shorter(motion::motion_of(problem, known.front().schedule).period, found.period));
}

TEST_CASE("without numbers of contention, or with a demand for a cycle, nothing is claimed", "[solver][programs]") {
  Problem problem = small_attention();
  const std::vector<KnownProgram> known{{"one by one", small_attention_schedule(problem)}};
  LeastOptions options;
  UserConstraint pin;
  pin.ops = {"S0"};
  pin.low = known.front().schedule.start(OpId(0));
  options.rules.constraints = {pin};
  for (const bool contention : {true, false}) {
    problem.contention.known = contention;
    const LeastProgram answer = least_program(problem, known, options);
    CHECK(answer.standing == ProgramStanding::ByPrediction);
    REQUIRE(answer.schedule);
    CHECK(same_program(*answer.schedule, known.front().schedule));
    CHECK(answer.why != "");
  }
}

TEST_CASE("a stopped question answers with what is known", "[solver][programs]") {
  const Problem problem = small_attention();
  std::stop_source stop;
  stop.request_stop();
  const LeastProgram answer = least_program(problem, {{"one by one", small_attention_schedule(problem)}}, {}, stop.get_token());
  CHECK(answer.standing != ProgramStanding::LeastOfAll);
  CHECK(answer.schedule);
}

TEST_CASE("progress tells how many programs were run and the least so far", "[solver][programs]") {
  const Problem problem = small_attention();
  std::int64_t last = 0;
  double least = 0;
  least_program(problem, {{"one by one", small_attention_schedule(problem)}}, {}, {}, [&](const EnumerationProgress& progress) {
    CHECK(progress.programs >= last);
    CHECK(progress.programs <= progress.of);
    if (least > 0) CHECK(progress.least.cycles() <= least);
    last = progress.programs;
    least = progress.least.cycles();
  });
  CHECK(last > 0);
}
