// A problem and a schedule made by hand, for tests of the chart.
#include "tests/support/gantt_fixture.h"

#include <fmt/format.h>

namespace heddle::test {
namespace {

void add_op(GanttCase& c, std::string name, std::vector<UnitUse> uses, Cycle latency, Cycle window, Cycle start, int group, int warps = 4) {
  Op op;
  op.name = std::move(name);
  op.uses = std::move(uses);
  op.latency = latency;
  op.window = window;
  op.warps = warps;
  c.problem.ops.push_back(op);
  c.schedule.ops.push_back({start, GroupId(static_cast<std::size_t>(group))});
}

void add_edge(GanttCase& c, const char* from, const char* to, int distance = 0) {
  Edge edge;
  edge.from = c.problem.find_op(from);
  edge.to = c.problem.find_op(to);
  edge.latency = c.problem.op(edge.from).latency;
  edge.distance = distance;
  c.problem.edges.push_back(edge);
}

UnitUse use(std::size_t unit, Cycle duration, std::int64_t amount = 1) { return {UnitId(unit), 0, duration, amount}; }

int pick(std::mt19937& random, int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); }

}  // namespace

GanttCase toy_case() {
  GanttCase c;
  c.problem.kernel = c.schedule.kernel = "toy_fig1";
  c.problem.machine = c.schedule.machine = "toy";
  c.problem.units = {{"TC", UnitRole::Tensor, 1, {}, {}}, {"EXP", UnitRole::Special, 1, {}, {}}};
  c.problem.limits.smem_bytes = 4096;
  c.schedule.ii = 2;
  c.schedule.groups = {{"consumer A", 1, 0}};
  add_op(c, "S", {use(0, 1)}, 1, 0, 0, 0, 1);
  add_op(c, "P", {use(1, 1)}, 1, 0, 1, 0, 1);
  add_op(c, "O", {use(0, 1)}, 1, 0, 3, 0, 1);
  add_edge(c, "S", "P");
  add_edge(c, "P", "O");
  add_edge(c, "O", "O", 1);
  return c;
}

GanttCase attention_case() {
  GanttCase c;
  c.problem.kernel = c.schedule.kernel = "attention";
  c.problem.machine = c.schedule.machine = "h100";
  c.problem.units = {{"TMA", UnitRole::Copy, 1, {}, {}},     {"TC", UnitRole::Tensor, 1, {}, {}}, {"SMEM", UnitRole::Smem, 128, {}, {}},
                     {"MUFU", UnitRole::Special, 1, {}, {}}, {"FMA", UnitRole::Float, 1, {}, {}}, {"ALU", UnitRole::Alu, 1, {}, {}}};
  c.problem.limits.smem_bytes = 232448;
  c.schedule.ii = 2048;
  c.schedule.groups = {{"producer", 1, 24}, {"consumer A", 4, 240}};
  add_op(c, "load K", {use(0, 190)}, 700, 8, 0, 0, 1);
  add_op(c, "load V", {use(0, 190)}, 700, 8, 640, 0, 1);
  add_op(c, "QK", {use(1, 512), use(2, 512, 96)}, 560, 16, 720, 1);
  add_op(c, "row max", {use(5, 128)}, 140, 128, 1280, 1);
  add_op(c, "exp2", {use(3, 512), use(4, 128)}, 530, 512, 1420, 1);
  add_op(c, "row sum", {use(4, 64)}, 70, 64, 1950, 1);
  add_op(c, "rescale", {use(4, 96)}, 100, 96, 2048 + 600, 1);
  add_op(c, "PV", {use(1, 512), use(2, 512, 64)}, 560, 16, 2048 + 1300, 1);
  add_op(c, "arrive", {}, 20, 4, 4096 + 20, 1);
  add_edge(c, "load K", "QK");
  add_edge(c, "load V", "PV");
  add_edge(c, "QK", "row max");
  add_edge(c, "row max", "exp2");
  add_edge(c, "exp2", "row sum");
  add_edge(c, "row max", "rescale");
  add_edge(c, "rescale", "PV");
  add_edge(c, "exp2", "PV");
  add_edge(c, "PV", "rescale", 1);
  add_edge(c, "row max", "row max", 1);
  add_edge(c, "PV", "arrive");
  return c;
}

GanttCase random_case(std::mt19937& random) {
  GanttCase c;
  const UnitRole roles[] = {UnitRole::Tensor, UnitRole::Copy, UnitRole::Special, UnitRole::Float, UnitRole::Alu, UnitRole::Smem};
  const int units = pick(random, 1, 6);
  for (int u = 0; u < units; ++u) c.problem.units.push_back({fmt::format("U{}", u), roles[u], pick(random, 1, 3), {}, {}});
  c.schedule.ii = pick(random, 1, 40);
  const int groups = pick(random, 1, 3);
  for (int g = 0; g < groups; ++g) c.schedule.groups.push_back({fmt::format("group {}", g), 4, 128});
  const int ops = pick(random, 1, 12);
  for (int v = 0; v < ops; ++v) {
    std::vector<UnitUse> uses;
    for (int n = pick(random, 0, 2); n > 0; --n)
      uses.push_back({UnitId(random() % static_cast<unsigned>(units)), pick(random, 0, 5), pick(random, 0, 60), 1});
    add_op(c, fmt::format("op{}", v), uses, pick(random, 0, 80), pick(random, 0, 10), pick(random, 0, 120), pick(random, 0, groups - 1));
  }
  for (int e = pick(random, 0, 12); e > 0; --e) {
    const int from = pick(random, 0, ops - 1), to = pick(random, 0, ops - 1);
    add_edge(c, fmt::format("op{}", from).c_str(), fmt::format("op{}", to).c_str(), from < to ? pick(random, 0, 2) : pick(random, 1, 2));
  }
  return c;
}

GanttCase large_case(int ops) {
  GanttCase c = attention_case();
  c.problem.ops.clear();
  c.problem.edges.clear();
  c.schedule.ops.clear();
  c.schedule.groups.push_back({"consumer B", 4, 240});
  c.schedule.ii = std::max(1, ops) * 16;
  for (int v = 0; v < ops; ++v)
    add_op(c, fmt::format("op {}", v), {use(static_cast<std::size_t>(v % 6), 40 + v % 7)}, 60, 8, v * 16, v % 3);
  for (int v = 3; v < ops; ++v) add_edge(c, fmt::format("op {}", v - 3).c_str(), fmt::format("op {}", v).c_str());
  return c;
}

}  // namespace heddle::test
