// What ops do with the values that a plan has laid out: the instructions of each, the default's or those chosen, and what shared memory's
// port does for it.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/integer_division.h"
#include "core/base/json.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/kernel/op_shapes.h"
#include "core/layout/chosen_instructions.h"
#include "core/layout/known.h"
#include "core/layout/layout_store.h"
#include "core/layout/packed_tensors.h"
#include "core/layout/plan_parts.h"
#include "core/layout/plan_transfer.h"

namespace heddle {
namespace {

/// Reads vectors from shared memory on its way.
bool computes(const TileOp& op) { return op.kind == "elementwise" || op.kind == "exp2" || op.kind == "map" || op.kind == "broadcast"; }

/// Why the op's registers do not go to another group in pieces as wide as the row's; empty: they do, or may.
std::string hand_over_objection(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, const Instruction& row) {
  const std::string name = printable(op.name);
  const auto same = [&](const TileOp& other) { return other.name == op.name; };
  if (std::none_of(of.kernel.body.begin(), of.kernel.body.end(), same))
    return fmt::format("'{}' hands nothing over: it is outside the loop, whose ops alone are spread over groups", name);
  bool handed = false;
  for (const std::string& output : op.outputs) {
    const std::size_t v = of.index_of(output);
    const auto reads = [&](const TileOp& other) {
      return other.name != op.name &&
             std::any_of(other.inputs.begin(), other.inputs.end(), [&](const Operand& in) { return in.value == output; });
    };
    if (of.value(v).space != Space::Register || std::none_of(of.kernel.body.begin(), of.kernel.body.end(), reads)) continue;
    handed = true;
    const auto& layout = plan.values[v].layout;
    if (!layout) continue;
    const std::int64_t words = ceil_div(sat_mul(layout->extent(LayoutAxis::Register), of.bits(v)), std::int64_t{32});
    if (words * 4 % row.bytes != 0)
      return fmt::format("'{}' hands over {} of each thread, no multiple of the {} that {} moves", name, count_of(words, "register"),
                         row.bytes / 4, row.name);
  }
  return handed ? std::string() : fmt::format("'{}' hands nothing over: no other op of the loop reads it from registers", name);
}

/// Boxes by TMA: filled in idle cycles of the port, read at its full rate.
std::optional<OpPlan> plan_copy(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, std::vector<Fault>& faults) {
  const bool load = op.kind == "tma_load";
  if (load ? op.outputs.empty() : op.inputs.empty()) return std::nullopt;
  const std::size_t v = of.index_of(load ? op.outputs[0] : op.inputs[0].value);
  OpPlan out;
  out.cost = uncounted(of, v, false);
  if (of.value(v).space != Space::Smem) {
    out.unknown = fmt::format("'{}' does not lie in shared memory", of.value(v).name);
    return out;
  }
  OpAccess access;
  access.value = access.registers = v;
  access.store = load;
  access.charged = !load;
  if (const auto packed = plan.packed.find(op.tensor); packed != plan.packed.end()) access.packed = packed->second;
  access.bits = of.bits(v);
  const ValuePlan& memory = plan.values[v];
  if (memory.layout) {
    // Default layouts are known; those of vectors are boxes of one row.
    const std::optional<int> swizzle = memory.chosen ? box_swizzle(*memory.layout, access.bits)
                                       : of.shapes[v].size() != 2 || packed_order(of, plan.packed, v) ? 0
                                       : of.family == LayoutPlan::Family::Rows                        ? 0
                                                                                                      : of.usual_span(v);
    out.instruction.name = fmt::format("tma.{}", swizzle.value_or(0));
    access.by = of.machine.instructions.share(out.instruction.name);
    if (access.by && access.by->kind != InstructionKind::BulkCopy) access.by = nullptr;
    access.cost = out.cost;
    access.cost.known = access.by != nullptr;
    access.cost.issues = 1;
    if (const InstructionChoice* said = chosen_instruction(of, plan.choices, op)) {
      out.chosen = true;
      if (said->name != out.instruction.name)
        faults.push_back({{},
                          pointer_to("/instructions", op.name),
                          fmt::format("'{}' cannot be written as {} while '{}' lies as {}", printable(op.name), printable(said->name),
                                      of.value(v).name, memory.text),
                          fmt::format("\"{}\" takes it as it lies", out.instruction.name)});
      else if (said->exchange.used())
        faults.push_back({{},
                          pointer_to("/instructions", op.name),
                          fmt::format("lanes exchange what they store with st.shared only, not with {}", printable(said->name)),
                          {}});
    }
  } else {
    out.unknown = fmt::format("'{}' {}", of.value(v).name, memory.unknown);
    access.cost = out.cost;
  }
  out.cost = access.charged ? access.cost : AccessCost{.known = access.cost.known};
  out.accesses.push_back(std::move(access));
  return out;
}

std::optional<OpPlan> plan_product(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, std::vector<Fault>& faults) {
  if (op.inputs.size() < 2 || op.outputs.empty()) return std::nullopt;
  const std::size_t a = of.index_of(op.inputs[0].value), b = of.index_of(op.inputs[1].value), d = of.index_of(op.outputs[0]);
  if (of.shapes[a].size() != 2 || of.shapes[b].size() != 2 || of.shapes[d].size() != 2) return std::nullopt;
  const std::int64_t m = of.shapes[d][0], n = of.shapes[d][1], k = flag_attr(op, "transpose_a") ? of.shapes[a][0] : of.shapes[a][1];
  OpPlan out;
  out.instruction.name = product_name(of.tensor_products(), of.value(a).space, of.value(a).dtype);
  out.product = ProductSize{m, n, k, of.bits(a), a, b, d, flag_attr(op, "transpose_a"), flag_attr(op, "transpose_b")};
  out.cost = product_cost(of.machine, of.value(a).space, of.value(a).dtype, *out.product);
  if (!out.cost.known) out.unknown = fmt::format("machine '{}' has no mma of this kind in its catalogue", of.machine.name);
  if (const InstructionChoice* said = chosen_instruction(of, plan.choices, op)) {
    out.chosen = true;
    if (said->name != out.instruction.name || said->exchange.used())
      faults.push_back(
          {{},
           pointer_to("/instructions", op.name),
           fmt::format("'{}' cannot be written as {}: its A is {} in {}", printable(op.name), printable(said->name),
                       to_string(of.value(a).dtype), of.value(a).space == Space::Register ? "registers" : to_string(of.value(a).space)),
           fmt::format("\"{}\" takes it", out.instruction.name)});
  }
  // What B takes is what is left when A comes from elsewhere.
  const bool both = of.value(a).space == Space::Smem && a != b;
  const AccessCost of_b =
      both ? product_cost(of.machine, of.tensor_products() ? Space::Tmem : Space::Register, of.value(a).dtype, *out.product) : out.cost;
  const std::int64_t port_of_b = of_b.known ? std::min(of_b.port, out.cost.port) : out.cost.port;
  for (const std::size_t operand : {a, b}) {
    if (of.value(operand).space != Space::Smem) continue;
    OpAccess access;
    access.value = operand;
    access.registers = d;
    access.bits = of.bits(operand);
    access.by = of.machine.instructions.share(out.instruction.name);
    if (access.by && access.by->kind != InstructionKind::Product) access.by = nullptr;
    access.cost = out.cost;
    if (both && out.cost.known) {
      access.cost.port = access.cost.least = operand == b ? port_of_b : out.cost.port - port_of_b;
      access.cost.issues = operand == b ? out.cost.issues : 0;  // one instruction reads both
    }
    out.accesses.push_back(std::move(access));
    if (a == b) break;
  }
  return out;
}

/// One number per row or column, taken from shared memory where it is needed: f32, or 16 bits per row.
std::optional<OpPlan> plan_vectors(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op) {
  if (of.family == LayoutPlan::Family::Rows || op.outputs.empty()) return std::nullopt;
  const std::size_t to = of.index_of(op.outputs[0]);
  if (of.shapes[to].size() != 2 || !plan.values[to].layout) return std::nullopt;
  std::optional<OpPlan> out;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const std::size_t v = of.index_of(op.inputs[i].value);
    const bool half = of.value(v).dtype == DType::Bf16 || of.value(v).dtype == DType::F16;
    if (of.value(v).space != Space::Smem || of.shapes[v].size() != 1 || (of.value(v).dtype != DType::F32 && !half)) continue;
    const bool columns =
        op.kind == "map" ? map_lay(op, i, of.shapes[v], of.shapes[to]) == Lay::AlongColumns : integer_attr(op, "axis", 0) == 1;
    const bool one = of.shapes[v][0] == 1;  // every thread takes it
    if ((!one && of.shapes[v][0] != of.shapes[to][columns ? 1 : 0]) || ((one || columns) && half)) continue;
    const ValuePlan& memory = plan.values[v];
    std::vector<Fault> none;
    const auto held = one ? stored_layout("{register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]]}", {1}, 32, {}, none)
                          : stored_layout({of.tensor_products() ? LayoutForm::ThreadRows : LayoutForm::Accumulator, of.shapes[to][0],
                                           of.shapes[to][1], of.bits(v), 0, columns ? 0 : 1});
    OpAccess access;
    access.value = v;
    access.registers = to;
    access.charged = false;
    access.bits = of.bits(v);
    const char* name = half ? "ld.shared.2" : one || !columns ? "ld.shared.4" : of.tensor_products() ? "ld.shared.16" : "ld.shared.8";
    access.by = of.machine.instructions.share(name);
    access.cost = uncounted(of, v, false);
    if (held && memory.layout && access.by) {
      access.held = held->layout;
      const StoredAccess counted = stored_access(held->layout, memory.layout, access.bits, *access.by, {});
      if (counted.refusal.empty()) access.cost = counted.cost;
    }
    const bool known = access.cost.known && (!out || out->cost.known);
    if (!out) out.emplace();
    out->cost.known = known;
    out->accesses.push_back(std::move(access));
  }
  return out;
}

/// Global memory: which vectors threads load and store; the port is charged by bytes.
std::optional<OpPlan> plan_global(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, std::vector<Fault>& faults) {
  const bool load = op.kind == "load";
  if (load ? op.outputs.empty() : op.inputs.empty()) return std::nullopt;
  const std::size_t v = of.index_of(load ? op.outputs[0] : op.inputs[0].value);
  OpPlan out;
  out.cost = uncounted(of, v, false);
  out.unknown = "global memory is counted by bytes";
  if (const InstructionChoice* said = chosen_instruction(of, plan.choices, op)) {
    out.instruction = *said;
    out.chosen = true;
    if (said->exchange.used())
      faults.push_back({{},
                        pointer_to("/instructions", op.name),
                        fmt::format("lanes exchange what they store with st.shared only, not with {}", printable(said->name)),
                        {}});
    return out;
  }
  const bool one_number = of.shapes[v].size() == 1 && !of.along_columns(v);
  if (of.value(v).space == Space::Smem)
    out.instruction.name = "cp.async.16";
  else if (of.family == LayoutPlan::Family::Products && !one_number && of.bits(v) == 32)
    out.instruction.name = load ? "ld.global.8" : "st.global.8";  // two neighbours of a row
  else
    out.instruction.name = load ? "ld.global.4" : "st.global.4";
  return out;
}

std::optional<OpPlan> plan_op(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, std::vector<Fault>& faults) {
  if (op.kind == "smem_store" || op.kind == "smem_load") return plan_transfer(of, plan, op, faults);
  if (op.kind == "mma") return plan_product(of, plan, op, faults);
  if (op.kind == "load" || op.kind == "store") return plan_global(of, plan, op, faults);
  if (op.kind == "tma_load" || op.kind == "tma_store" || op.kind == "atomic_add") return plan_copy(of, plan, op, faults);
  std::optional<OpPlan> out;
  if (computes(op)) out = plan_vectors(of, plan, op);
  if (may_change_layout(op)) out = plan_change(of, plan, op, faults);
  const InstructionChoice* said = chosen_instruction(of, plan.choices, op);
  if (!said) return out;
  if (!out) out.emplace();
  out->instruction = *said;
  out->chosen = true;
  if (said->exchange.used())
    faults.push_back({{},
                      pointer_to("/instructions", op.name),
                      fmt::format("'{}' hands registers over as they are: its lanes exchange nothing", printable(op.name)),
                      {}});
  else if (std::string why = hand_over_objection(of, plan, op, *of.machine.find_instruction(said->name)); !why.empty())
    faults.push_back({{}, pointer_to("/instructions", op.name), std::move(why), {}});
  return out;
}

}  // namespace

std::map<std::string, OpPlan, std::less<>> plan_ops(const MeasuredKernel& of, const LayoutPlan& plan, std::vector<Fault>& faults) {
  std::map<std::string, OpPlan, std::less<>> plans;
  if (of.family == LayoutPlan::Family::None) return plans;
  for (const TileOp& op : of.ops)
    if (std::optional<OpPlan> planned = plan_op(of, plan, op, faults)) plans[op.name] = *std::move(planned);
  return plans;
}

}  // namespace heddle
