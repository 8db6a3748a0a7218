#include "tests/support/small_attention.h"

#include <string>

#include "core/timing/program.h"
#include "tests/support/problem_builder.h"

namespace heddle::test {
namespace {

RangedNumber number(std::int64_t value) { return {value, value / 2, value + value / 2, "test"}; }

Contention contention() {
  Contention c;
  c.known = c.reordered = true;
  c.in_flight = number(8);
  c.late_per_read = {number(800), number(600)};
  c.late_per_special = number(1500);
  c.product_per_read = {number(300), number(400)};
  c.product_done = number(57);
  c.turn = number(35);
  c.special_interval = number(9600);
  c.fence = c.issue_step = number(12);
  c.register_fence = number(64);
  c.first_loads = number(150);
  c.hidden = number(10);
  return c;
}

OpId arithmetic(ProblemBuilder& b, const std::string& name, Cycle cycles, WarpWork work) {
  const OpId id = b.op(name, "", cycles, cycles);
  b.problem.ops[id.index()].warps = 4;
  for (std::int64_t WarpWork::*part : {&WarpWork::reads, &WarpWork::specials, &WarpWork::issue}) work.*part *= 256;
  work.alone = cycles * 256;
  b.problem.ops[id.index()].work = work;
  return id;
}

OpId product(ProblemBuilder& b, const std::string& name, Cycle cycles, bool from_registers) {
  const OpId id = b.async_op(name, "tensor", cycles, cycles + 60, 4);
  Op& op = b.problem.ops[id.index()];
  op.kind = "mma";
  op.warps = 4;
  op.aligned = true;
  op.instructions = 4;
  op.from_registers = from_registers;
  return id;
}

void add_group(ProblemBuilder& b, const std::string& suffix, Cycle work, int registers) {
  const OpId s = product(b, "S" + suffix, 256, false);
  const OpId p = arithmetic(b, "P" + suffix, work, {.reads = 100, .specials = 20, .issue = 120});
  const OpId c = arithmetic(b, "C" + suffix, 60, {.reads = 40, .issue = 60});
  const OpId o = product(b, "O" + suffix, 256, true);
  b.registers(s, registers, {{p, 0}});
  b.registers(p, registers, {{c, 0}});
  b.registers(c, registers / 2, {{o, 0}});
  b.edge(o, o, 1);
}

}  // namespace

Problem small_attention(bool same, int registers) {
  ProblemBuilder b({"tensor"});
  b.problem.units.front().role = UnitRole::Tensor;
  b.problem.contention = contention();
  b.problem.barrier_wait = 30;
  add_group(b, "0", 300, registers);
  add_group(b, "1", same ? 300 : 600, registers);
  return b.problem;
}

Schedule small_attention_schedule(const Problem& problem) {
  timing::LoopProgram program;
  program.streams.resize(2);
  for (std::size_t v = 0; v < problem.ops.size(); ++v) program.streams[v / (problem.ops.size() / 2)].push_back({OpId(v), 0});
  program.depths.assign(problem.channels.size(), 1);
  return timing::earliest_schedule(problem, program).schedule;
}

}  // namespace heddle::test
