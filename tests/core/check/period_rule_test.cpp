// The checker's own rule of motion: a loop whose period can be told by hand, and the orders of attention that were measured.
#include "core/check/period_rule.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "core/check/period_bound.h"
#include "core/check/program_count.h"
#include "core/motion/motion.h"
#include "tests/core/check/motion_program.h"
#include "tests/support/attention_loop.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;
using namespace heddle::check_period;

namespace {

/// Two groups, each a product of eight instructions of 64 cycles and arithmetic that reads its result: QK0, soft0, QK1, soft1.
Problem two_groups(Cycle arithmetic) {
  Problem p = empty_problem();
  add_unit(p, "TC");
  p.units[0].role = UnitRole::Tensor;
  p.contention.known = true;
  for (const char* group : {"0", "1"}) {
    const OpId product = add_op(p, std::string("QK") + group, 512, 0, {{UnitId(0), 0, 512, 1, 0}});
    p.ops.back().asynchronous = true;
    p.ops.back().instructions = 8;
    const OpId soft = add_op(p, std::string("soft") + group, arithmetic, arithmetic);
    p.ops.back().work.alone = arithmetic * kTicks;
    Edge& e = add_edge(p, product, soft, 512);
    e.value = add_registers(p, product, 64);
    e.waits = true;
  }
  return p;
}

JudgedProgram in_turn(const Problem& p) {
  const auto op = [&](const char* name) { return p.find_op(name); };
  return {{{{op("QK0"), 0}, {op("soft0"), 0}}, {{op("QK1"), 0}, {op("soft1"), 0}}}, {}, {op("QK0"), op("QK1")}};
}

double period(const Problem& p, const JudgedProgram& loop) {
  const RuledPeriod found = period_by_rule(p, loop);
  INFO(found.stuck);
  CHECK(found.steady);
  REQUIRE(found.iterations > 0);
  return found.cycles();
}

struct Row {
  const char* name;
  Attention kind;
  int keys;
  const char *a, *b, *turns;
};

// clang-format off
const std::vector<Row> kRows = {
    {"default", Attention::Plain, 128, "QK max alpha sub exp rescale cvt sum PV", "sub exp sum cvt QK PV max alpha rescale", "PV0 QK0 QK1 PV1"},
    {"robust", Attention::Plain, 128, "QK sum rescale cvt PV max sub exp alpha", "exp QK sum rescale cvt PV max alpha sub", "QK0 PV0 QK1 PV1"},
    {"FA3", Attention::Plain, 128, "sum rescale cvt QK PV max alpha sub exp", "PV max alpha sub exp sum rescale cvt QK", "QK0 PV0 QK1 PV1"},
    {"x1.25", Attention::Plain, 128, "QK rescale PV max sub alpha exp sum cvt", "rescale exp sum cvt QK PV max alpha sub", "QK0 PV0 QK1 PV1"},
    {"x1.5", Attention::Plain, 128, "alpha sub exp QK sum cvt rescale PV max", "PV max alpha sub exp rescale sum QK cvt", "QK0 PV0 QK1 PV1"},
    {"x1.83", Attention::Plain, 128, "QK alpha sum rescale cvt PV max sub exp", "sum cvt rescale PV max sub exp QK alpha", "QK0 PV0 QK1 PV1"},
    {"default", Attention::Plain, 176, "sum cvt PV QK max alpha sub rescale exp", "max alpha sub exp sum rescale cvt QK PV", "PV0 QK0 QK1 PV1"},
    {"robust", Attention::Plain, 176, "PV max sub exp alpha cvt sum QK rescale", "alpha sum cvt QK rescale PV max sub exp", "QK0 PV0 QK1 PV1"},
    {"x1.83", Attention::Plain, 176, "max sub exp alpha cvt sum QK rescale PV", "alpha cvt sum QK rescale PV max sub exp", "QK0 PV0 QK1 PV1"},
    {"x1.5", Attention::Plain, 176, "sub exp rescale cvt sum QK PV max alpha", "QK PV max sub exp alpha sum rescale cvt", "QK0 PV0 QK1 PV1"},
    {"x1.25", Attention::Plain, 176, "alpha sum cvt QK max sub rescale PV exp", "sub PV exp alpha cvt sum QK rescale max", "PV1 QK0 QK1 PV0"},
    {"causal", Attention::Causal, 128, "QK mask max alpha sub exp cvt rescale PV sum", "exp sum cvt QK rescale PV mask max sub alpha", "PV0 QK0 QK1 PV1"},
    {"8 bits", Attention::Fp8, 128, "exp alpha cvt sum QK rescale PV max shift sub", "sum QK rescale PV max shift sub exp alpha cvt", "QK0 PV0 QK1 PV1"},
    {"8 bits with shuffles", Attention::Fp8Shuffled, 128, "QK rescale PV max shift sub exp alpha cvt sum",
     "alpha cvt sum QK rescale PV max shift sub exp", "QK0 PV0 QK1 PV1"},
};
// clang-format on

std::vector<OpId> ops_of(const Problem& p, const std::string& words, const std::string& tail) {
  std::vector<OpId> ops;
  std::string word;
  for (const char c : words + " ") {
    if (c != ' ') {
      word += c;
      continue;
    }
    ops.push_back(p.find_op(word + tail));
    REQUIRE(ops.back().valid());
    word.clear();
  }
  return ops;
}

JudgedProgram loop_of_row(const Problem& p, const Row& row) {
  JudgedProgram loop;
  for (const auto& [order, tail] : {std::pair(row.a, "0"), std::pair(row.b, "1")}) {
    const std::vector<OpId> ops = ops_of(p, order, tail);
    const std::vector<int> stages = least_stages(p, ops);
    loop.groups.emplace_back();
    for (std::size_t i = 0; i < ops.size(); ++i) loop.groups.back().push_back({ops[i], stages[i]});
  }
  loop.turns = ops_of(p, row.turns, "");
  return loop;
}

}  // namespace

