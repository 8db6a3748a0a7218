// Ops of the loop.
#include <fmt/format.h>

#include <algorithm>

#include "core/kernel/map_expression.h"
#include "core/triton/kernel/native_builder.h"

namespace heddle::triton {
Operand NativeBuilder::operand_of(const Source& source, bool memory) {
  if (!source.op.valid() && source.distance > 0) {
    refuse(op(flow_.loop()), fmt::format("'{}' is carried by the loop and not computed in it: arguments that change places or come from "
                                         "outside later on have no kind here",
                                         program_.module->value(source.value).name));
    return {"", 0};
  }
  if (!source.op.valid()) return {outside(source.value, Part::Prologue), 0};
  if (const auto second = second_results_.find(source.value); second != second_results_.end()) {
    if (source.distance > 0) ensure_initial(second->second, source.initial);
    return {second->second, source.distance};
  }
  const auto& first = memory ? in_memory_ : in_registers_;
  const auto& second = memory ? in_registers_ : in_memory_;
  auto it = first.find(source.op);
  if (it == first.end()) {
    it = second.find(source.op);
    if (it == second.end()) {
      refuse(op(source.op), fmt::format("{}: its result is read as a tile and is none here (a mask of loaded values or of "
                                        "more than two offsets, a number that an scf.if gives)",
                                        op(source.op).name));
      return {"", 0};
    }
  }
  if (source.distance > 0) ensure_initial(it->second, source.initial);
  return {it->second, source.distance};
}

/// Reductions that also do what the one chain does that reads them: the running maximum, the running sum.
void NativeBuilder::find_joins() {
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
    const mlir::Op& reduction = op(n);
    if (work_of(program_, reduction) != Role::Reduce) continue;
    const std::string what = reduction_of(*program_.module, reduction);
    if (what != "max" && what != "sum") continue;
    const std::vector<std::int64_t>& extents = program_.operand_type(reduction, 0).tile.shape;
    if (extents.size() == 2 && (extents[0] == 1 || extents[1] == 1)) continue;
    const mlir::Op& yield = op(flow_.body()->ops.back());
    if (std::find(yield.operands.begin(), yield.operands.end(), reduction.results[0]) != yield.operands.end()) continue;
    const GraphEdge* reader = nullptr;
    std::size_t readers = 0;
    for (const GraphEdge& edge : graph_.edges)
      if (edge.from == n) {
        ++readers;
        reader = &edge;
      }
    if (readers != 1 || reader->distance != 0) continue;
    const std::size_t chain = graph_.nodes[reader->to].fused, last = graph_.fused[chain].back();
    const Node &a = graph_.nodes[n], &b = graph_.nodes[last];
    const auto role = work_of(program_, op(last));
    if (role != Role::Elements || a.stage != b.stage || a.cluster != b.cluster || a.partitions != b.partitions ||
        joined_chain_.contains(chain))
      continue;
    if (result(reduction).tile.shape != result(op(last)).tile.shape) continue;
    std::vector<mlir::OpId> members;
    for (const std::size_t m : graph_.fused[chain]) members.push_back(graph_.nodes[m].op);
    const Chain built = build_chain(flow_, scalars_, graph_.nodes[last].op, members, row_vectors_);
    const auto input = std::find_if(built.inputs.begin(), built.inputs.end(),
                                    [&](const ChainInput& in) { return in.source.op == graph_.nodes[n].op && in.source.distance == 0; });
    if (!built.fault.empty() || input == built.inputs.end()) continue;
    if (!joined_reduction(built, static_cast<std::size_t>(input - built.inputs.begin()), what == "max")) continue;
    joined_[n] = chain;
    joined_chain_[chain] = n;
  }
}

