// Which programs there are: counts on the shipped attention kernels and on a small loop whose programs can be written down one by one.
#include "solver/programs/space.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "core/check/checker.h"
#include "solver/programs/least_program.h"
#include "tests/support/small_attention.h"

using namespace heddle;
using namespace heddle::programs;
using test::small_attention;
using test::small_attention_schedule;

TEST_CASE("a circle of four ops has six orders, of which those that keep dependences in few enough stages count", "[solver][programs]") {
  const Problem problem = small_attention();
  const Schedule seed = small_attention_schedule(problem);
  REQUIRE(check(problem, seed).valid());
  for (const auto& [stages, keep] : {std::pair(1, 1), std::pair(2, 5), std::pair(3, 6)}) {
    CAPTURE(stages);
    Rules rules;
    rules.stages = stages;
    const ProgramSpace space = program_space(Assembly(problem, seed, rules));
    REQUIRE(space.groups.size() == 2);
    CHECK(space.groups[0].counts.seen == 6);
    CHECK(space.groups[0].counts.keep_dependences == keep);
  }
}

TEST_CASE("registers cut orders that hold a tile too long", "[solver][programs]") {
  const Problem problem = small_attention(true, 64);
  const Assembly roomy(problem, small_attention_schedule(problem), {});
  Rules tight;
  tight.registers = 70;  // one tile and little else
  const Assembly cut(problem, small_attention_schedule(problem), tight);
  const OrderCounts all = program_space(roomy).groups.front().counts;
  const ProgramSpace few = program_space(cut);
  CHECK(all.fit == all.keep_dependences);
  CHECK((few.groups.empty() ? 0 : few.groups.front().counts.fit) < all.fit);
}

TEST_CASE("groups that are copies of each other have the same circles, others do not", "[solver][programs]") {
  for (const bool same : {true, false}) {
    const Problem problem = small_attention(same);
    const ProgramSpace space = program_space(Assembly(problem, small_attention_schedule(problem), {}));
    CHECK(space.refusal.empty());
    CHECK(space.copies == same);
  }
}

TEST_CASE("two products are in one turn, which begins with either, or in two", "[solver][programs]") {
  const Problem problem = small_attention();
  const ProgramSpace space = program_space(Assembly(problem, small_attention_schedule(problem), {}));
  std::set<Runs> runs;
  for (const GroupProgram& circle : space.groups.front().circles) runs.insert(circle.runs);
  CHECK(runs == std::set<Runs>{{0}, {1}, {0, 1}});
}

TEST_CASE("the digest is the same each time and another one for other programs", "[solver][programs]") {
  const Problem problem = small_attention();
  const auto digest = [&](int stages) {
    Rules rules;
    rules.stages = stages;
    return program_space(Assembly(problem, small_attention_schedule(problem), rules)).digest;
  };
  CHECK(digest(3) == digest(3));
  CHECK(digest(3) != digest(2));
  CHECK(digest(3).size() == 16);
}

TEST_CASE("a demand for a cycle is refused with the reason, one for an order is kept", "[solver][programs]") {
  const Problem problem = small_attention();
  const Schedule seed = small_attention_schedule(problem);
  UserConstraint pin;
  pin.name = "early S";
  pin.ops = {"S0"};
  CHECK_THAT(refused_demand(problem, seed, {pin}), Catch::Contains("early S") && Catch::Contains("names a cycle"));
  UserConstraint order;
  order.kind = ConstraintKind::Before;
  order.ops = {"S0", "O0"};
  CHECK(refused_demand(problem, seed, {order}).empty());
  order.ops = {"S0", "O1"};
  CHECK_FALSE(refused_demand(problem, seed, {order}).empty());
}

TEST_CASE("of orders whose ops wait for the whole iteration before only one is left", "[solver][programs]") {
  const Problem problem = small_attention();
  UserConstraint one_by_one;
  one_by_one.kind = ConstraintKind::OneByOne;
  Rules rules;
  rules.constraints = {one_by_one};
  const ProgramSpace space = program_space(Assembly(problem, small_attention_schedule(problem), rules));
  CHECK(space.groups.front().counts.keep_dependences == 1);
}

TEST_CASE("a search that is stopped has no space", "[solver][programs]") {
  const Problem problem = small_attention();
  const Assembly assembly(problem, small_attention_schedule(problem), {});
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(program_space(assembly, {.stop = stop.get_token()}).refusal.empty());
  CHECK_FALSE(program_space(assembly, {.most_orders = 2}).refusal.empty());
}
