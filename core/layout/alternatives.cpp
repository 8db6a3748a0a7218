// What could be chosen instead for an op that moves a tile between registers and shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/layout/known.h"
#include "core/layout/planner.h"

namespace heddle {
namespace {

const TileOp* find_op(const Kernel& kernel, const std::string& name) {
  for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (const TileOp& op : *list)
      if (op.name == name) return &op;
  return nullptr;
}

/// Of those by which no lanes meet, or the fewest do: the one that exchanges the lowest bits. Not used: none helps.
LaneExchange best_exchange(const OpAccess& access, const std::shared_ptr<const Layout>& memory, const Instruction& row,
                           const AccessCost& plain) {
  LaneExchange best;
  std::int64_t port = plain.port;
  for (int lane = 0; lane < 5 && port > plain.least; ++lane)
    for (int bit = 0; (std::int64_t{2} << bit) <= access.held->extent(LayoutAxis::Register); ++bit) {
      const LaneExchange exchange{lane, bit};
      const StoredAccess counted = stored_access(access.held, memory, access.bits, row, exchange);
      if (counted.refusal.empty() && counted.cost.port < port) best = exchange, port = counted.cost.port;
    }
  return best;
}

}  // namespace

std::vector<LayoutAlternative> alternatives_of(const Kernel& kernel, const Scope& params, const Machine& machine, const LayoutPlan& plan,
                                               const std::string& name) {
  const TileOp* op = find_op(kernel, name);
  const OpPlan* now = plan.find(name);
  if (!op || !now || now->accesses.empty() || (op->kind != "smem_store" && op->kind != "smem_load")) return {};
  const OpAccess& access = now->accesses.front();
  const ValuePlan& memory = plan.values[access.value];
  if (!access.held || !memory.layout) return {};

  std::vector<Fault> none;
  Planner planner(kernel, params, machine, plan.choices, {}, none);
  planner.run();

  // Of the memory: what it is now, panels, rows, and rows with 16 bytes between them.
  std::vector<std::string> texts{memory.text};
  const std::vector<std::int64_t>& shape = memory.layout->shape;
  for (const char* known : {"panels 128", "panels 64", "panels 32", "panels 0", "rows"}) texts.emplace_back(known);
  if (shape.size() == 2) texts.push_back(fmt::format("rows {}", shape[1] + 128 / access.bits));
  std::vector<std::shared_ptr<const StoredLayout>> layouts;
  for (const std::string& text : texts) {
    std::vector<Fault> faults;
    auto stored = stored_layout(text, shape, access.bits, {}, {}, faults);
    const auto same = [&](const auto& other) { return same_places(*other->layout, *stored->layout); };
    if (stored && std::none_of(layouts.begin(), layouts.end(), same)) layouts.push_back(std::move(stored));
  }

  std::vector<LayoutAlternative> found;
  const auto add = [&](const StoredLayout& layout, const Instruction& row, const LaneExchange& exchange, const std::string& objection) {
    LayoutAlternative alternative;
    alternative.layout = layout.text;
    alternative.instruction = {row.name, exchange};
    alternative.bytes = (layout.layout->extent(LayoutAxis::Offset) * access.bits + 7) / 8;
    // The exchange selects into registers of its own.
    alternative.registers = exchange.used() ? row.registers : 0;
    alternative.current = layout.text == memory.text && alternative.instruction == now->instruction;
    const StoredAccess counted = stored_access(access.held, layout.layout, access.bits, row, exchange);
    alternative.cost = counted.cost;
    alternative.refused = !counted.refusal.empty() ? counted.refusal : objection;
    found.push_back(std::move(alternative));
  };
  for (const auto& layout : layouts) {
    const std::string objection = planner.objection(access.value, *layout->layout);
    for (const Instruction& row : machine.instructions) {
      if (!Planner::suits(*op, row)) continue;
      add(*layout, row, {}, objection);
      if (row.kind != InstructionKind::SharedStore || !found.back().cost.known) continue;
      LaneExchange exchange = best_exchange(access, layout->layout, row, found.back().cost);
      if (layout->text == memory.text && row.name == now->instruction.name && now->instruction.exchange.used())
        exchange = now->instruction.exchange;
      if (exchange.used()) add(*layout, row, exchange, objection);
    }
  }
  const auto key = [](const LayoutAlternative& a) {
    return std::tuple(!a.current, !a.refused.empty(), a.cost.port, a.cost.selects, a.cost.issues, a.bytes);
  };
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return found;
}

}  // namespace heddle
