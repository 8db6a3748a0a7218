#include "core/layout/plan_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>

#include "core/base/integer_division.h"
#include "core/base/json.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/kernel/op_shapes.h"
#include "core/layout/chosen_instructions.h"
#include "core/layout/known.h"
#include "core/layout/layout_store.h"
#include "core/layout/packed_tensors.h"

namespace heddle {
namespace {

/// The widest that fits, tried in this order; nothing fits: the first.
InstructionChoice first_fitting(const Machine& machine, std::initializer_list<const char*> names, const std::shared_ptr<const Layout>& held,
                                const std::shared_ptr<const Layout>& memory, int bits) {
  for (const char* name : names)
    if (const Instruction* row = machine.find_instruction(name); row && stored_access(held, memory, bits, *row, {}).refusal.empty())
      return {name, {}};
  return {*names.begin(), {}};
}

/// The default, and where it does not fit a layout that was chosen, what does. Pre: the access knows how threads hold the tile.
InstructionChoice default_instruction(const MeasuredKernel& of, const LayoutPlan& plan, const OpAccess& access,
                                      const std::shared_ptr<const Layout>& memory) {
  const auto fitting = [&](std::initializer_list<const char*> names) {
    return first_fitting(of.machine, names, access.held, memory, access.bits);
  };
  if (!access.store)
    return of.products() && access.bits == 16
               ? fitting({"ldmatrix.x4", "ldmatrix.x4.trans", "ld.shared.16", "ld.shared.8", "ld.shared.4", "ld.shared.2"})
               : fitting({"ld.shared.16", "ld.shared.8", "ld.shared.4", "ld.shared.2", "ld.shared.1"});
  if (!of.products() || access.bits != 32)
    return of.products() && access.bits == 16 ? fitting({"stmatrix.x4", "st.shared.16", "st.shared.8", "st.shared.4", "st.shared.2"})
                                              : fitting({"st.shared.16", "st.shared.8", "st.shared.4", "st.shared.2", "st.shared.1"});
  const std::optional<PackedOrder> packed = packed_order(of, plan.packed, access.value);
  if (packed == PackedOrder::Lines) return fitting({"stmatrix.x4", "st.shared.4"});
  const InstructionChoice exchanged{"st.shared.8", {2, 3}};
  const Instruction* row = of.machine.find_instruction(exchanged.name);
  if (!row) return exchanged;
  const StoredAccess with = stored_access(access.held, memory, access.bits, *row, exchanged.exchange);
  const bool usual = !plan.values[access.registers].chosen && !plan.values[access.value].chosen && !packed;
  if (usual && with.refusal.empty()) return exchanged;
  InstructionChoice plain = fitting({"st.shared.16", "st.shared.8", "st.shared.4"});
  if (usual || !with.refusal.empty()) return plain;
  const Instruction* widest = of.machine.find_instruction(plain.name);
  const StoredAccess without = widest ? stored_access(access.held, memory, access.bits, *widest, {}) : StoredAccess{};
  return without.refusal.empty() && without.cost.known && without.cost.port <= with.cost.port ? plain : exchanged;
}

/// Its rule has cycles of the port, so that what they are is its cost.
bool asks_for_port(const Machine& machine, const TileOp& op) {
  for (const CostRule& rule : machine.rules)
    if (rule.kind == op.kind || rule.kind.starts_with(op.kind + "."))
      for (const UnitCost& use : rule.uses) {
        const std::vector<std::string> names = use.duration.names();
        if (std::find(names.begin(), names.end(), "port") != names.end()) return true;
      }
  return false;
}

/// Who wants the value to lie as it does: "wgmma of 'S' makes 's' as accumulator", "convert of 'c' takes 'p' as operand, as was chosen".
std::string wish(const MeasuredKernel& of, const LayoutPlan& plan, std::size_t v, bool made) {
  const std::string& name = of.value(v).name;
  std::string who;
  for (const TileOp& op : of.ops) {
    const bool writes = std::find(op.outputs.begin(), op.outputs.end(), name) != op.outputs.end();
    const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in.value == name; });
    if (who.empty() && (made ? writes : reads)) who = of.asker(op);
  }
  return fmt::format("{}{} '{}' as {}{}", who, made ? " makes" : " takes", printable(name), plan.values[v].text,
                     plan.values[v].chosen ? ", as was chosen" : "");
}

