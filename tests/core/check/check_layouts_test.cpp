// The checker's family "layout": it counts by itself, and objects to plans and problems that say otherwise.
#include <catch2/catch.hpp>

#include <random>

#include "core/check/checker.h"
#include "core/check/layouts.h"
#include "core/layout/known.h"
#include "core/layout/layout_store.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"

using namespace heddle;

namespace {

Problem backward(const LayoutChoices& choices = {}) {
  return resolve(load_kernel("attention_backward_hopper").value(), load_machine("h100").value(), {}, {}, choices).value();
}

std::vector<std::string> layout_violations(const Problem& problem) {
  Schedule s;
  s.ii = 4000;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) s.ops.push_back({static_cast<Cycle>(100 * v), GroupId(0)});
  s.groups = {{"all", 4, 240}};
  for (std::size_t c = 0; c < problem.channels.size(); ++c) s.depths.push_back(1);
  std::vector<std::string> found;
  for (const Violation& violation : check(problem, s).violations)
    if (violation.family == "layout") found.push_back(violation.message);
  return found;
}

/// A problem whose plan was tampered with.
template <class Tamper>
std::vector<std::string> after(Tamper tamper) {
  Problem problem = backward();
  auto plan = std::make_shared<LayoutPlan>(*problem.layouts);
  tamper(*plan);
  problem.layouts = plan;
  return layout_violations(problem);
}

bool any(const std::vector<std::string>& messages, const std::string& part) {
  for (const std::string& message : messages)
    if (message.find(part) != std::string::npos) return true;
  return false;
}

std::size_t value_of(const LayoutPlan& plan, const char* op) { return plan.find(op)->accesses.at(0).value; }

}  // namespace

TEST_CASE("what plans count by rank the checker counts bank by bank, for every shipped kernel", "[core]") {
  for (const LibraryEntry& entry : list_library(Shelf::Kernels))
    for (const char* machine : {"h100", "h200", "b200", "toy"}) {
      const auto problem = resolve(load_kernel(entry.path).value(), load_machine(machine).value());
      if (!problem) continue;
      CAPTURE(entry.name, machine);
      CHECK(judge_layouts(problem->layouts)->violations.empty());
    }
}

TEST_CASE("every alternative is counted alike by plan and checker", "[core]") {
  const Kernel kernel = load_kernel("attention_backward_hopper").value();
  const Machine machine = load_machine("h100").value();
  const Problem today = backward();
  for (const char* op : {"stage_dq0", "stage_ds0"})
    for (const LayoutAlternative& each : alternatives_of(kernel, today.params, machine, *today.layouts, op)) {
      if (!each.refused.empty()) continue;
      LayoutChoices choices;
      choices.layouts = {{op == std::string("stage_dq0") ? "dqs0" : "dsm0", each.layout}};
      choices.instructions = {{op, each.instruction}};
      CAPTURE(op, each.layout, each.instruction.name, each.instruction.exchange.lane, each.instruction.exchange.register_bit);
      CHECK(judge_layouts(backward(choices).layouts)->violations.empty());
    }
}

