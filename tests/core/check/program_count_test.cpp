// The checker's own count of programs: attention's are known, small loops can be counted by hand.
#include "core/check/program_count.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "core/base/hash.h"
#include "core/check/period_bound.h"
#include "tests/support/attention_loop.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;
using namespace heddle::check_period;

namespace {

struct Counts {
  std::int64_t orders, circles, programs;
  bool operator==(const Counts&) const = default;
};

Counts counts(const Problem& p, const CountedSpace& space) {
  const ProgramCount c = count_programs(p, space);
  INFO(c.refused);
  CHECK(c.refused.empty());
  return {c.orders, c.circles, c.programs};
}

}  // namespace

TEST_CASE("attention at 128 keys: 734 orders fit the registers, 173 circles differ, 75 082 programs", "[core]") {
  const Problem p = attention_loop(Attention::Plain, 128);
  const ProgramCount c = count_programs(p, {3, 240});
  CHECK(c.refused.empty());
  CHECK(c.copies);
  CHECK(c.groups == 2);
  CHECK(c.in_stages == 30197);
  CHECK(c.orders == 734);
  CHECK(c.circles == 173);
  CHECK(c.programs == 75082);
  Hash hash;
  for (const std::string& signature : c.signatures) hash.add(signature);
  CHECK(c.digest == hash.hex());
  CHECK(std::is_sorted(c.signatures.begin(), c.signatures.end()));
  CHECK(c.signatures.size() == 3 * 173);
}

TEST_CASE("attention at 176 keys: 283 orders, 59 circles, 8 791 programs", "[core]") {
  CHECK(counts(attention_loop(Attention::Plain, 176), {3, 240}) == Counts{283, 59, 8791});
}

// The study behind the rule counted 221 circles and 122 434 programs, because it kept waits that another wait covers.
TEST_CASE("causal attention: 1 122 orders, 218 circles, 119 137 programs", "[core][.slow]") {
  CHECK(counts(attention_loop(Attention::Causal, 128), {3, 240}) == Counts{1122, 218, 119137});
}

TEST_CASE("the digest does not depend on how the problem lists edges and values, and does on what fits", "[core]") {
  const Problem p = attention_loop(Attention::Plain, 176);
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Problem mixed = p;
    std::shuffle(mixed.edges.begin(), mixed.edges.end(), random);
    CHECK(count_programs(mixed, {3, 240}).digest == count_programs(p, {3, 240}).digest);
  }
  CHECK(count_programs(p, {3, 220}).digest != count_programs(p, {3, 240}).digest);
}

TEST_CASE("a product and two free ops make two orders in one group, and one circle", "[core]") {
  Problem p = empty_problem();
  add_unit(p, "TC");
  p.units[0].role = UnitRole::Tensor;
  const OpId mma = add_op(p, "mma", 64, 0, {{UnitId(0), 0, 64, 1, 0}});
  p.ops.back().asynchronous = true;
  p.ops.back().instructions = 1;
  const OpId a = add_op(p, "a", 4, 4), b = add_op(p, "b", 4, 4);
  for (const OpId op : {a, b}) {
    Edge& e = add_edge(p, mma, op, 64);
    e.waits = true;
  }
  const ProgramCount c = count_programs(p, {2, 0});
  CHECK(c.groups == 1);
  CHECK(c.orders == 2);
  CHECK(c.circles == 1);
  CHECK(c.programs == 1);
  CHECK(c.signatures == std::vector<std::string>{"i0 w0 a{1,2}"});
  // An order with a dependence against it costs a stage.
  add_edge(p, a, b, 4);
  CHECK(count_programs(p, {1, 0}).orders == 1);
  CHECK(count_programs(p, {2, 0}).orders == 2);
}

TEST_CASE("what cannot be counted is refused with the reason", "[core]") {
  Problem three = empty_problem();
  for (const char* name : {"a", "b", "c"}) add_op(three, name, 1, 1);
  CHECK(count_programs(three, {}).refused.find("3 groups") == 0);
  Problem large = empty_problem();
  OpId before = add_op(large, "0", 1, 1);
  for (std::size_t i = 1; i <= kMostOps; ++i) {
    const OpId op = add_op(large, std::to_string(i), 1, 1);
    add_edge(large, before, op, 1);
    before = op;
  }
  CHECK(count_programs(large, {}).refused.find("12 ops in a group") == 0);
}

TEST_CASE("a count that is stopped says so", "[core]") {
  std::stop_source stop;
  stop.request_stop();
  CHECK(count_programs(attention_loop(Attention::Plain, 128), {3, 240}, stop.get_token()).stopped);
}

TEST_CASE("every program that is visited is one of those counted, and as many are visited", "[core]") {
  const Problem p = attention_loop(Attention::Plain, 176);
  std::int64_t visited = 0, outside = 0;
  const ProgramCount all = count_programs(p, {3, 240});
  visit_programs(p, {3, 240}, [&](const JudgedProgram& program) {
    if (visited++ % 97 == 0) outside += !is_counted(p, all, program);
    return true;
  });
  CHECK(visited == all.programs);
  CHECK(outside == 0);
}

TEST_CASE("the bound of attention is the tensor core's work with the reads that delay it", "[core]") {
  const PeriodSums sums = period_sums(attention_loop(Attention::Plain, 128));
  CHECK(sums.tensor == 2048);
  CHECK((sums.reads + kTicks / 2) / kTicks == 937);
  CHECK(sums.per_read == 220);
  CHECK(sums.sentence == "tensor core 2048 + 937 register reads that delay it 206 = 2254 cycles");
  CHECK(period_sums(attention_loop(Attention::Plain, 176)).sentence ==
        "tensor core 2816 + 1230 register reads that delay it 271 = 3087 cycles");
  Problem idle = attention_loop(Attention::Plain, 128);
  idle.contention.product_per_read = {};
  CHECK(period_sums(idle).ticks == 2048 * kTicks);
  idle.contention.product_per_read = {{900, 900, 900, {}}, {900, 900, 900, {}}};
  CHECK(period_sums(idle).per_read == 333);  // cheaper beside an idle tensor core
}

TEST_CASE("no program of attention at 176 keys is below 3 174, and the least is the order that was measured fastest", "[core][.slow]") {
  const Problem p = attention_loop(Attention::Plain, 176);
  const LeastByRule least = least_by_rule(p, {3, 240});
  CHECK(least.count.programs == 8791);
  CHECK(least.period.cycles() == Approx(3234).epsilon(0.001));
  CHECK(least.period.grains * kTicks / kGrains >= period_sums(p).ticks * least.period.iterations);
  std::string order;
  for (const Placed& placed : least.program.groups[0]) order += (order.empty() ? "" : " ") + p.op(placed.op).name;
  CHECK(order.find("QK0 rescale0 PV0 max0") == 0);
}

TEST_CASE("the least of all programs of attention at 128 keys takes 2 405 cycles", "[core][.slow]") {
  const Problem p = attention_loop(Attention::Plain, 128);
  const LeastByRule least = least_by_rule(p, {3, 240});
  CHECK(least.count.programs == 75082);
  CHECK(least.period.cycles() == Approx(2405).epsilon(0.001));
}
