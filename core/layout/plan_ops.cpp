// The instructions of ops: defaults, and those that were chosen; and what the port of shared memory does for each.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/integer_division.h"
#include "core/base/json.h"
#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/kernel/op_shapes.h"
#include "core/layout/planner.h"

namespace heddle {
namespace {

using Kind = InstructionKind;

/// The choice is how its registers go to another group, thread by thread.
bool hands_over(const TileOp& op) {
  constexpr std::array kOthers{"smem_store", "smem_load", "mma", "tma_load", "tma_store", "atomic_add", "load", "store", "gather"};
  return !op.outputs.empty() && std::find(kOthers.begin(), kOthers.end(), op.kind) == kOthers.end();
}

/// Its result may lie otherwise than what it takes.
bool may_change_layout(const TileOp& op) { return op.kind == "copy" || op.kind == "convert"; }

/// Among those kinds a choice is legal for ops of this kind.
std::vector<Kind> kinds_for(const TileOp& op) {
  if (op.kind == "smem_store") return {Kind::SharedStore, Kind::MatrixStore};
  if (op.kind == "smem_load") return {Kind::SharedLoad, Kind::MatrixLoad};
  if (op.kind == "mma") return {Kind::Product};
  if (op.kind == "tma_load" || op.kind == "tma_store" || op.kind == "atomic_add") return {Kind::BulkCopy};
  if (op.kind == "load") return {Kind::GlobalLoad, Kind::AsyncCopy};
  if (op.kind == "store") return {Kind::GlobalStore};
  if (hands_over(op)) return {Kind::SharedStore};
  return {};
}

const char* short_name(DType type) {
  switch (type) {
    case DType::F8e4m3: return "e4m3";
    case DType::F8e5m2: return "e5m2";
    case DType::I8: return "s8";
    case DType::F32:
    case DType::Bf16:
    case DType::F16:
    case DType::I32:
    case DType::I4: break;
  }
  return to_string(type);
}

std::string product_name(bool tensor_products, Space a, DType type) {
  const char* where = a == Space::Register ? "rs" : a == Space::Tmem ? "ts" : "ss";
  return fmt::format("{}.{}.{}", tensor_products ? "tcgen05.mma" : "wgmma", where, short_name(type));
}

/// Reads vectors from shared memory on its way.
bool computes(const TileOp& op) { return op.kind == "elementwise" || op.kind == "exp2" || op.kind == "map" || op.kind == "broadcast"; }

/// Cycles of a product's instruction of the catalogue; nothing where its formula has none.
std::optional<std::int64_t> cycles_of(const Instruction& row, std::int64_t m, std::int64_t n, int bits) {
  const auto cycles = row.cycles.evaluate({{"m", m}, {"n", n}, {"k", row.k}, {"bits", bits}});
  return cycles && *cycles >= 0 ? std::optional(*cycles) : std::nullopt;
}

const Instruction* product_row(const Machine& machine, Space a, DType type) {
  // The family's own first, should a catalogue have both.
  const bool blackwell = machine.arch.starts_with("sm_10");
  const std::array families{blackwell, !blackwell};
  const auto find = [&](bool tensor, Space space, DType each) -> const Instruction* {
    const Instruction* row = machine.find_instruction(product_name(tensor, space, each));
    return row && row->kind == Kind::Product ? row : nullptr;
  };
  for (const bool tensor : families)
    if (const Instruction* row = find(tensor, a, type)) return row;
  // Other types are read as fast; where A cannot come from there, both come from shared memory.
  for (const Space space : {a, Space::Smem})
    for (const bool tensor : families)
      if (const Instruction* row = find(tensor, space, DType::Bf16)) return row;
  return nullptr;
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

}  // namespace

AccessCost sum_of(const AccessCost& a, const AccessCost& b) {
  return {a.known && b.known,          sat_add(a.port, b.port),       sat_add(a.least, b.least),
          sat_add(a.issues, b.issues), sat_add(a.selects, b.selects), std::max(a.ways, b.ways)};
}

std::int64_t port_of_bytes(std::int64_t bytes) { return ceil_div(bytes, std::int64_t{kBanks} * kBankBytes); }

AccessCost product_cost(const Machine& machine, Space a, DType type, std::int64_t m, std::int64_t n, std::int64_t k, int bits) {
  AccessCost cost;
  const Instruction* row = product_row(machine, a, type);
  if (!row || row->m < 1 || row->k < 1) return cost;
  const auto cycles = cycles_of(*row, m, n, bits);
  if (!cycles) return cost;
  // A step is as deep as 32 bytes, whatever the type.
  cost.issues = sat_mul(ceil_div(m, row->m), ceil_div(sat_mul(k, bits), 256));
  cost.port = cost.least = sat_mul(cost.issues, *cycles);
  cost.known = true;
  return cost;
}

std::string_view hand_over_instruction(const LayoutPlan* plan, std::string_view op) {
  const OpPlan* of = plan ? plan->find(op) : nullptr;
  return of && of->instruction.name.starts_with("st.shared.") ? std::string_view(of->instruction.name) : "st.shared.4";
}

AccessCost hand_over_cost(const Machine& machine, std::int64_t registers, std::int64_t threads, std::string_view instruction) {
  AccessCost cost;
  const Instruction* store = machine.find_instruction(instruction);
  if (!store || store->kind != Kind::SharedStore || store->bytes < 1 || registers < 1 || threads < 1) return cost;
  const Instruction* load = machine.find_instruction(fmt::format("ld.shared.{}", store->bytes));
  if (!load) return cost;
  cost.issues = ceil_div(sat_mul(registers, 4), store->bytes);
  const std::int64_t warps = ceil_div(threads, kWarpLanes);
  for (const Instruction* row : {store, load}) {
    const auto cycles = row->cycles.evaluate({{"bytes", row->bytes}});
    const std::int64_t phases = ceil_div(kWarpLanes, std::max(row->lanes_per_phase, 1));
    cost.port = sat_add(cost.port, sat_mul(sat_mul(cost.issues, warps), sat_mul(phases, cycles ? *cycles : 1)));
  }
  cost.least = cost.port;  // neighbouring lanes, neighbouring words
  cost.known = true;
  return cost;
}

bool Planner::suits(const TileOp& op, const Instruction& row) {
  const std::vector<Kind> kinds = kinds_for(op);
  return std::find(kinds.begin(), kinds.end(), row.kind) != kinds.end() && (!hands_over(op) || row.bytes % 4 == 0);
}

/// Why the op's registers do not go to another group in pieces as wide as the row's; empty: they do, or may.
std::string Planner::hand_over_objection(const TileOp& op, const Instruction& row) const {
  const std::string name = printable(op.name);
  const auto same = [&](const TileOp& other) { return other.name == op.name; };
  if (std::none_of(kernel_.body.begin(), kernel_.body.end(), same))
    return fmt::format("'{}' hands nothing over: it is outside the loop, whose ops alone are spread over groups", name);
  bool handed = false;
  for (const std::string& output : op.outputs) {
    const std::size_t v = index_of(output);
    const auto reads = [&](const TileOp& other) {
      return other.name != op.name &&
             std::any_of(other.inputs.begin(), other.inputs.end(), [&](const Operand& in) { return in.value == output; });
    };
    if (value(v).space != Space::Register || std::none_of(kernel_.body.begin(), kernel_.body.end(), reads)) continue;
    handed = true;
    const auto& layout = plan_.values[v].layout;
    if (!layout) continue;
    const std::int64_t words = ceil_div(sat_mul(layout->extent(LayoutAxis::Register), bits(v)), std::int64_t{32});
    if (words * 4 % row.bytes != 0)
      return fmt::format("'{}' hands over {} register{} of each thread, no multiple of the {} that {} moves", name, words,
                         words == 1 ? "" : "s", row.bytes / 4, row.name);
  }
  return handed ? std::string() : fmt::format("'{}' hands nothing over: no other op of the loop reads it from registers", name);
}

void Planner::take_instructions() {
  for (const auto& [name, choice] : choices_.instructions) {
    const std::string pointer = pointer_to("/instructions", name);
    const TileOp* op = nullptr;
    std::vector<std::string> known;
    for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
      for (const TileOp& each : *list) {
        if (each.name == name) op = &each;
        if (!kinds_for(each).empty()) known.push_back(each.name);
      }
    if (!op) {
      std::string hint = did_you_mean(name, known);
      fault(pointer, fmt::format("kernel '{}' has no op '{}'", kernel_.name, printable(name)),
            !hint.empty()   ? std::move(hint)
            : known.empty() ? "none of its ops has a choice of instructions"
                            : "ops with a choice: " + list_of(known));
      continue;
    }
    const Instruction* row = machine_.find_instruction(choice.name);
    if (row && suits(*op, *row)) continue;
    if (choice.name == kInRegisters && may_change_layout(*op)) continue;
    std::vector<std::string> rows;
    for (const Instruction& each : machine_.instructions)
      if (suits(*op, each)) rows.push_back(each.name);
    std::string hint = did_you_mean(choice.name, rows);
    const std::string all = rows.empty() ? "there is none to choose" : "it can be " + list_of(rows);
    fault(pointer,
          row ? fmt::format("'{}' ({}) cannot be written as {}", printable(name), op->kind, printable(choice.name))
              : fmt::format("machine '{}' has no instruction '{}'", machine_.name, printable(choice.name)),
          hint.empty() ? all : hint + "; " + all);
  }
}

const InstructionChoice* Planner::chosen(const TileOp& op) const {
  const auto it = choices_.instructions.find(op.name);
  if (it == choices_.instructions.end()) return nullptr;
  const Instruction* row = machine_.find_instruction(it->second.name);
  return row && suits(op, *row) ? &it->second : nullptr;
}

InstructionChoice Planner::first_fitting(std::initializer_list<const char*> names, const std::shared_ptr<const Layout>& held,
                                         const std::shared_ptr<const Layout>& memory, int bits) const {
  for (const char* name : names)
    if (const Instruction* row = machine_.find_instruction(name); row && stored_access(held, memory, bits, *row, {}).refusal.empty())
      return {name, {}};
  return {*names.begin(), {}};
}

AccessCost Planner::uncounted(std::size_t v, bool exchanged) const {
  AccessCost cost;
  std::int64_t elements = 1;
  for (const std::int64_t extent : shapes_[v]) elements = sat_mul(elements, extent);
  cost.port = cost.least = port_of_bytes(ceil_div(sat_mul(elements, bits(v)), 8));
  cost.selects = exchanged ? elements : 0;
  return cost;
}

void Planner::plan_ops() {
  for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
    for (const TileOp& op : *list) plan_op(op);
}

void Planner::plan_op(const TileOp& op) {
  if (plan_.family == LayoutPlan::Family::None) return;
  if (op.kind == "smem_store" || op.kind == "smem_load") return plan_transfer(op, op.kind == "smem_store");
  if (op.kind == "mma") return plan_product(op);
  if (op.kind == "load" || op.kind == "store") return plan_global(op);
  if (op.kind == "tma_load" || op.kind == "tma_store" || op.kind == "atomic_add") return plan_copy(op);
  if (computes(op)) plan_vectors(op);
  if (may_change_layout(op)) plan_change(op);
  const InstructionChoice* said = chosen(op);
  if (!said) return;
  plan_.ops[op.name].instruction = *said;
  plan_.ops[op.name].chosen = true;
  if (said->exchange.used())
    fault(pointer_to("/instructions", op.name),
          fmt::format("'{}' hands registers over as they are: its lanes exchange nothing", printable(op.name)));
  else if (std::string why = hand_over_objection(op, *machine_.find_instruction(said->name)); !why.empty())
    fault(pointer_to("/instructions", op.name), std::move(why));
}

/// A tile from registers to shared memory or back.
void Planner::plan_transfer(const TileOp& op, bool store) {
  if (op.inputs.empty() || op.outputs.empty()) return;
  const std::size_t from = index_of(op.inputs[0].value), to = index_of(op.outputs[0]);
  OpAccess access;
  access.value = store ? to : from;
  access.registers = store ? from : to;
  access.store = store;
  access.bits = bits(access.value);
  OpPlan& out = plan_.ops[op.name];
  const ValuePlan& held = plan_.values[access.registers];
  ValuePlan memory = plan_.values[access.value];  // as the op finds it
  if (!store && flag_attr(op, "transpose") && memory.layout && shapes_[access.value].size() == 2)
    memory.layout = access.turned = stored_transposed(memory.layout);
  const bool f32_fragments = store && products() && bits(from) == 32;
  const auto unknown = [&](std::string why) {
    out.unknown = std::move(why);
    access.cost = out.cost = uncounted(to, f32_fragments);
    out.accesses.push_back(std::move(access));
  };
  access.held = held.layout;
  if (!held.layout || !memory.layout) {
    const bool registers = !held.layout;
    return unknown(fmt::format("'{}' {}", value(registers ? access.registers : access.value).name, (registers ? held : memory).unknown));
  }
  if (bits(from) != bits(to)) return unknown("it changes the type on the way");
  // The default, and where it does not fit a layout that was chosen, what does.
  InstructionChoice choice;
  const InstructionChoice* said = chosen(op);
  if (said) {
    choice = *said;
  } else if (!store) {
    choice = products() && access.bits == 16
                 ? first_fitting({"ldmatrix.x4", "ldmatrix.x4.trans", "ld.shared.16", "ld.shared.8", "ld.shared.4", "ld.shared.2"},
                                 held.layout, memory.layout, 16)
                 : first_fitting({"ld.shared.16", "ld.shared.8", "ld.shared.4", "ld.shared.2", "ld.shared.1"}, held.layout, memory.layout,
                                 access.bits);
  } else if (f32_fragments && packed_order(access.value) == PackedOrder::Lines) {
    choice = first_fitting({"stmatrix.x4", "st.shared.4"}, held.layout, memory.layout, access.bits);
  } else if (f32_fragments) {
    choice = {"st.shared.8", {2, 3}};
    const Instruction* row = machine_.find_instruction(choice.name);
    if (row && (held.chosen || memory.chosen || is_packed(access.value))) {
      const InstructionChoice plain =
          first_fitting({"st.shared.16", "st.shared.8", "st.shared.4"}, held.layout, memory.layout, access.bits);
      const StoredAccess with = stored_access(held.layout, memory.layout, access.bits, *row, choice.exchange);
      const Instruction* widest = machine_.find_instruction(plain.name);
      const StoredAccess without = widest ? stored_access(held.layout, memory.layout, access.bits, *widest, {}) : StoredAccess{};
      if (!with.refusal.empty() || (without.refusal.empty() && without.cost.known && without.cost.port <= with.cost.port)) choice = plain;
    } else if (row && !stored_access(held.layout, memory.layout, access.bits, *row, choice.exchange).refusal.empty()) {
      choice = first_fitting({"st.shared.16", "st.shared.8", "st.shared.4"}, held.layout, memory.layout, access.bits);
    }
  } else if (products() && access.bits == 16) {
    choice = first_fitting({"stmatrix.x4", "st.shared.16", "st.shared.8", "st.shared.4", "st.shared.2"}, held.layout, memory.layout, 16);
  } else {
    choice = first_fitting({"st.shared.16", "st.shared.8", "st.shared.4", "st.shared.2", "st.shared.1"}, held.layout, memory.layout,
                           access.bits);
  }
  out.instruction = choice;
  out.chosen = said != nullptr;
  access.by = machine_.instructions.share(choice.name);
  access.exchange = choice.exchange;
  if (!access.by) return unknown(fmt::format("machine '{}' has no instruction '{}'", machine_.name, choice.name));
  const StoredAccess counted = stored_access(held.layout, memory.layout, access.bits, *access.by, choice.exchange);
  if (!counted.refusal.empty()) {
    const bool layout = held.chosen || memory.chosen;
    if (said || layout)
      fault(
          said ? pointer_to("/instructions", op.name) : pointer_to("/layouts", value(memory.chosen ? access.value : access.registers).name),
          fmt::format("'{}' cannot be written{} while '{}' lies as {} and '{}' as {}: {}", printable(op.name),
                      said ? " as " + choice.name : std::string(), value(access.registers).name, held.text, value(access.value).name,
                      memory.text, counted.refusal));
    return unknown(counted.refusal);
  }
  access.cost = out.cost = counted.cost;
  out.accesses.push_back(std::move(access));
}

/// Boxes by TMA: filled in idle cycles of the port, read at its full rate.
void Planner::plan_copy(const TileOp& op) {
  const bool load = op.kind == "tma_load";
  if (load ? op.outputs.empty() : op.inputs.empty()) return;
  const std::size_t v = index_of(load ? op.outputs[0] : op.inputs[0].value);
  OpPlan& out = plan_.ops[op.name];
  out.cost = uncounted(v, false);
  if (value(v).space != Space::Smem) {
    out.unknown = fmt::format("'{}' does not lie in shared memory", value(v).name);
    return;
  }
  OpAccess access;
  access.value = access.registers = v;
  access.store = load;
  access.charged = !load;
  if (const auto packed = plan_.packed.find(op.tensor); packed != plan_.packed.end()) access.packed = packed->second;
  access.bits = bits(v);
  const ValuePlan& memory = plan_.values[v];
  if (memory.layout) {
    // Default layouts are known; those of vectors are boxes of one row.
    const std::optional<int> swizzle = memory.chosen                              ? box_swizzle(*memory.layout, access.bits)
                                       : shapes_[v].size() != 2 || is_packed(v)   ? 0
                                       : plan_.family == LayoutPlan::Family::Rows ? 0
                                                                                  : usual_span(v);
    out.instruction.name = fmt::format("tma.{}", swizzle.value_or(0));
    access.by = machine_.instructions.share(out.instruction.name);
    if (access.by && access.by->kind != Kind::BulkCopy) access.by = nullptr;
    access.cost = out.cost;
    access.cost.known = access.by != nullptr;
    access.cost.issues = 1;
    if (const InstructionChoice* said = chosen(op)) {
      out.chosen = true;
      if (said->name != out.instruction.name)
        fault(pointer_to("/instructions", op.name),
              fmt::format("'{}' cannot be written as {} while '{}' lies as {}", printable(op.name), printable(said->name), value(v).name,
                          memory.text),
              fmt::format("\"{}\" takes it as it lies", out.instruction.name));
      else if (said->exchange.used())
        fault(pointer_to("/instructions", op.name),
              fmt::format("lanes exchange what they store with st.shared only, not with {}", printable(said->name)));
    }
  } else {
    out.unknown = fmt::format("'{}' {}", value(v).name, memory.unknown);
    access.cost = out.cost;
  }
  out.cost = access.charged ? access.cost : AccessCost{.known = access.cost.known};
  out.accesses.push_back(std::move(access));
}

/// Who wants the value to lie as it does: "wgmma of 'S' makes 's' as accumulator", "convert of 'c' takes 'p' as operand, as was chosen".
std::string Planner::wish(std::size_t v, bool made) const {
  const std::string& name = value(v).name;
  std::string who;
  for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
    for (const TileOp& op : *list) {
      const bool writes = std::find(op.outputs.begin(), op.outputs.end(), name) != op.outputs.end();
      const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in.value == name; });
      if (who.empty() && (made ? writes : reads)) who = asker_of(op, tensor_products());
    }
  return fmt::format("{}{} '{}' as {}{}", who, made ? " makes" : " takes", printable(name), plan_.values[v].text,
                     plan_.values[v].chosen ? ", as was chosen" : "");
}

