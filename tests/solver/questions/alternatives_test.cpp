// Alternatives: counts that can be known by hand, limits, and honest partial answers.
#include "solver/questions/alternatives.h"

#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "tests/support/problem_builder.h"

using namespace heddle;
using namespace heddle::solver;
using heddle::test::ProblemBuilder;

namespace {

/// `count` independent ops of one cycle on one unit, in one group and one stage: count! orders of one iteration, every
/// `count` of which are one cyclic order begun elsewhere.
Problem independent(int count) {
  ProblemBuilder b({"A"});
  for (int i = 0; i < count; ++i) b.op("op" + std::to_string(i), "A", 1, 1);
  b.problem.max_groups = 1;
  return b.problem;
}

AlternativesRequest ask(Problem problem, int count, Aspect aspect = Aspect::Any) {
  AlternativesRequest request;
  request.solve.problem = std::move(problem);
  request.count = count;
  request.aspect = aspect;
  return request;
}

}  // namespace

TEST_CASE("independent ops of one group come in every order, and every cyclic order", "[solver]") {
  for (const auto& [ops, orders] : {std::pair<int, std::size_t>(2, 2), {3, 6}, {4, 24}}) {
    const Alternatives answer = find_alternatives(ask(independent(ops), 100));
    CAPTURE(ops, answer.fault);
    CHECK(answer.exact);
    CHECK_FALSE(answer.more);
    CHECK(answer.found.size() == orders);
    CHECK(find_alternatives(ask(independent(ops), 100, Aspect::Order)).found.size() == orders / static_cast<std::size_t>(ops));
    CHECK(find_alternatives(ask(independent(ops), 100, Aspect::Groups)).found.size() == 1);
  }
}

TEST_CASE("with the count reached, one more query says whether there are others", "[solver]") {
  const Alternatives some = find_alternatives(ask(independent(4), 3));
  CHECK(some.found.size() == 3);
  CHECK(some.more);
  CHECK_FALSE(some.exact);
  const Alternatives all = find_alternatives(ask(independent(3), 6));
  CHECK(all.found.size() == 6);
  CHECK(all.exact);
  const Alternatives one = find_alternatives(ask(independent(4), 1));
  CHECK(one.found.size() == 1);
  CHECK(one.more);
}

TEST_CASE("every alternative is as good as the first, legal, and streamed as it is found", "[solver]") {
  ProblemBuilder b({"TC", "EXP"});
  const OpId s = b.async_op("S", "TC", 4, 5), p = b.op("P", "EXP", 5, 5), o = b.async_op("O", "TC", 4, 5);
  const OpId s2 = b.async_op("S2", "TC", 4, 5), p2 = b.op("P2", "EXP", 5, 5), o2 = b.async_op("O2", "TC", 4, 5);
  for (const auto& [x, y] : {std::pair(s, p), {p, o}, {s2, p2}, {p2, o2}}) b.edge(x, y);
  b.edge(o, o, 1);
  b.edge(o2, o2, 1);
  b.problem.max_groups = 2;
  const AlternativesRequest request = ask(b.problem, 12);
  std::size_t streamed = 0;
  const Alternatives answer = find_alternatives(request, {}, [&](const Alternative& a) {
    ++streamed;
    CHECK(check(b.problem, a.schedule).valid());
    CHECK(a.period <= a.schedule.ii);
  });
  CHECK(streamed == answer.found.size());
  REQUIRE(answer.found.size() == 12);
  for (std::size_t i = 1; i < answer.found.size(); ++i) {
    CHECK(stage_count(answer.found[i].schedule) == stage_count(answer.found[0].schedule));
    CHECK(answer.found[i].nearest >= 1);
    CHECK(answer.found[i].nearest <= answer.found[i].distance);
    CHECK_FALSE(answer.found[i].differences.empty());
  }
  // The same again: same request, same answer.
  const Alternatives again = find_alternatives(request);
  for (std::size_t i = 0; i < 12; ++i) CHECK(again.found[i].differences == answer.found[i].differences);
}

TEST_CASE("an infeasible problem has no alternatives, and the reason is passed on", "[solver]") {
  AlternativesRequest request = ask(independent(3), 5);
  request.solve.ii = 2;
  const Alternatives answer = find_alternatives(request);
  CHECK(answer.found.empty());
  CHECK(answer.first.status == Status::Infeasible);
  CHECK_FALSE(answer.exact);
}

TEST_CASE("a stop or no time leaves a partial answer that says so", "[solver]") {
  std::stop_source stop;
  const Alternatives cut = find_alternatives(ask(independent(7), 500), stop.get_token(), [&](const Alternative&) { stop.request_stop(); });
  CHECK(cut.cancelled);
  CHECK(cut.found.size() == 1);
  CHECK_FALSE(cut.exact);
  AlternativesRequest hasty = ask(independent(7), 500);
  hasty.solve.timeout_seconds = 0;
  const Alternatives none = find_alternatives(hasty);
  CHECK(none.timed_out);
  CHECK_FALSE(none.exact);
}

TEST_CASE("a group that the user names keeps its number", "[solver]") {
  Problem problem = test::toy_problem();
  AlternativesRequest request = ask(problem, 5);
  UserConstraint in;
  in.name = "P apart";
  in.kind = ConstraintKind::InGroup;
  in.ops = {"P"};
  in.low = 1;
  request.solve.constraints = {in};
  const Alternatives answer = find_alternatives(request);
  REQUIRE_FALSE(answer.found.empty());
  CHECK(answer.fault.empty());
  for (const Alternative& a : answer.found) CHECK(a.schedule.ops[1].group == GroupId(1));
}
