// Signatures, distances, words and bearable delays on schedules small enough to know the answer.
#include "core/analysis/signature.h"

#include <catch2/catch.hpp>

#include "core/analysis/robustness.h"
#include "core/analysis/slack.h"
#include "core/analysis/turns.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using heddle::test::place;

namespace {

/// a -> b -> c in one cycle each, no units, windows of one cycle.
Problem chain() {
  Problem p = test::empty_problem();
  const OpId a = test::add_op(p, "a", 1, 1), b = test::add_op(p, "b", 1, 1), c = test::add_op(p, "c", 1, 1);
  test::add_edge(p, a, b, 1);
  test::add_edge(p, b, c, 1);
  return p;
}

}  // namespace

TEST_CASE("an idle shift is the same program, another order or iteration is not", "[core]") {
  const Problem p = chain();
  const Schedule first = place(p, 10, {{0, 0}, {1, 0}, {2, 0}});
  const Schedule idle = place(p, 10, {{3, 0}, {5, 0}, {9, 0}});
  const Schedule late = place(p, 10, {{0, 0}, {1, 0}, {12, 0}});      // c of the iteration before
  const Schedule swapped = place(p, 10, {{0, 0}, {12, 0}, {21, 0}});  // stream a c b
  for (const Aspect aspect : {Aspect::Groups, Aspect::Order, Aspect::Stages, Aspect::Any})
    CHECK(signature_of(p, first, aspect) == signature_of(p, idle, aspect));
  CHECK(signature_of(p, first, Aspect::Order) == signature_of(p, late, Aspect::Order));
  CHECK(signature_of(p, first, Aspect::Stages) != signature_of(p, late, Aspect::Stages));
  CHECK(signature_of(p, first, Aspect::Any) != signature_of(p, late, Aspect::Any));
  CHECK(signature_of(p, first, Aspect::Order) != signature_of(p, swapped, Aspect::Order));
  CHECK(signature_of(p, first, Aspect::Groups) == signature_of(p, swapped, Aspect::Groups));
  CHECK(signature_distance(p, first, idle) == 0);
  CHECK(signature_distance(p, first, late) == 2);
}

TEST_CASE("differences are said in the words of the schedule", "[core]") {
  const Problem p = chain();
  const Schedule first = place(p, 10, {{0, 0}, {1, 0}, {2, 0}});
  CHECK(differences(p, first, first).empty());
  CHECK(differences(p, first, place(p, 10, {{0, 0}, {1, 0}, {12, 0}})) ==
        std::vector<std::string>{"group 0: c one iteration later (seen from a)"});
  CHECK(differences(p, first, place(p, 10, {{0, 0}, {2, 0}, {1, 0}})) == std::vector<std::string>{"group 0: b after c"});
  CHECK(differences(p, first, place(p, 10, {{0, 0}, {1, 0}, {2, 1}})) == std::vector<std::string>{"c in group 1 instead of group 0"});
}

TEST_CASE("groups are told by their ops, not by their numbers", "[core]") {
  const Problem p = chain();
  const Schedule first = place(p, 10, {{0, 0}, {1, 0}, {2, 1}});
  Schedule renamed = place(p, 10, {{0, 1}, {1, 1}, {2, 0}});
  CHECK(signature_of(p, first, Aspect::Any) == signature_of(p, renamed, Aspect::Any));
  align_groups(p, first, renamed);
  CHECK(renamed.ops[0].group == GroupId(0));
  CHECK(renamed.ops[2].group == GroupId(1));
  CHECK(differences(p, first, renamed).empty());
}

TEST_CASE("ops without a window tie in the order of their numbers", "[core]") {
  Problem p = test::empty_problem();
  test::add_op(p, "busy", 1, 2);
  test::add_op(p, "u", 1);
  test::add_op(p, "v", 1);
  const Schedule schedule = place(p, 8, {{4, 0}, {12, 0}, {4, 0}});
  const std::vector<Stream> streams = streams_of(p, schedule);
  REQUIRE(streams.size() == 1);
  // From busy of iteration 0 at cycle 4: both others of the next window come before busy of iteration 1 at cycle 12.
  REQUIRE(streams[0].steps.size() == 3);
  CHECK(streams[0].steps[1].op == OpId(1));
  CHECK(streams[0].steps[1].lap == 0);
  CHECK(streams[0].steps[2].op == OpId(2));
  CHECK(streams[0].steps[2].lap == 1);
}

TEST_CASE("an op bears the delay that the tightest cycle through it leaves", "[core]") {
  Problem p = test::empty_problem();
  const OpId a = test::add_op(p, "a", 4, 1), b = test::add_op(p, "b", 3, 1), c = test::add_op(p, "c", 1, 1);
  test::add_edge(p, a, b, 4);
  test::add_edge(p, b, a, 3, 1);
  test::add_edge(p, a, c, 4);
  const Schedule schedule = place(p, 10, {{0, 0}, {4, 0}, {5, 0}});
  const std::vector<Cycle> delays = bearable_delays(p, schedule);
  CHECK(delays[0] == 3);  // 10 - (4 + 3)
  CHECK(delays[1] == 3);
  CHECK(delays[2] == 4);  // a, b, c and round the stream: 10 - (4 + 1 + 1)
  const Robustness robustness = robustness_of(p, schedule);
  CHECK(robustness.least == 3);
  CHECK(robustness.median == 3);
  CHECK(robustness.critical == 0);
}

TEST_CASE("groups take turns on a tensor unit in the order of their slots", "[core]") {
  Problem p = test::empty_problem();
  const UnitId tc = test::add_unit(p, "TC");
  p.units[tc.index()].role = UnitRole::Tensor;
  for (const char* name : {"a", "b", "c"}) test::add_op(p, name, 2, 1, {{tc, 0, 2, 1}});
  const std::vector<Turns> turns = turns_of(p, place(p, 10, {{4, 0}, {12, 1}, {8, 0}}));
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].ops == std::vector<OpId>{OpId(0), OpId(2), OpId(1)});
  CHECK(turns_of(p, place(p, 10, {{4, 0}, {12, 0}, {8, 0}})).empty());
}