/// Registers that lie otherwise afterwards. The type changes first, where they are; but where f32 are only other registers of the same
/// thread, narrower numbers are put together of those.
void Planner::plan_change(const TileOp& op) {
  if (op.inputs.empty() || op.outputs.empty()) return;
  const std::size_t from = index_of(op.inputs[0].value), to = index_of(op.outputs[0]);
  const ValuePlan &held = plan_.values[from], &wanted = plan_.values[to];
  if (value(from).space != Space::Register || value(to).space != Space::Register || !held.layout || !wanted.layout) return;
  if (shapes_[from] != shapes_[to] || held.text == wanted.text) return;
  LayoutChange change{from, to, bits(to), ConversionClass::Same, 0};
  StoredConversion how;
  if (bits(from) == 32) how = stored_conversion(held.layout, wanted.layout, change.bits = 32);
  if (how.kind != ConversionClass::Rename) how = stored_conversion(held.layout, wanted.layout, change.bits = bits(to));
  change.kind = how.kind;
  change.shuffles = how.shuffles * wanted.layout->extent(LayoutAxis::Warp);
  plan_.ops[op.name].change = change;
  if (change.kind != ConversionClass::SharedMemory) return;
  if (const auto said = choices_.instructions.find(op.name); said != choices_.instructions.end() && said->second.name == kInRegisters)
    fault(pointer_to("/instructions", op.name),
          fmt::format("'{}' cannot stay in registers: {}, {}, and other warps have its elements", printable(op.name), wish(from, true),
                      wish(to, false)),
          "say of one of them that it lies otherwise, or let it go through shared memory");

  // The fewest cycles of the port, then the fewest instructions, there and back; nothing else reads the memory in between.
  const auto fewer = [](const AccessCost& a, const AccessCost& b) { return std::pair(a.port, a.issues) < std::pair(b.port, b.issues); };
  const auto best = [&](bool store, const std::shared_ptr<const Layout>& memory) {
    OpAccess found;
    found.value = to;
    found.registers = store ? from : to;
    found.store = store;
    found.charged = asks_for_port(machine_, op);
    found.bits = bits(to);
    found.held = store ? held.layout : wanted.layout;
    found.scratch = memory;
    for (const char* name : store ? std::array{"st.shared.16", "stmatrix.x4", "st.shared.8", "st.shared.4", "st.shared.2", "st.shared.1"}
                                  : std::array{"ld.shared.16", "ldmatrix.x4", "ld.shared.8", "ld.shared.4", "ld.shared.2", "ld.shared.1"}) {
      const Instruction* row = machine_.find_instruction(name);
      if (!row) continue;
      const StoredAccess counted = stored_access(found.held, memory, found.bits, *row, {});
      if (!counted.refusal.empty() || !counted.cost.known || (found.by && !fewer(counted.cost, found.cost))) continue;
      found.by = machine_.instructions.share(name);
      found.cost = counted.cost;
    }
    return found;
  };
  std::optional<std::pair<OpAccess, OpAccess>> taken;
  AccessCost least;
  for (const int span : {128, 64, 32, 0}) {
    const bool tile = shapes_[to].size() == 2;
    const LayoutForm form = tile ? LayoutForm::Panels : LayoutForm::Vector;
    const auto memory = stored_layout({form, tile ? shapes_[to][0] : 1, shapes_[to].back(), bits(to), span});
    if (!memory || (!tile && span != 0)) continue;
    OpAccess there = best(true, memory->layout), back = best(false, memory->layout);
    if (!there.by || !back.by) continue;
    const AccessCost both = sum_of(there.cost, back.cost);
    if (taken && !fewer(both, least)) continue;
    least = both;
    taken = {std::move(there), std::move(back)};
  }
  OpPlan& out = plan_.ops[op.name];
  if (!taken) {
    out.unknown = "no instruction brings it to other warps through shared memory";
    return;
  }
  out.scratch_bytes = ceil_div(sat_mul(taken->first.scratch->extent(LayoutAxis::Offset), bits(to)), std::int64_t{8});
  if (taken->first.charged) out.cost = least;
  out.accesses = {std::move(taken->first), std::move(taken->second)};
}

