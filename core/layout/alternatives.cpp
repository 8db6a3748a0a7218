// What could be chosen instead for an op that moves a tile between registers and shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/kernel/op_shapes.h"
#include "core/layout/chosen_instructions.h"
#include "core/layout/known.h"
#include "core/layout/layout_objections.h"
#include "core/layout/layout_store.h"
#include "core/layout/least_ways.h"
#include "core/layout/notation.h"
#include "core/layout/plan.h"

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

/// An op that moves the value between registers and shared memory, and how the threads hold it.
struct TileMover {
  const TileOp* op = nullptr;
  std::shared_ptr<const Layout> held;
};

/// Of the two ops that move the value, or the one, by the instructions that take the fewest cycles of the port: a layout made for them.
/// Nothing where there are more, or the value cannot lie as it likes.
std::optional<Layout> made_for(const MeasuredKernel& kernel, const LayoutPlan& plan, std::size_t value) {
  const int bits = kernel.bits(value);
  std::vector<TileMover> movers;
  for (const TileOp& op : kernel.ops)
    if (const OpPlan* of = plan.find(op.name))
      for (const OpAccess& access : of->accesses)
        if (access.value == value && !access.scratch) movers.push_back({&op, access.held});
  const auto moves = [](const TileMover& m) {
    return m.held && (m.op->kind == "smem_store" || m.op->kind == "smem_load") && !flag_attr(*m.op, "transpose");
  };
  if (movers.empty() || movers.size() > 2 || !std::all_of(movers.begin(), movers.end(), moves)) return std::nullopt;
  const TileMover &one = movers.front(), &other = movers.back();
  std::optional<Layout> best;
  std::pair<std::int64_t, std::int64_t> fewest{};
  for (const Instruction& by_one : kernel.machine.instructions)
    for (const Instruction& by_other : kernel.machine.instructions) {
      if (!suits(*one.op, by_one) || !suits(*other.op, by_other)) continue;
      auto made = least_ways_layout(*one.held, by_one, *other.held, by_other, bits);
      if (!made) continue;
      if (!shared_objection(kernel, plan, value, *made).empty()) return std::nullopt;
      const AccessCost cost = sum_of(cost_of_access(*one.held, *made, bits, by_one), cost_of_access(*other.held, *made, bits, by_other));
      if (cost.known && (!best || std::pair(cost.port, cost.issues) < fewest)) best = std::move(made), fewest = {cost.port, cost.issues};
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

  const MeasuredKernel measured = measure(kernel, params, machine);

  // Of the memory: what it is now, panels, rows, rows with 16 bytes between them, and what is made for those who move it.
  std::vector<std::string> texts{memory.text};
  const std::vector<std::int64_t>& shape = memory.layout->shape;
  for (const char* known : {"panels 128", "panels 64", "panels 32", "panels 0", "rows"}) texts.emplace_back(known);
  if (access.bits == 32) texts.emplace_back(kAtomsOf32);  // of which TMA has a mode on newer machines
  if (shape.size() == 2) texts.push_back(fmt::format("rows {}", shape[1] + 128 / access.bits));
  if (const auto made = made_for(measured, plan, access.value)) texts.push_back(layout_text(*made, access.bits));
  std::vector<std::shared_ptr<const StoredLayout>> layouts;
  for (const std::string& text : texts) {
    std::vector<Fault> faults;
    auto stored = stored_layout(text, shape, access.bits, {}, faults);
    const auto same = [&](const auto& other) { return same_places(*other->layout, *stored->layout); };
    if (stored && std::none_of(layouts.begin(), layouts.end(), same)) layouts.push_back(std::move(stored));
  }

  std::vector<LayoutAlternative> found;
  const auto seen = [&](const std::shared_ptr<const Layout>& layout) { return access.turned ? stored_transposed(layout) : layout; };
  const auto add = [&](const StoredLayout& layout, const Instruction& row, const LaneExchange& exchange, const std::string& objection) {
    LayoutAlternative alternative;
    alternative.layout = layout.text;
    alternative.instruction = {row.name, exchange};
    alternative.bytes = (layout.layout->extent(LayoutAxis::Offset) * access.bits + 7) / 8;
    // The exchange selects into registers of its own.
    alternative.registers = exchange.used() ? row.registers : 0;
    alternative.current = layout.text == memory.text && alternative.instruction == now->instruction;
    const StoredAccess counted = stored_access(access.held, seen(layout.layout), access.bits, row, exchange);
    alternative.cost = counted.cost;
    alternative.refused = !counted.refusal.empty() ? counted.refusal : objection;
    found.push_back(std::move(alternative));
  };
  for (const auto& layout : layouts) {
    const std::string objection = shared_objection(measured, plan, access.value, *layout->layout);
    for (const Instruction& row : machine.instructions) {
      if (!suits(*op, row)) continue;
      add(*layout, row, {}, objection);
      if (row.kind != InstructionKind::SharedStore || !found.back().cost.known) continue;
      LaneExchange exchange = best_exchange(access, seen(layout->layout), row, found.back().cost);
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
