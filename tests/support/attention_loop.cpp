// Costs of ops in cycles of one warp, its register reads, special functions and instructions; `e` elements of a tile per thread.
#include "tests/support/attention_loop.h"

#include <cmath>

#include "tests/support/small_problem.h"

namespace heddle::test {
namespace {

struct Costs {
  double cycles = 0, reads = 0, specials = 0, issue = 0, exposed = 0;
};

RangedNumber exactly(std::int64_t value) { return {value, value, value, "by hand"}; }

class Tile {
 public:
  Tile(Problem& problem, Attention kind, int keys, int group)
      : p_(problem), fp8_(kind >= Attention::Fp8), keys_(keys), tail_(std::to_string(group)) {
    const double e = keys / 2.0;
    const int tile = keys / 2, packed = fp8_ ? tile / 4 : tile / 2;
    const OpId qk = product("QK", fp8_ ? 4 : 8, keys / 2, false);
    const OpId maximum = arithmetic("max", {2 * (e + 4) + 22, 2 * e + 8, 0, e + 12}, 2);
    p_.ops.back().kind = "reduce_max";
    const OpId alpha = arithmetic("alpha", {24, 4, 2, 6}, 2);
    const OpId sub = arithmetic("sub", {e, (fp8_ ? 2.0 : 1.0) * e, 0, e}, tile);
    const OpId exp = arithmetic("exp", {9.625 * e + 22, 0, e, e}, tile);
    const OpId sum = arithmetic("sum", {e, 2.4 * e, 0, e}, 2);
    Costs convert{e, (fp8_ ? 1.2 : 0.7) * e, 0, e / 2};
    if (kind == Attention::Fp8Shuffled) convert = {e + 112, convert.reads + 100, 0, e / 2 + 80, 112};
    const OpId cvt = arithmetic("cvt", convert, packed);
    const OpId rescale = arithmetic("rescale", {64, 66, 0, 64}, 64);
    const OpId pv = product("PV", keys / (fp8_ ? 32 : 16), 64, true);
    OpId scores = qk, exponents = maximum;
    if (kind == Attention::Causal) edge(qk, scores = arithmetic("mask", {20, 0, 0, 10}, tile)).waits = true;
    edge(scores, maximum).waits = scores == qk;
    edge(scores, sub).waits = scores == qk;
    edge(maximum, maximum, 1);
    edge(maximum, alpha, 1);
    edge(maximum, alpha);
    if (fp8_) edge(maximum, exponents = arithmetic("shift", {8, 3, 0, 4}, 2));
    edge(exponents, sub);
    edge(sub, exp);
    edge(exp, sum);
    edge(alpha, sum);
    edge(sum, sum, 1);
    edge(exp, cvt);
    edge(alpha, rescale);
    edge(pv, rescale, 1).waits = true;
    edge(cvt, pv).hold = 542;
    edge(rescale, pv);
  }

 private:
  OpId add(const std::string& name, Op op, int registers) {
    op.name = name + tail_;
    op.kind = name;
    op.warps = 4;
    p_.ops.push_back(op);
    const OpId id(p_.ops.size() - 1);
    add_registers(p_, id, registers);
    return id;
  }
  OpId arithmetic(const std::string& name, const Costs& c, int registers) {
    const auto whole = [](double x) { return static_cast<std::int64_t>(std::lround(x)); };
    Op op;
    op.window = op.latency = whole(c.cycles);
    op.work = {whole(256 * c.cycles), whole(256 * c.exposed), whole(256 * c.reads), whole(256 * c.specials), whole(256 * c.issue)};
    return add(name, op, registers);
  }
  OpId product(const std::string& name, int instructions, int cycles, bool from_registers) {
    Op op;
    op.latency = instructions * cycles + 30;
    op.asynchronous = true;
    op.aligned = true;
    op.instructions = instructions;
    op.from_registers = from_registers;
    op.uses = {{UnitId(0), 0, instructions * cycles, 1, 0}};
    return add(name, op, from_registers ? 64 : keys_ / 2);
  }
  Edge& edge(OpId from, OpId to, int distance = 0) {
    Edge& e = add_edge(p_, from, to, p_.op(from).latency, distance);
    e.value = ValueId(from.index());  // every op has one
    return e;
  }

  Problem& p_;
  bool fp8_;
  int keys_;
  std::string tail_;
};

}  // namespace

Contention attention_contention() {
  Contention c;
  c.known = true;
  c.in_flight = exactly(8);
  c.late_per_read = {exactly(860), exactly(300)};
  c.late_per_special = exactly(2700);
  c.product_per_read = {exactly(220), exactly(370)};
  c.product_done = exactly(44);
  c.turn = exactly(40);
  c.special_interval = exactly(9625);
  c.fence = exactly(42);  // with the look at the ring's barrier, 30, because there are no loads here
  c.register_fence = exactly(64);
  c.issue_step = exactly(12);
  c.reordered = true;
  c.hidden = exactly(10);
  return c;
}

Problem attention_loop(Attention kind, int keys) {
  Problem p = empty_problem();
  p.kernel = "attention";
  p.machine = "by hand";
  p.limits.registers_per_thread = 240;
  p.limits.register_overhead = 32;
  p.contention = attention_contention();
  add_unit(p, "TC");
  p.units[0].role = UnitRole::Tensor;
  for (const int group : {0, 1}) Tile(p, kind, keys, group);
  return p;
}

}  // namespace heddle::test