void Planner::plan_product(const TileOp& op) {
  if (op.inputs.size() < 2 || op.outputs.empty()) return;
  const std::size_t a = index_of(op.inputs[0].value), b = index_of(op.inputs[1].value), d = index_of(op.outputs[0]);
  if (shapes_[a].size() != 2 || shapes_[b].size() != 2 || shapes_[d].size() != 2) return;
  const std::int64_t m = shapes_[d][0], n = shapes_[d][1], k = flag_attr(op, "transpose_a") ? shapes_[a][0] : shapes_[a][1];
  OpPlan& out = plan_.ops[op.name];
  out.instruction.name = product_name(tensor_products(), value(a).space, value(a).dtype);
  out.product = ProductSize{m, n, k, bits(a), a, b, d, flag_attr(op, "transpose_a"), flag_attr(op, "transpose_b")};
  out.cost = product_cost(machine_, value(a).space, value(a).dtype, m, n, k, bits(a));
  if (!out.cost.known) out.unknown = fmt::format("machine '{}' has no product of this kind in its catalogue", machine_.name);
  if (const InstructionChoice* said = chosen(op)) {
    out.chosen = true;
    if (said->name != out.instruction.name || said->exchange.used())
      fault(pointer_to("/instructions", op.name),
            fmt::format("'{}' cannot be written as {}: its A is {} in {}", printable(op.name), printable(said->name),
                        to_string(value(a).dtype), value(a).space == Space::Register ? "registers" : to_string(value(a).space)),
            fmt::format("\"{}\" takes it", out.instruction.name));
  }
  // What B takes is what is left when A comes from elsewhere.
  const bool both = value(a).space == Space::Smem && a != b;
  const AccessCost of_b =
      both ? product_cost(machine_, tensor_products() ? Space::Tmem : Space::Register, value(a).dtype, m, n, k, bits(a)) : out.cost;
  const std::int64_t port_of_b = of_b.known ? std::min(of_b.port, out.cost.port) : out.cost.port;
  for (const std::size_t operand : {a, b}) {
    if (value(operand).space != Space::Smem) continue;
    OpAccess access;
    access.value = operand;
    access.registers = d;
    access.bits = bits(operand);
    access.by = machine_.instructions.share(out.instruction.name);
    if (access.by && access.by->kind != Kind::Product) access.by = nullptr;
    access.cost = out.cost;
    if (both && out.cost.known) {
      access.cost.port = access.cost.least = operand == b ? port_of_b : out.cost.port - port_of_b;
      access.cost.issues = operand == b ? out.cost.issues : 0;  // one instruction reads both
    }
    out.accesses.push_back(std::move(access));
    if (a == b) break;
  }
}