void NativeBuilder::add_body() {
  find_joins();
  for (const mlir::OpId id : flow_.body()->ops)
    for (const mlir::ValueId operand : op(id).operands) {
      const mlir::OpId from = flow_.source(operand).op;
      if (const auto node = from.valid() ? node_of(from) : std::nullopt; node && graph_.nodes[*node].kind.ends_with("load"))
        readers_[from].emplace_back(id, operand);
    }
  // Values first: an op may read what a later one left an iteration ago.
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    const mlir::Op& each = op(n);
    const auto role = work_of(program_, each);
    if (last_of(n) != n) continue;
    switch (*role) {
      case Role::Elements:
      case Role::Convert:
      case Role::Product:
      case Role::TensorLoad:
      case Role::SharedLoad: in_registers_[node.op] = add_value(node.name, result(each), Space::Register); break;
      case Role::Reduce:
        if (!joined_.contains(n)) in_registers_[node.op] = add_value(node.name, result(each), Space::Register);
        if (each.results.size() > 1)
          second_results_[each.results[1]] = add_value(node.name + "_place", program_.type(each.results[1]), Space::Register);
        break;
      case Role::TensorProduct: in_memory_[node.op] = add_value(node.name, program_.operand_type(each, 2), Space::Tmem); break;
      case Role::TensorStore: in_memory_[node.op] = add_value(node.name, program_.operand_type(each, 1), Space::Tmem); break;
      case Role::TensorAlloc: in_memory_[node.op] = add_value(node.name, result(each), Space::Tmem); break;
      case Role::SharedAlloc: in_memory_[node.op] = add_value(node.name, result(each), Space::Smem); break;
      case Role::SharedStore: in_memory_[node.op] = add_value(node.name, program_.operand_type(each, 1), Space::Smem); break;
      case Role::DescriptorLoad:
      case Role::PointerLoad: add_load(n); break;
      default: break;
    }
  }
  for (const mlir::OpId id : flow_.body()->ops) note_scalar_store(op(id));
  std::vector<TileOp> loads = std::move(native_.kernel.body);
  std::vector<Origin> load_origins = std::move(native_.origins);
  native_.kernel.body.clear();
  native_.origins.clear();
  std::size_t next_load = 0;
  for (std::size_t n = 0; n < graph_.nodes.size() && error_.faults.empty(); ++n) {
    if (last_of(n) != n) continue;
    const mlir::Op& each = op(n);
    const auto role = work_of(program_, each);
    switch (*role) {
      case Role::Elements:
      case Role::Convert: add_chain(graph_.fused[graph_.nodes[n].fused]); break;
      case Role::Reduce:
        if (!joined_.contains(n)) add_reduction(n);
        break;
      case Role::Product:
      case Role::TensorProduct: add_product(n); break;
      case Role::TensorLoad:
      case Role::TensorStore:
      case Role::TensorAlloc: add_tensor_move(n); break;
      case Role::SharedAlloc:
      case Role::SharedStore:
      case Role::SharedLoad: add_shared_move(n); break;
      case Role::DescriptorLoad:
      case Role::PointerLoad:
        add_index_work(n);
        // Made above, with what reads them: a load may be followed by its move into registers or memory.
        while (next_load < loads.size() && !load_origins[next_load].of.empty() &&
               load_origins[next_load].of.front() == graph_.nodes[n].op) {
          native_.kernel.body.push_back(std::move(loads[next_load]));
          native_.origins.push_back(std::move(load_origins[next_load]));
          ++next_load;
        }
        break;
      case Role::DescriptorStore:
      case Role::DescriptorReduce:
      case Role::PointerStore:
      case Role::Atomic: {
        const mlir::ValueId stored = flow_.stored(each);
        if (!stored.valid()) {
          refuse(each, fmt::format("{}: what it stores is not found", each.name));
          break;
        }
        const bool memory = is_memory(program_.type(stored));
        const Source source =
            memory
                ? flow_.shared_state(
                      each, static_cast<std::size_t>(std::find(each.operands.begin(), each.operands.end(), stored) - each.operands.begin()))
                : flow_.source(stored);
        const Operand value = operand_of(source, memory);
        if (value.distance > 0) scalars_.note(fmt::format("line {} stores what an earlier iteration computed", each.line));
        if (error_.faults.empty()) add_store(Part::Body, each, graph_.nodes[n].name, value.value);
        break;
      }
      default: refuse(each, fmt::format("{} has no kind here", each.name));
    }
  }
}