TEST_CASE("the tensor core is the limit where both groups have their arithmetic done in the other's turn", "[core]") {
  const Problem p = two_groups(400);
  CHECK(period(p, in_turn(p)) == Approx(1024).margin(0.1));
}

TEST_CASE("a group that is the limit takes its product and its arithmetic one after the other", "[core]") {
  const Problem p = two_groups(1000);  // 512 + 1000; the other group's product fits into the arithmetic
  CHECK(period(p, in_turn(p)) == Approx(1512).margin(0.1));
}

TEST_CASE("fence, end of a product and queue add up as they stand in the machine file", "[core]") {
  Problem p = two_groups(1000);
  p.contention.fence.value = 40;
  p.contention.product_done.value = 60;
  CHECK(period(p, in_turn(p)) == Approx(40 + 512 + 60 + 1000).margin(0.1));
  // Instructions that are queued one every 100 cycles: the last begins 700 after the first.
  p.contention.issue_step.value = 100;
  CHECK(period(p, in_turn(p)) == Approx(40 + 700 + 64 + 60 + 1000).margin(0.1));
}

TEST_CASE("a group is held while as many instructions as may be are in flight, and the turn with it", "[core]") {
  Problem p = two_groups(100);
  p.contention.turn.value = 50;
  p.contention.in_flight.value = 2;
  // Accepted when the one before the one before has ended: the last at 6 * 64. Then the turn passes and the other's first waits for the
  // last two: no gap.
  CHECK(period(p, in_turn(p)) == Approx(1024).margin(0.1));
  p.contention.turn.value = 200;  // later than the last two instructions last: 384 + 200 from beginning to beginning
  CHECK(period(p, in_turn(p)) == Approx(2 * 584).margin(0.1));
}

TEST_CASE("reads beside a product delay the arithmetic, and the product by what they cost it", "[core]") {
  Problem p = two_groups(512);
  for (Op& op : p.ops)
    if (!op.asynchronous) op.work.reads = 256 * kTicks;
  p.contention.product_per_read = {{250, 250, 250, {}}, {250, 250, 250, {}}};
  // All reads lie beside the other's product, so the tensor core works 512 + 64 for each: W + d R.
  CHECK(period(p, in_turn(p)) == Approx(1024 + 2 * 64).margin(1));
  p.contention.product_per_read = {};
  p.contention.late_per_read = {{1000, 1000, 1000, {}}, {1000, 1000, 1000, {}}};
  p.contention.issue_step.value = 64;  // the turn passes when the product is done
  // The other's product has room for 512 of 768 cycles of arithmetic; its last third has the tensor core idle.
  CHECK(period(p, in_turn(p)) == Approx(512 + 512 + 512 / 3.0).margin(0.5));
}

TEST_CASE("special functions of both groups share one unit", "[core]") {
  Problem p = two_groups(1000);
  for (Op& op : p.ops)
    if (!op.asynchronous) op.work.specials = 100 * kTicks;  // 800 cycles of the unit each
  const double least = period(p, in_turn(p));
  CHECK(least >= 1600);
  CHECK(least < 1000 + 2 * 512 + 512);
}

TEST_CASE("a program that waits for itself is stuck, and it is said who waits for what", "[core]") {
  const Problem p = two_groups(100);
  JudgedProgram loop = in_turn(p);
  std::swap(loop.groups[0][0], loop.groups[0][1]);
  CHECK(period_by_rule(p, loop).iterations > 0);  // arithmetic reads the product of the round before: nothing waits for itself
  Problem crossed = two_groups(100);
  add_edge(crossed, crossed.find_op("soft0"), crossed.find_op("QK1"), 100);
  add_edge(crossed, crossed.find_op("soft1"), crossed.find_op("QK0"), 100);
  const RuledPeriod stuck = period_by_rule(crossed, in_turn(crossed));
  CHECK(stuck.iterations == 0);
  CHECK(stuck.stuck.find("group 0 waits for") != std::string::npos);
}