/// One number per row or column, taken from shared memory where it is needed: f32, or 16 bits per row.
void Planner::plan_vectors(const TileOp& op) {
  if (plan_.family == LayoutPlan::Family::Rows || op.outputs.empty()) return;
  const std::size_t to = index_of(op.outputs[0]);
  if (shapes_[to].size() != 2 || !plan_.values[to].layout) return;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const std::size_t v = index_of(op.inputs[i].value);
    const bool half = value(v).dtype == DType::Bf16 || value(v).dtype == DType::F16;
    if (value(v).space != Space::Smem || shapes_[v].size() != 1 || (value(v).dtype != DType::F32 && !half)) continue;
    const bool columns = op.kind == "map" ? map_lay(op, i, shapes_[v], shapes_[to]) == Lay::AlongColumns : integer_attr(op, "axis", 0) == 1;
    const bool one = shapes_[v][0] == 1;  // every thread takes it
    if ((!one && shapes_[v][0] != shapes_[to][columns ? 1 : 0]) || ((one || columns) && half)) continue;
    const ValuePlan& memory = plan_.values[v];
    std::vector<Fault> none;
    const auto held = one ? stored_layout("{register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]]}", {1}, 32, {}, {}, none)
                          : stored_layout({tensor_products() ? LayoutForm::ThreadRows : LayoutForm::Accumulator, shapes_[to][0],
                                           shapes_[to][1], bits(v), 0, columns ? 0 : 1});
    OpAccess access;
    access.value = v;
    access.registers = to;
    access.charged = false;
    access.bits = bits(v);
    const char* name = half ? "ld.shared.2" : one || !columns ? "ld.shared.4" : tensor_products() ? "ld.shared.16" : "ld.shared.8";
    access.by = machine_.instructions.share(name);
    access.cost = uncounted(v, false);
    if (held && memory.layout && access.by) {
      access.held = held->layout;
      const StoredAccess counted = stored_access(held->layout, memory.layout, access.bits, *access.by, {});
      if (counted.refusal.empty()) access.cost = counted.cost;
    }
    OpPlan& out = plan_.ops[op.name];
    out.cost.known = access.cost.known && (out.accesses.empty() || out.cost.known);
    out.accesses.push_back(std::move(access));
  }
}

/// Global memory: which vectors threads load and store; the port is charged by bytes.
void Planner::plan_global(const TileOp& op) {
  const bool load = op.kind == "load";
  if (load ? op.outputs.empty() : op.inputs.empty()) return;
  const std::size_t v = index_of(load ? op.outputs[0] : op.inputs[0].value);
  OpPlan& out = plan_.ops[op.name];
  out.cost = uncounted(v, false);
  out.unknown = "global memory is counted by bytes";
  if (const InstructionChoice* said = chosen(op)) {
    out.instruction = *said;
    out.chosen = true;
    if (said->exchange.used())
      fault(pointer_to("/instructions", op.name),
            fmt::format("lanes exchange what they store with st.shared only, not with {}", printable(said->name)));
    return;
  }
  const bool one_number = shapes_[v].size() == 1 && !along_columns(v);
  if (value(v).space == Space::Smem)
    out.instruction.name = "cp.async.16";
  else if (plan_.family == LayoutPlan::Family::Products && !one_number && bits(v) == 32)
    out.instruction.name = load ? "ld.global.8" : "st.global.8";  // two neighbours of a row
  else
    out.instruction.name = load ? "ld.global.4" : "st.global.4";
}

}  // namespace heddle