void NativeBuilder::emit_chain(Part part, const mlir::Op& from, const Chain& chain, const std::string& name,
                               const std::vector<Operand>& inputs) {
  NativeOp native = native_op(chain);
  const bool swapped = native.attrs.contains("swapped") && std::get<bool>(native.attrs["swapped"]);
  native.attrs.erase("swapped");
  std::vector<Operand> operands;
  for (const std::size_t k : native.inputs) operands.push_back(inputs[k]);
  if (native.kind == "convert" && !operands.empty()) {
    const auto type_of = [&](const std::string& value) { return native_.kernel.find_value(value)->dtype; };
    if (type_of(operands[0].value) == type_of(name)) native.kind = "copy";
  }
  if (native.kind == "map") {
    const auto* text = std::get_if<std::string>(&native.attrs["expr"]);
    const Result<MapExpression> expression = MapExpression::parse(*text, operands.size());
    if (!expression) return refuse(from, "its chain of element functions is too long: " + expression.error().faults.front().message);
    const MapExpression::Counts counts = expression->counts();
    native.attrs["fma"] = counts.fma;
    native.attrs["alu"] = counts.alu;
    native.attrs["mufu"] = counts.mufu;
  }
  TileOp& made = add_op(part, from, name, native.kind, std::move(operands), {name});
  made.attrs = std::move(native.attrs);
  if (native.kind == "mask" || (native.kind == "map" && !chain.at.empty())) {
    made.at = chain.at;
    while (made.at.size() < 2) made.at.emplace_back(0);
    if (swapped) std::swap(made.at[0], made.at[1]);
  }
}

void NativeBuilder::add_chain(const std::vector<std::size_t>& members) {
  const std::size_t last = members.back();
  const mlir::Op& end = op(last);
  std::vector<mlir::OpId> ops;
  for (const std::size_t m : members) ops.push_back(graph_.nodes[m].op);
  const Chain chain = build_chain(flow_, scalars_, graph_.nodes[last].op, ops, row_vectors_);
  if (!chain.fault.empty()) return refuse(end, fmt::format("{}: {}", end.name, chain.fault));
  const std::string name = in_registers_.at(graph_.nodes[last].op);
  const auto joined = joined_chain_.find(graph_.nodes[last].fused);
  if (joined == joined_chain_.end()) {
    std::vector<Operand> inputs;
    for (const ChainInput& in : chain.inputs) inputs.push_back(operand_of(in.source, false));
    if (inputs.empty()) {
      // Made of constants and coordinates alone: a map of its own place needs an input; a fill of zero is one.
      return refuse(end, fmt::format("{}: it reads no tile", end.name));
    }
    if (error_.faults.empty()) emit_chain(Part::Body, end, chain, name, inputs);
    return;
  }
  const std::size_t reduction = joined->second;
  const mlir::Op& reduce = op(reduction);
  const std::string what = reduction_of(*program_.module, reduce);
  const auto input = std::find_if(chain.inputs.begin(), chain.inputs.end(), [&](const ChainInput& in) {
    return in.source.op == graph_.nodes[reduction].op && in.source.distance == 0;
  });
  const auto found = joined_reduction(chain, static_cast<std::size_t>(input - chain.inputs.begin()), what == "max");
  std::vector<Operand> operands{operand_of(flow_.source(reduce.operands[0]), false), operand_of(chain.inputs[found->old].source, false)};
  if (found->factor) operands.push_back(operand_of(chain.inputs[*found->factor].source, false));
  if (!error_.faults.empty()) return;
  TileOp& made = add_op(Part::Body, end, name, "reduce_" + what, std::move(operands), {name});
  native_.origins.back().of.insert(native_.origins.back().of.begin(), graph_.nodes[reduction].op);
  if (!found->scale.empty()) made.attrs["scale"] = found->scale;
  if (const std::int64_t axis = reduce.integer("axis", 0); axis != 1 && !row_vectors_) made.attrs["axis"] = axis;
}