TEST_CASE("loads come through their rings: a ring of one slot waits for the last reader", "[core]") {
  Problem p = empty_problem();
  add_unit(p, "TC");
  p.units[0].role = UnitRole::Tensor;
  add_unit(p, "TMA");
  p.contention.known = true;
  const OpId load = add_op(p, "load", 900, 30, {{UnitId(1), 0, 256, 1, 0}});
  p.ops.back().asynchronous = p.ops.back().variable_latency = true;
  const OpId product = add_op(p, "mma", 512, 0, {{UnitId(0), 0, 512, 1, 0}});
  p.ops.back().asynchronous = true;
  p.ops.back().instructions = 8;
  Edge& e = add_edge(p, load, product, 900);
  add_channel(p, load, 1024, {{product, 0, 512, 92}});
  e.value = p.channels[0].values[0];
  JudgedProgram loop{{{{load, 0}}, {{product, 0}}}, {1}, {}};
  CHECK(period(p, loop) == Approx(900 + 512 + 92).margin(0.1));
  loop.depths = {2};
  CHECK(period(p, loop) == Approx((900 + 512 + 92) / 2.0).margin(0.1));
  loop.depths = {4};
  CHECK(period(p, loop) == Approx(512).margin(0.1));
}

TEST_CASE("orders of attention take what the other rule of motion says", "[core]") {
  for (const Row& row : kRows) {
    INFO(row.name << ", " << row.keys << " keys");
    const Problem p = attention_loop(row.kind, row.keys);
    const JudgedProgram loop = loop_of_row(p, row);
    const motion::MotionPeriod theirs = motion::motion_of(p, program_of(p, loop)).period;
    const RuledPeriod ours = period_by_rule(p, loop);
    INFO(ours.cycles() << " and " << theirs.cycles());
    CHECK(agrees(ours, theirs.ticks, theirs.iterations));
  }
}

TEST_CASE("whichever group comes first a period is the same, and none is below the sums", "[core]") {
  const Problem p = attention_loop(Attention::Plain, 128);
  const double least = static_cast<double>(period_sums(p).certain) / kTicks;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    JudgedProgram loop, swapped;
    std::vector<OpId> products[2];
    for (const std::size_t group : {0, 1}) {
      std::vector<OpId> ops;  // "QK0" to "PV0" or "QK1" to "PV1"
      for (std::size_t i = 0; i < 9; ++i) ops.push_back(OpId(9 * group + i));
      do std::shuffle(ops.begin(), ops.end(), random);
      while (least_stages(p, ops).empty());
      const std::vector<int> stages = least_stages(p, ops);
      loop.groups.emplace_back();
      for (std::size_t i = 0; i < ops.size(); ++i) loop.groups.back().push_back({ops[i], stages[i]});
      for (const OpId op : ops)
        if (is_product(p, op)) products[group].push_back(op);
    }
    swapped.groups = {loop.groups[1], loop.groups[0]};
    loop.turns = swapped.turns = {products[0][0], products[0][1], products[1][0], products[1][1]};
    const RuledPeriod one = period_by_rule(p, loop), other = period_by_rule(p, swapped);
    REQUIRE(one.iterations > 0);
    CHECK(one.cycles() == Approx(other.cycles()).epsilon(0.001));
    CHECK(one.cycles() >= least);
  }
}

TEST_CASE("without contention an attention loop is limited by the tensor core or by its own chain", "[core]") {
  Problem p = attention_loop(Attention::Plain, 128);
  const JudgedProgram loop = loop_of_row(p, kRows[2]);
  p.contention = {};
  const double cycles = period(p, loop);
  CHECK(cycles >= 2048);
  CHECK(cycles < 2450);
}

TEST_CASE("the compiler's habits can be read off a circle", "[core]") {
  const Problem p = attention_loop(Attention::Plain, 128);
  std::vector<std::size_t> number;
  for (std::size_t v = 0; v < p.ops.size(); ++v) number.push_back(v % 9);  // QK max alpha sub exp sum cvt rescale PV
  const auto text = [&](std::size_t row) { return signature(circles_of(p, loop_of_row(p, kRows[row])).groups[0], number); };
  // FA3: arithmetic between the two waits runs behind the second, half of the maximum excepted.
  CHECK(text(2) == "t i0 i8 p w0 a{1/2} w8 a{1/2,2,3,4,5,6,7}");
  // x1.25: the factors between the products run inside the first. robust: they do, too, because the wait before them joins the one before.
  CHECK(text(3) == "t f0 a{7} l0 i8 p w0 a{1/2} w8 a{1/2,2,3,4,5,6}");
  CHECK(text(1) == "t f0 a{5/2,6/2,7/2} l0 a{5/2,6/2,7/2} l0 i8 p w0 a{1/2} w8 a{1/2,2,3,4}");
}