/// There and back by way of panels that no value has: the fewest cycles of the port, then the fewest instructions. Nothing else reads that
/// memory.
void through_shared_memory(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, OpPlan& out) {
  const std::size_t from = out.change->from, to = out.change->to;
  const auto fewer = [](const AccessCost& a, const AccessCost& b) { return std::pair(a.port, a.issues) < std::pair(b.port, b.issues); };
  const auto best = [&](bool store, const std::shared_ptr<const Layout>& memory) {
    OpAccess found;
    found.value = to;
    found.registers = store ? from : to;
    found.store = store;
    found.charged = asks_for_port(of.machine, op);
    found.bits = of.bits(to);
    found.held = plan.values[store ? from : to].layout;
    found.scratch = memory;
    for (const char* name : store ? std::array{"st.shared.16", "stmatrix.x4", "st.shared.8", "st.shared.4", "st.shared.2", "st.shared.1"}
                                  : std::array{"ld.shared.16", "ldmatrix.x4", "ld.shared.8", "ld.shared.4", "ld.shared.2", "ld.shared.1"}) {
      const Instruction* row = of.machine.find_instruction(name);
      if (!row) continue;
      const StoredAccess counted = stored_access(found.held, memory, found.bits, *row, {});
      if (!counted.refusal.empty() || !counted.cost.known || (found.by && !fewer(counted.cost, found.cost))) continue;
      found.by = of.machine.instructions.share(name);
      found.cost = counted.cost;
    }
    return found;
  };
  std::optional<std::pair<OpAccess, OpAccess>> taken;
  AccessCost least;
  for (const int span : {128, 64, 32, 0}) {
    const bool tile = of.shapes[to].size() == 2;
    const LayoutForm form = tile ? LayoutForm::Panels : LayoutForm::Vector;
    const auto memory = stored_layout({form, tile ? of.shapes[to][0] : 1, of.shapes[to].back(), of.bits(to), span});
    if (!memory || (!tile && span != 0)) continue;
    OpAccess there = best(true, memory->layout), back = best(false, memory->layout);
    if (!there.by || !back.by) continue;
    const AccessCost both = sum_of(there.cost, back.cost);
    if (taken && !fewer(both, least)) continue;
    least = both;
    taken = {std::move(there), std::move(back)};
  }
  if (!taken) {
    out.unknown = "no instruction brings it to other warps through shared memory";
    return;
  }
  out.scratch_bytes = ceil_div(sat_mul(taken->first.scratch->extent(LayoutAxis::Offset), of.bits(to)), std::int64_t{8});
  if (taken->first.charged) out.cost = least;
  out.accesses = {std::move(taken->first), std::move(taken->second)};
}

}  // namespace

AccessCost uncounted(const MeasuredKernel& of, std::size_t v, bool exchanged) {
  AccessCost cost;
  std::int64_t elements = 1;
  for (const std::int64_t extent : of.shapes[v]) elements = sat_mul(elements, extent);
  cost.port = cost.least = port_of_bytes(ceil_div(sat_mul(elements, of.bits(v)), 8));
  cost.selects = exchanged ? elements : 0;
  return cost;
}