void NativeBuilder::add_reduction(std::size_t n) {
  const mlir::Op& reduce = op(n);
  const std::string what = reduction_of(*program_.module, reduce), name = in_registers_.at(graph_.nodes[n].op);
  const Type& tile = program_.operand_type(reduce, 0);
  if (tile.tile.shape.size() == 1 && !row_vectors_)
    return refuse(reduce, "tt.reduce of a vector to a number, beside tiles of two dimensions, has no kind here");
  const Operand in = operand_of(flow_.source(reduce.operands[0]), false);
  if (!error_.faults.empty()) return;
  const std::int64_t axis = reduce.integer("axis", 0);
  const auto along = [&](TileOp& made) {
    if (axis != 1 && !row_vectors_) made.attrs["axis"] = axis;
  };
  const std::vector<std::int64_t>& extents = tile.tile.shape;
  if (!row_vectors_ && axis >= 0 && static_cast<std::size_t>(axis) < extents.size() && extents.size() == 2 &&
      extents[static_cast<std::size_t>(axis)] == 1) {
    // Along a dimension of one element there is nothing to reduce.
    add_op(Part::Body, reduce, name, "copy", {in}, {name});
    return;
  }
  const bool place = what == "argmax";
  if (place) {
    // The places must be those along the axis, as tl.argmax has them.
    const auto index = scalars_.affine(reduce.operands[1]);
    const auto dim = static_cast<std::size_t>(std::max<std::int64_t>(axis, 0));
    if (!index || !index->base.is_zero() || dim >= index->strides.size() || index->strides[dim].text() != "1")
      return refuse(reduce, "tt.reduce: the greatest element's companion is not its place along the axis");
    along(
        add_op(Part::Body, reduce, second_results_.at(reduce.results[1]), "reduce_argmax", {in}, {second_results_.at(reduce.results[1])}));
  }
  along(add_op(Part::Body, reduce, name, place ? "reduce_max" : "reduce_" + what, {in}, {name}));
}

void NativeBuilder::add_product(std::size_t n) {
  const mlir::Op& product = op(n);
  const bool tensor = work_of(program_, product) == Role::TensorProduct;
  const std::vector<Source> sources = flow_.operands(product);
  if (sources.size() < 2) return refuse(product, fmt::format("{}: its operands are not found", product.name));
  std::vector<Operand> operands;
  std::map<std::string, Attr> attrs;
  for (std::size_t k = 0; k < 2; ++k) {
    const bool memory = is_memory(program_.operand_type(product, k));
    operands.push_back(operand_of(sources[k], memory));
    if (!error_.faults.empty()) return;
    if (transposed_view(product.operands[k]) != transposed_[operands.back().value]) attrs[k == 0 ? "transpose_a" : "transpose_b"] = true;
  }
  if (sources.size() > 2) {
    const bool zero = !tensor && !sources[2].op.valid() && scalars_.number(sources[2].value) == "0";
    if (!zero) operands.push_back(operand_of(sources[2], tensor));
  }
  if (!error_.faults.empty()) return;
  const std::string name = tensor ? in_memory_.at(graph_.nodes[n].op) : in_registers_.at(graph_.nodes[n].op);
  if (tensor && operands.size() > 2 && sources[2].op.valid()) share_storage(operands[2].value, name);
  add_op(Part::Body, product, name, "mma", std::move(operands), {name}).attrs = std::move(attrs);
}

