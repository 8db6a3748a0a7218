#include "core/triton/kernel/loop_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/triton/kernel/joins.h"
#include "core/triton/kernel/loads_stores.h"
#include "core/triton/kernel/opaque.h"
#include "core/triton/kernel/outside.h"

namespace heddle::triton {
namespace {

Operand operand_of(LoopKernelDraft& draft, const ValueSource& source, bool memory) {
  const LoopText& text = draft.text;
  if (!source.op.valid() && source.distance > 0) {
    draft.refuse(text.op(text.flow.loop()),
                 fmt::format("'{}' is carried by the loop and not computed in it: arguments that change places or come from "
                             "outside later on have no kind here",
                             text.program.module->value(source.value).name));
    return {"", 0};
  }
  if (!source.op.valid()) return {outside(draft, source.value, KernelPart::Prologue), 0};
  if (const auto second = draft.second_results.find(source.value); second != draft.second_results.end()) {
    if (source.distance > 0) ensure_initial(draft, second->second, source.initial);
    return {second->second, source.distance};
  }
  const auto& first = memory ? draft.in_memory : draft.in_registers;
  const auto& second = memory ? draft.in_registers : draft.in_memory;
  auto it = first.find(source.op);
  if (it == first.end()) {
    it = second.find(source.op);
    if (it == second.end()) {
      draft.refuse(text.op(source.op), fmt::format("{}: its result is read as a tile and is none here (a mask of loaded values or of "
                                                   "more than two offsets, a number that an scf.if gives)",
                                                   text.op(source.op).name));
      return {"", 0};
    }
  }
  if (source.distance > 0) ensure_initial(draft, it->second, source.initial);
  return {it->second, source.distance};
}

/// Whether a vector that is spread over a tile has an element for each row: its last view but the spreading added a dimension behind it.
bool lies_along_rows(const LoopText& text, mlir::ValueId tile) {
  for (int passage = 0; passage < 64; ++passage) {
    const mlir::OpId definer = text.program.module->value(text.flow.carried(tile).value).definer;
    if (!definer.valid()) return false;
    const mlir::Op& view = text.op(definer);
    if (view.name == "tt.expand_dims") return view.integer("axis", 0) == 1;
    if (work_of(text.program, view) != OpRole::View || view.operands.empty()) return false;
    const std::vector<std::int64_t>& shape = text.program.type(view.operands[0]).tile.shape;
    if (shape.size() == 2 && shape[1] == 1 && shape[0] != 1) return true;
    tile = view.operands[0];
  }
  return false;
}

/// The reduction does what the chain that ends in `last` says.
void add_joined(LoopKernelDraft& draft, std::size_t last, std::size_t reduction, const Chain& chain) {
  const LoopText& text = draft.text;
  const mlir::Op& end = text.op(last);
  const std::string name = draft.in_registers.at(text.graph.nodes[last].op);
  const mlir::Op& reduce = text.op(reduction);
  const std::string what = reduction_of(*text.program.module, reduce);
  const auto input = std::find_if(chain.inputs.begin(), chain.inputs.end(), [&](const ChainInput& in) {
    return in.source.op == text.graph.nodes[reduction].op && in.source.distance == 0;
  });
  const auto found = joined_reduction(chain, static_cast<std::size_t>(input - chain.inputs.begin()), what == "max");
  std::vector<Operand> operands{operand_of(draft, text.flow.source(reduce.operands[0]), false),
                                operand_of(draft, chain.inputs[found->old].source, false)};
  if (found->factor) operands.push_back(operand_of(draft, chain.inputs[*found->factor].source, false));
  if (!draft.error.faults.empty()) return;
  TileOp& made = draft.add_op({KernelPart::Body, end}, name, "reduce_" + what, std::move(operands), {name});
  draft.native.origins.back().of.insert(draft.native.origins.back().of.begin(), text.graph.nodes[reduction].op);
  if (!found->scale.empty()) made.attrs["scale"] = found->scale;
  if (const std::int64_t axis = reduce.integer("axis", 0); axis != 1 && !text.row_vectors) made.attrs["axis"] = axis;
}

void add_chain(LoopKernelDraft& draft, const Joins& joins, std::size_t fused) {
  const std::vector<std::size_t>& members = draft.text.graph.fused[fused];
  const LoopText& text = draft.text;
  const std::size_t last = members.back();
  const mlir::Op& end = text.op(last);
  std::vector<mlir::OpId> ops;
  for (const std::size_t m : members) ops.push_back(text.graph.nodes[m].op);
  const Chain chain = build_chain(text.flow, draft.scalars, text.graph.nodes[last].op, ops, text.row_vectors);
  if (!chain.fault.empty()) return add_opaque(draft, members, fmt::format("{}: {}", end.name, chain.fault));
  const auto joined = joins.reduction.find(fused);
  if (joined != joins.reduction.end()) return add_joined(draft, last, joined->second, chain);
  std::vector<Operand> inputs;
  for (const ChainInput& in : chain.inputs) inputs.push_back(operand_of(draft, in.source, false));
  if (draft.error.faults.empty()) draft.add_chain({KernelPart::Body, end}, chain, draft.in_registers.at(text.graph.nodes[last].op), inputs);
}

void add_reduction(LoopKernelDraft& draft, std::size_t n) {
  const LoopText& text = draft.text;
  const mlir::Op& reduce = text.op(n);
  const std::string what = reduction_of(*text.program.module, reduce), name = draft.in_registers.at(text.graph.nodes[n].op);
  const Type& tile = text.program.operand_type(reduce, 0);
  const Operand in = operand_of(draft, text.flow.source(reduce.operands[0]), false);
  if (!draft.error.faults.empty()) return;
  const std::int64_t axis = reduce.integer("axis", 0);
  const auto along = [&](TileOp& made) {
    if (axis != 1 && !text.row_vectors) made.attrs["axis"] = axis;
  };
  const std::vector<std::int64_t>& extents = tile.tile.shape;
  if (!text.row_vectors && axis >= 0 && static_cast<std::size_t>(axis) < extents.size() && extents.size() == 2 &&
      extents[static_cast<std::size_t>(axis)] == 1) {
    // Along a dimension of one element there is nothing to reduce.
    draft.add_op({KernelPart::Body, reduce}, name, "copy", {in}, {name});
    return;
  }
  const bool place = what == "argmax";
  if (place) {
    // The places must be those along the axis, as tl.argmax has them.
    const auto index = draft.scalars.affine(reduce.operands[1]);
    const auto dim = static_cast<std::size_t>(std::max<std::int64_t>(axis, 0));
    if (!index || !index->base.is_zero() || dim >= index->strides.size() || index->strides[dim].text() != "1")
      return draft.refuse(reduce, "tt.reduce: the greatest element's companion is not its place along the axis");
    along(draft.add_op({KernelPart::Body, reduce}, draft.second_results.at(reduce.results[1]), "reduce_argmax", {in},
                       {draft.second_results.at(reduce.results[1])}));
  }
  along(draft.add_op({KernelPart::Body, reduce}, name, place ? "reduce_max" : "reduce_" + what, {in}, {name}));
}

/// Mmas in a row add to one accumulator, in place.
void share_storage(Kernel& kernel, const std::string& owner, const std::string& other) {
  const auto root = [&](std::string name) {
    const auto value = [&] {
      return std::find_if(kernel.values.begin(), kernel.values.end(), [&](const TileValue& v) { return v.name == name; });
    };
    auto at = value();
    for (; !at->alias_of.empty(); at = value()) name = at->alias_of;
    return at;
  };
  const auto kept = root(owner), joined = root(other);
  if (kept != joined) joined->alias_of = kept->name;
}

/// An mma that begins with a row or a column (a bias) begins with it spread over its tile.
void spread_accumulator(LoopKernelDraft& draft, const mlir::Op& product, Operand& sum) {
  const std::vector<std::int64_t> whole = draft.shape_of(draft.text.result(product), false), &part = draft.extents[sum.value];
  if (whole == part || whole.size() != 2) return;
  const bool row = part.size() == 1 ? part[0] == whole[1] && !lies_along_rows(draft.text, product.operands[2]) : part[0] == 1;
  const std::string spread = draft.add_value(sum.value + "_spread", draft.text.result(product), Space::Register);
  draft.add_op({KernelPart::Body, product}, spread, "broadcast", {sum}, {spread}).attrs["axis"] = std::int64_t{row};
  sum = {spread, 0};
}

void add_product(LoopKernelDraft& draft, std::size_t n) {
  const LoopText& text = draft.text;
  const mlir::Op& product = text.op(n);
  const bool tensor = work_of(text.program, product) == OpRole::TensorProduct;
  const std::vector<ValueSource> sources = text.flow.operands(product);
  if (sources.size() < 2) return draft.refuse(product, fmt::format("{}: its operands are not found", product.name));
  std::vector<Operand> operands;
  std::map<std::string, Attr> attrs;
  for (std::size_t k = 0; k < 2; ++k) {
    const bool memory = is_memory(text.program.operand_type(product, k));
    operands.push_back(operand_of(draft, sources[k], memory));
    if (!draft.error.faults.empty()) return;
    if (text.transposed_view(product.operands[k]) != draft.transposed[operands.back().value])
      attrs[k == 0 ? "transpose_a" : "transpose_b"] = true;
  }
  if (sources.size() > 2) {
    const bool zero = !tensor && !sources[2].op.valid() && draft.scalars.number(sources[2].value) == "0";
    if (!zero) operands.push_back(operand_of(draft, sources[2], tensor));
  }
  if (!draft.error.faults.empty()) return;
  if (!tensor && operands.size() > 2) spread_accumulator(draft, product, operands[2]);
  const std::string name = tensor ? draft.in_memory.at(text.graph.nodes[n].op) : draft.in_registers.at(text.graph.nodes[n].op);
  if (tensor && operands.size() > 2 && sources[2].op.valid()) share_storage(draft.native.kernel, operands[2].value, name);
  // Warps issue mma.sync and wait for it; products in other layouts have no tensor core at all.
  if (product.name == "tt.dot")
    attrs["variant"] = std::string(text.result(product).layout.kind == TritonLayout::Kind::NvidiaMma ? "sync" : "fma");
  draft.add_op({KernelPart::Body, product}, name, "mma", std::move(operands), {name}).attrs = std::move(attrs);
}

/// An mma adds to its accumulator in place: who reads the sum as it was does so before.
void order_accumulators(LoopKernelDraft& draft) {
  const LoopText& text = draft.text;
  const std::vector<TileOp>& body = draft.native.kernel.body;
  const auto maker = [&](const std::string& value) {
    return std::find_if(body.begin(), body.end(), [&](const TileOp& each) { return !each.outputs.empty() && each.outputs[0] == value; })
        ->name;
  };
  for (const TileNode& node : text.graph.nodes) {
    const mlir::Op& product = text.op(node.op);
    if (work_of(text.program, product) != OpRole::TensorProduct || !text.flow.accumulates(product)) continue;
    const ValueSource sum = text.flow.tensor_state(product, 2);
    for (const TileNode& other : text.graph.nodes) {
      const mlir::Op& load = text.op(other.op);
      if (!sum.op.valid() || work_of(text.program, load) != OpRole::TensorLoad) continue;
      const ValueSource read = text.flow.tensor_state(load, 0);
      if (read.op == sum.op && read.distance <= sum.distance)
        draft.native.kernel.order.push_back({maker(draft.in_registers.at(other.op)), maker(draft.in_memory.at(node.op)), std::nullopt,
                                             sum.distance - read.distance, std::nullopt});
    }
  }
}

void add_tensor_move(LoopKernelDraft& draft, std::size_t n) {
  const LoopText& text = draft.text;
  const mlir::Op& move = text.op(n);
  const auto role = work_of(text.program, move);
  if (role == OpRole::TensorLoad) {
    const Operand from = operand_of(draft, text.flow.tensor_state(move, 0), true);
    if (!draft.error.faults.empty()) return;
    const std::string name = draft.in_registers.at(text.graph.nodes[n].op);
    const std::vector<std::int64_t>&whole = draft.extents[from.value], &part = draft.extents[name];
    TileOp& made = draft.add_op({KernelPart::Body, move}, name, "tmem_load", {from}, {name});
    if (whole != part) {
      // A slice: which columns, the view says.
      const mlir::OpId view = text.program.module->value(move.operands[0]).definer;
      made.attrs["column"] = view.valid() ? text.op(view).integer("N", 0) : std::int64_t{0};
    }
    return;
  }
  const Operand from = operand_of(draft, text.flow.source(move.operands[0]), false);
  if (!draft.error.faults.empty()) return;
  const std::string name = draft.in_memory.at(text.graph.nodes[n].op);
  draft.add_op({KernelPart::Body, move}, name, "tmem_store", {from}, {name});
  if (role != OpRole::TensorStore) return;
  // It stands in the storage of the accumulator that it renews.
  const mlir::ValueId root = text.flow.storage(move.operands[1]);
  for (const TileNode& other : text.graph.nodes) {
    const mlir::Op& product = text.op(other.op);
    if (work_of(text.program, product) == OpRole::TensorProduct && text.flow.storage(product.operands[2]) == root)
      return share_storage(draft.native.kernel, draft.in_memory.at(other.op), name);
  }
}

void add_shared_move(LoopKernelDraft& draft, std::size_t n) {
  const LoopText& text = draft.text;
  const mlir::Op& move = text.op(n);
  const bool load = work_of(text.program, move) == OpRole::SharedLoad;
  const Operand from = operand_of(draft, load ? text.flow.shared_state(move, 0) : text.flow.source(move.operands[0]), load);
  if (!draft.error.faults.empty()) return;
  const std::string name = load ? draft.in_registers.at(text.graph.nodes[n].op) : draft.in_memory.at(text.graph.nodes[n].op);
  draft.add_op({KernelPart::Body, move}, name, load ? "smem_load" : "smem_store", {from}, {name});
}

void add_body_store(LoopKernelDraft& draft, std::size_t n) {
  const LoopText& text = draft.text;
  const mlir::Op& each = text.op(n);
  const mlir::ValueId stored = text.flow.stored(each);
  if (!stored.valid()) return draft.refuse(each, fmt::format("{}: what it stores is not found", each.name));
  const bool memory = is_memory(text.program.type(stored));
  const ValueSource source =
      memory ? text.flow.shared_state(
                   each, static_cast<std::size_t>(std::find(each.operands.begin(), each.operands.end(), stored) - each.operands.begin()))
             : text.flow.source(stored);
  const Operand value = operand_of(draft, source, memory);
  if (value.distance > 0) draft.scalars.note(fmt::format("line {} stores what an earlier iteration computed", each.line));
  if (draft.error.faults.empty()) add_store(draft, {KernelPart::Body, each}, text.graph.nodes[n].name, value);
}

/// What is assumed of branches.
void note_branches(LoopKernelDraft& draft) {
  const LoopText& text = draft.text;
  for (const Flow::Branch& branch : text.flow.branches()) {
    const int line = text.op(branch.op).line;
    draft.scalars.note(
        branch.rare ? fmt::format("the branch at line {} ends a tile: its work is behind the loop here", line)
                    : fmt::format("the '{}' of the branch at line {} is taken in every turn", branch.taken == 0 ? "then" : "else", line));
  }
}

/// Values first: an op may read what a later one left an iteration ago. Loads are made with what reads them.
void add_values(LoopKernelDraft& draft, const Joins& joins) {
  const LoopText& text = draft.text;
  const LoadUses uses = load_uses(text);
  for (std::size_t n = 0; n < text.graph.nodes.size(); ++n) {
    const TileNode& node = text.graph.nodes[n];
    const mlir::Op& each = text.op(n);
    const auto role = work_of(text.program, each);
    if (text.last_of(n) != n) continue;
    switch (*role) {
      case OpRole::Elements:
      case OpRole::Convert:
      case OpRole::Product:
      case OpRole::TensorLoad:
      case OpRole::SharedLoad: draft.in_registers[node.op] = draft.add_value(node.name, text.result(each), Space::Register); break;
      case OpRole::Opaque:
        draft.in_registers[node.op] = draft.add_value(node.name, text.result(each), Space::Register);
        for (std::size_t k = 1; k < each.results.size(); ++k)
          draft.second_results[each.results[k]] =
              draft.add_value(fmt::format("{}_{}", node.name, k), text.program.type(each.results[k]), Space::Register);
        break;
      case OpRole::Reduce:
        if (!joins.chain.contains(n)) draft.in_registers[node.op] = draft.add_value(node.name, text.result(each), Space::Register);
        if (each.results.size() > 1)
          draft.second_results[each.results[1]] =
              draft.add_value(node.name + "_place", text.program.type(each.results[1]), Space::Register);
        break;
      case OpRole::TensorProduct:
        draft.in_memory[node.op] = draft.add_value(node.name, text.program.operand_type(each, 2), Space::Tmem);
        break;
      case OpRole::TensorStore:
        draft.in_memory[node.op] = draft.add_value(node.name, text.program.operand_type(each, 1), Space::Tmem);
        break;
      case OpRole::TensorAlloc: draft.in_memory[node.op] = draft.add_value(node.name, text.result(each), Space::Tmem); break;
      case OpRole::SharedAlloc: draft.in_memory[node.op] = draft.add_value(node.name, text.result(each), Space::Smem); break;
      case OpRole::SharedStore:
        draft.in_memory[node.op] = draft.add_value(node.name, text.program.operand_type(each, 1), Space::Smem);
        break;
      case OpRole::DescriptorLoad:
      case OpRole::PointerLoad: add_load(draft, uses, n); break;
      default: break;
    }
  }
}

}  // namespace

void add_body(LoopKernelDraft& draft) {
  const LoopText& text = draft.text;
  const Joins joins = find_joins(text, draft.scalars);
  add_values(draft, joins);
  for (const mlir::OpId id : text.flow.ops()) note_scalar_store(draft, text.op(id));
  note_branches(draft);
  std::vector<TileOp> loads = std::move(draft.native.kernel.body);
  std::vector<Origin> load_origins = std::move(draft.native.origins);
  draft.native.kernel.body.clear();
  draft.native.origins.clear();
  std::size_t next_load = 0;
  for (std::size_t n = 0; n < text.graph.nodes.size() && draft.error.faults.empty(); ++n) {
    if (text.last_of(n) != n) continue;
    const mlir::Op& each = text.op(n);
    const auto role = work_of(text.program, each);
    switch (*role) {
      case OpRole::Elements:
      case OpRole::Convert: add_chain(draft, joins, text.graph.nodes[n].fused); break;
      case OpRole::Opaque: add_opaque(draft, {n}, fmt::format("{} has no kind here", each.name)); break;
      case OpRole::Reduce:
        if (!joins.chain.contains(n)) add_reduction(draft, n);
        break;
      case OpRole::Product:
      case OpRole::TensorProduct: add_product(draft, n); break;
      case OpRole::TensorLoad:
      case OpRole::TensorStore:
      case OpRole::TensorAlloc: add_tensor_move(draft, n); break;
      case OpRole::SharedAlloc:
      case OpRole::SharedStore:
      case OpRole::SharedLoad: add_shared_move(draft, n); break;
      case OpRole::DescriptorLoad:
      case OpRole::PointerLoad:
        add_index_work(draft, n, loads[next_load].name);
        // Made above, with what reads them: a load may be followed by its move into registers or memory.
        while (next_load < loads.size() && !load_origins[next_load].of.empty() &&
               load_origins[next_load].of.front() == text.graph.nodes[n].op) {
          draft.native.kernel.body.push_back(std::move(loads[next_load]));
          draft.native.origins.push_back(std::move(load_origins[next_load]));
          ++next_load;
        }
        break;
      case OpRole::DescriptorStore:
      case OpRole::DescriptorReduce:
      case OpRole::PointerStore:
      case OpRole::Atomic: add_body_store(draft, n); break;
      default: draft.refuse(each, fmt::format("{} has no kind here", each.name));
    }
  }
  if (!draft.error.faults.empty()) return;
  order_memory(draft);
  order_addresses(draft);
  order_accumulators(draft);
}

}  // namespace heddle::triton