std::optional<OpPlan> plan_transfer(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, std::vector<Fault>& faults) {
  const bool store = op.kind == "smem_store";
  if (op.inputs.empty() || op.outputs.empty()) return std::nullopt;
  const std::size_t from = of.index_of(op.inputs[0].value), to = of.index_of(op.outputs[0]);
  OpAccess access;
  access.value = store ? to : from;
  access.registers = store ? from : to;
  access.store = store;
  access.bits = of.bits(access.value);
  OpPlan out;
  const ValuePlan& held = plan.values[access.registers];
  ValuePlan memory = plan.values[access.value];  // as the op finds it
  if (!store && flag_attr(op, "transpose") && memory.layout && of.shapes[access.value].size() == 2)
    memory.layout = access.turned = stored_transposed(memory.layout);

  const auto unknown = [&](std::string why) {
    out.unknown = std::move(why);
    access.cost = out.cost = uncounted(of, to, store && of.products() && of.bits(from) == 32);
    out.accesses.push_back(std::move(access));
    return out;
  };
  access.held = held.layout;
  if (!held.layout || !memory.layout) {
    const bool registers = !held.layout;
    return unknown(fmt::format("'{}' {}", of.value(registers ? access.registers : access.value).name, (registers ? held : memory).unknown));
  }
  if (of.bits(from) != of.bits(to)) return unknown("it changes the type on the way");
  const InstructionChoice* said = chosen_instruction(of, plan.choices, op);
  const InstructionChoice choice = said ? *said : default_instruction(of, plan, access, memory.layout);
  out.instruction = choice;
  out.chosen = said != nullptr;
  access.by = of.machine.instructions.share(choice.name);
  access.exchange = choice.exchange;
  if (!access.by) return unknown(fmt::format("machine '{}' has no instruction '{}'", of.machine.name, choice.name));
  const StoredAccess counted = stored_access(held.layout, memory.layout, access.bits, *access.by, choice.exchange);
  if (!counted.refusal.empty()) {
    const bool layout = held.chosen || memory.chosen;
    if (said || layout)
      faults.push_back({{},
                        said ? pointer_to("/instructions", op.name)
                             : pointer_to("/layouts", of.value(memory.chosen ? access.value : access.registers).name),
                        fmt::format("'{}' cannot be written{} while '{}' lies as {} and '{}' as {}: {}", printable(op.name),
                                    said ? " as " + choice.name : std::string(), of.value(access.registers).name, held.text,
                                    of.value(access.value).name, memory.text, counted.refusal),
                        {}});
    return unknown(counted.refusal);
  }
  access.cost = out.cost = counted.cost;
  out.accesses.push_back(std::move(access));
  return out;
}

std::optional<OpPlan> plan_change(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, std::vector<Fault>& faults) {
  if (op.inputs.empty() || op.outputs.empty()) return std::nullopt;
  const std::size_t from = of.index_of(op.inputs[0].value), to = of.index_of(op.outputs[0]);
  const ValuePlan &held = plan.values[from], &wanted = plan.values[to];
  if (of.value(from).space != Space::Register || of.value(to).space != Space::Register || !held.layout || !wanted.layout)
    return std::nullopt;
  if (of.shapes[from] != of.shapes[to] || held.text == wanted.text) return std::nullopt;
  LayoutChange change{from, to, of.bits(to), ConversionClass::Same, 0};
  StoredConversion how;
  if (of.bits(from) == 32) how = stored_conversion(held.layout, wanted.layout, change.bits = 32);
  if (how.kind != ConversionClass::Rename) how = stored_conversion(held.layout, wanted.layout, change.bits = of.bits(to));
  change.kind = how.kind;
  change.shuffles = how.shuffles * wanted.layout->extent(LayoutAxis::Warp);
  OpPlan out;
  out.change = change;
  if (change.kind != ConversionClass::SharedMemory) return out;
  if (const auto said = plan.choices.instructions.find(op.name);
      said != plan.choices.instructions.end() && said->second.name == kInRegisters)
    faults.push_back({{},
                      pointer_to("/instructions", op.name),
                      fmt::format("'{}' cannot stay in registers: {}, {}, and other warps have its elements", printable(op.name),
                                  wish(of, plan, from, true), wish(of, plan, to, false)),
                      "say of one of them that it lies otherwise, or let it go through shared memory"});

  through_shared_memory(of, plan, op, out);
  return out;
}

}  // namespace heddle