/// Products in a row add to one accumulator, in place.
void NativeBuilder::share_storage(const std::string& owner, const std::string& other) {
  const auto root = [&](std::string name) {
    const auto value = [&] {
      return std::find_if(native_.kernel.values.begin(), native_.kernel.values.end(), [&](const TileValue& v) { return v.name == name; });
    };
    auto at = value();
    for (; !at->alias_of.empty(); at = value()) name = at->alias_of;
    return at;
  };
  const auto kept = root(owner), joined = root(other);
  if (kept != joined) joined->alias_of = kept->name;
}

/// A product adds to its accumulator in place: who reads the sum as it was does so before.
void NativeBuilder::order_accumulators() {
  const std::vector<TileOp>& body = native_.kernel.body;
  const auto maker = [&](const std::string& value) {
    return std::find_if(body.begin(), body.end(), [&](const TileOp& each) { return !each.outputs.empty() && each.outputs[0] == value; })
        ->name;
  };
  for (const Node& node : graph_.nodes) {
    const mlir::Op& product = op(node.op);
    if (work_of(program_, product) != Role::TensorProduct || !flow_.accumulates(product)) continue;
    const Source sum = flow_.tensor_state(product, 2);
    for (const Node& other : graph_.nodes) {
      const mlir::Op& load = op(other.op);
      if (!sum.op.valid() || work_of(program_, load) != Role::TensorLoad) continue;
      const Source read = flow_.tensor_state(load, 0);
      if (read.op == sum.op && read.distance <= sum.distance)
        native_.kernel.order.push_back(
            {maker(in_registers_.at(other.op)), maker(in_memory_.at(node.op)), std::nullopt, sum.distance - read.distance, std::nullopt});
    }
  }
}

void NativeBuilder::add_tensor_move(std::size_t n) {
  const mlir::Op& move = op(n);
  const auto role = work_of(program_, move);
  if (role == Role::TensorLoad) {
    const Operand from = operand_of(flow_.tensor_state(move, 0), true);
    if (!error_.faults.empty()) return;
    const std::string name = in_registers_.at(graph_.nodes[n].op);
    const std::vector<std::int64_t>&whole = shapes_[from.value].extents, &part = shapes_[name].extents;
    TileOp& made = add_op(Part::Body, move, name, "tmem_load", {from}, {name});
    if (whole != part) {
      // A slice: which columns, the view says.
      const mlir::OpId view = program_.module->value(move.operands[0]).definer;
      made.attrs["column"] = view.valid() ? op(view).integer("N", 0) : std::int64_t{0};
    }
    return;
  }
  const Operand from = operand_of(flow_.source(move.operands[0]), false);
  if (!error_.faults.empty()) return;
  const std::string name = in_memory_.at(graph_.nodes[n].op);
  add_op(Part::Body, move, name, "tmem_store", {from}, {name});
  if (role != Role::TensorStore) return;
  // It stands in the storage of the accumulator that it renews.
  const mlir::ValueId root = flow_.storage(move.operands[1]);
  for (const Node& other : graph_.nodes) {
    const mlir::Op& product = op(other.op);
    if (work_of(program_, product) == Role::TensorProduct && flow_.storage(product.operands[2]) == root)
      return share_storage(in_memory_.at(other.op), name);
  }
}

void NativeBuilder::add_shared_move(std::size_t n) {
  const mlir::Op& move = op(n);
  const bool load = work_of(program_, move) == Role::SharedLoad;
  const Operand from = operand_of(load ? flow_.shared_state(move, 0) : flow_.source(move.operands[0]), load);
  if (!error_.faults.empty()) return;
  const std::string name = load ? in_registers_.at(graph_.nodes[n].op) : in_memory_.at(graph_.nodes[n].op);
  add_op(Part::Body, move, name, load ? "smem_load" : "smem_store", {from}, {name});
}

}  // namespace heddle::triton