TEST_CASE("plan and checker agree on random swizzles, pitches and instructions", "[core]") {
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  CAPTURE(seed);
  const Machine machine = load_machine("h100").value();
  const auto pick = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  int counted = 0;
  for (int round = 0; round < 400; ++round) {
    const int bits = pick(2) ? 16 : 32;
    const std::int64_t columns = std::int64_t{32} << pick(3);
    const auto held = std::make_shared<const Layout>(accumulator_layout(columns));
    std::string text = pick(2) ? "rows " + std::to_string(columns + 4 * pick(9)) : "panels " + std::to_string(32 << pick(3));
    std::vector<Fault> faults;
    const auto memory = stored_layout(text, {64, columns}, bits, {}, faults);
    if (!memory) continue;
    const Instruction& row = machine.instructions[static_cast<std::size_t>(pick(static_cast<int>(machine.instructions.size())))];
    LaneExchange exchange;
    if (pick(2)) exchange = {pick(5), pick(5)};
    const StoredAccess access = stored_access(held, memory->layout, bits, row, exchange);
    CAPTURE(text, bits, columns, row.name, exchange.lane, exchange.register_bit, access.refusal);
    auto plan = std::make_shared<LayoutPlan>();
    plan->values = {{memory->layout, text, true, {}}, {held, "accumulator", false, {}}};
    OpPlan& op = plan->ops["op"];
    OpAccess one;
    one.value = 0, one.registers = 1, one.bits = bits, one.held = held, one.exchange = exchange;
    one.by = machine.instructions.share(row.name);
    one.cost = access.cost;
    one.cost.known = true;
    op.accesses = {one};
    op.cost = one.cost;
    if (row.kind == InstructionKind::Product || row.kind == InstructionKind::BulkCopy) continue;
    if (access.refusal.empty()) {
      ++counted;
      CHECK(judge_layouts(plan)->violations.empty());
    } else if (row.kind == InstructionKind::SharedStore || row.kind == InstructionKind::MatrixStore) {
      // What the plan refuses the checker refuses too, but for exchanges of instructions that have none.
      if (!exchange.used()) CHECK(!judge_layouts(plan)->violations.empty());
    }
  }
  CHECK(counted > 20);
}

TEST_CASE("a plan that understates its port cycles is convicted", "[core]") {
  CHECK(layout_violations(backward()).empty());
  CHECK(any(after([](LayoutPlan& plan) { plan.ops.find("stage_dq0")->second.accesses[0].cost.port = 64; }),
            "port cycles of stage_dq0 by st.shared.8: the plan says 64, counted are 128"));
  CHECK(any(after([](LayoutPlan& plan) { plan.ops.find("stage_dq0")->second.cost.port = 64; }),
            "stage_dq0 is said to hold the port of shared memory for 64 cycles, and its accesses take 128"));
  CHECK(any(after([](LayoutPlan& plan) { plan.ops.find("stage_dq0")->second.accesses[0].exchange = {}; }),
            "the plan says 128, counted are 256"));
  CHECK(any(after([](LayoutPlan& plan) { plan.ops.find("stage_dq0")->second.accesses[0].cost.selects = 0; }), "selects of stage_dq0"));
  CHECK(any(after([](LayoutPlan& plan) { plan.ops.find("stage_ds0")->second.accesses[0].cost.issues = 3; }), "instructions of stage_ds0"));
}

TEST_CASE("an mma whose operands are said to take less of the port, or of whom nothing is said to be known, is convicted", "[core]") {
  const Problem gemm = resolve(load_kernel("gemm_hopper").value(), load_machine("h100").value()).value();
  const auto tampered = [&](auto tamper) {
    auto plan = std::make_shared<LayoutPlan>(*gemm.layouts);
    int products = 0;
    for (auto& [name, op] : plan->ops)
      if (op.product) tamper(op), ++products;
    CHECK(products > 0);
    std::vector<std::string> messages;
    for (const Violation& violation : judge_layouts(plan)->violations) messages.push_back(violation.message);
    return messages;
  };
  CHECK(tampered([](OpPlan&) {}).empty());
  const auto free = tampered([](OpPlan& op) {
    op.cost.port = op.cost.least = 0;
    for (OpAccess& access : op.accesses) access.cost.port = access.cost.least = 0;
  });
  CHECK(any(free, "are said to hold the port for 0 cycles, and by wgmma.ss.bf16 they hold it for "));
  CHECK(any(free, "is said to hold the port of shared memory for 0 cycles"));
  CHECK(any(tampered([](OpPlan& op) { op.cost.known = false; }), "is said not to be known, and its accesses take"));
  CHECK(any(tampered([](OpPlan& op) { op.accesses[0].cost.known = false; }), "is said not to be known, and counted are"));
  CHECK(any(tampered([](OpPlan& op) { op.product->k /= 2; }), "and has an operand of "));
  CHECK(any(tampered([](OpPlan& op) { op.product->n /= 2; }), "and its result has another shape"));
  CHECK(any(tampered([](OpPlan& op) { op.product.reset(); }), "is an mma of no size"));
  // And so is an op that reserves nothing for what is counted.
  Problem problem = gemm;
  for (Op& op : problem.ops)
    if (op.kind == "mma") op.uses.clear();
  CHECK(any(layout_violations(problem), "reserves shared memory for 0 cycles, its accesses take "));
  // The same of stores and boxes.
  CHECK(any(after([](LayoutPlan& plan) { plan.ops.find("stage_dq0")->second.accesses[0].cost.known = false; }),
            "what stage_dq0 takes of the port by st.shared.8 is said not to be known, and counted are 128 cycles"));
  CHECK(any(after([](LayoutPlan& plan) { plan.ops.find("add_dq0")->second.accesses[0].cost.known = false; }),
            "what add_dq0 takes of the port by tma.128 is said not to be known"));
}

TEST_CASE("an mma of a tile with itself reads it once", "[core]") {
  Kernel kernel = load_kernel("gemm_hopper").value();
  for (auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (TileOp& op : *list)
      if (op.kind == "mma") op.inputs[1].value = op.inputs[0].value;
  std::vector<Fault> faults;
  const Problem gemm = resolve(load_kernel("gemm_hopper").value(), load_machine("h100").value()).value();
  auto plan = std::make_shared<LayoutPlan>(plan_layouts(kernel, gemm.params, load_machine("h100").value(), {}, faults));
  int products = 0;
  for (const auto& [name, op] : plan->ops)
    if (op.product) {
      ++products;
      REQUIRE(op.accesses.size() == 1);
      CHECK(op.accesses[0].cost.port == op.cost.port);
    }
  CHECK(products > 0);
}

TEST_CASE("an op that reserves less than its accesses take is convicted", "[core]") {
  Problem problem = backward();
  for (Op& op : problem.ops)
    if (op.name == "stage_dq1")
      for (UnitUse& use : op.uses)
        if (problem.unit(use.unit).name == "SMEM") use.duration = 127;
  const auto found = layout_violations(problem);
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "stage_dq1 reserves shared memory for 127 cycles, its accesses take 128");
}

TEST_CASE("a swizzle bit off, a fragment turned and memory that loses an element are convicted", "[core]") {
  const auto with_memory = [](const char* op, auto change) {
    return after([&](LayoutPlan& plan) {
      ValuePlan& value = plan.values[value_of(plan, op)];
      Layout layout = *value.layout;
      change(layout);
      value.layout = std::make_shared<const Layout>(layout);
    });
  };
  // Rows are exchanged by another bit of their number.
  const auto off =
      with_memory("S0", [](Layout& layout) { std::swap(layout.of(LayoutAxis::Offset)[6][1], layout.of(LayoutAxis::Offset)[7][1]); });
  CHECK(any(off, "an operand of S0 does not lie in panels of 32, 64 or 128 bytes"));
  CHECK(any(with_memory("add_dq0", [](Layout& layout) { std::swap(layout.of(LayoutAxis::Offset)[5], layout.of(LayoutAxis::Offset)[6]); }),
            "the tile of add_dq0 does not lie in the boxes of tma.128"));
  CHECK(any(with_memory("add_dq0", [](Layout& layout) { layout.of(LayoutAxis::Offset)[5] = layout.of(LayoutAxis::Offset)[6]; }),
            "in shared memory"));
  CHECK(any(after([](LayoutPlan& plan) {
              OpAccess& access = plan.ops.find("stage_ds0")->second.accesses[0];
              Layout held = *access.held;
              std::swap(held.of(LayoutAxis::Lane)[0], held.of(LayoutAxis::Lane)[1]);
              access.held = std::make_shared<const Layout>(held);
            }),
            "stage_ds0 cannot be written as stmatrix.x4"));
}

TEST_CASE("a plan is judged once", "[core]") {
  const Problem problem = backward();
  CHECK(judge_layouts(problem.layouts) == judge_layouts(problem.layouts));
}
