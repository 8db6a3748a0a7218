// What runs before the loop, as far as the loop reads it, and what runs after it.
#include <fmt/format.h>

#include <algorithm>

#include "core/triton/kernel/native_builder.h"

namespace heddle::triton {
std::string NativeBuilder::outside(mlir::ValueId value, Part part) {
  if (!value.valid()) {
    refuse(op(flow_.loop()), "an op of the loop reads memory that nothing before it writes");
    return {};
  }
  const auto known = outside_.find(value);
  if (known != outside_.end()) return known->second;
  std::string name = make_outside(value, part);
  outside_[value] = name;
  return name;
}

std::string NativeBuilder::make_outside(mlir::ValueId id, Part part) {
  const mlir::Module& module = *program_.module;
  const mlir::Value& value = module.value(id);
  const Type& type = program_.type(id);
  const Space space = type.tile.space == dump::TileType::Space::Tmem   ? Space::Tmem
                      : type.tile.space == dump::TileType::Space::Smem ? Space::Smem
                                                                       : Space::Register;
  const auto fill = [&](const std::string& number) {
    const std::string name = add_value(value.name, type, space);
    const mlir::Op& from = value.definer.valid() ? op(value.definer) : op(flow_.loop());
    add_op(part, from, "init_" + name, "fill", {}, {name}).attrs["value"] = number == "-inf"  ? std::string("-1e30")
                                                                            : number == "inf" ? std::string("1e30")
                                                                                              : number;
    return name;
  };
  if (open_.size() > 200 || !open_.insert(fmt::format("{}", id.index())).second) return fill("0");
  struct Close {
    std::set<std::string>& open;
    std::string key;
    ~Close() { open.erase(key); }
  } close{open_, fmt::format("{}", id.index())};
  if (const auto number = scalars_.number(id)) return fill(*number);
  if (!value.definer.valid()) {
    if (value.block.valid() && &module.block(value.block) == flow_.body()) {
      refuse(op(flow_.loop()), fmt::format("'{}' changes with the loop and is used as a number of tiles", value.name));
      return fill("0");
    }
    // Carried by a loop around, or an argument: the first turn's.
    if (value.block.valid()) {
      const mlir::OpId owner = module.region(module.block(value.block).parent).parent;
      if (owner.valid() && module.op(owner).name == "scf.for" && value.index > 0 && value.index + 2 < module.op(owner).operands.size() &&
          owner != flow_.loop())
        return outside(module.op(owner).operands[value.index + 2], part);
    }
    scalars_.note(fmt::format("'{}' comes from outside and is taken as zero", value.name));
    return fill("0");
  }
  const mlir::Op& maker = op(value.definer);
  if (value.definer == flow_.loop()) {
    // A result of the loop: what its last iteration yielded.
    const mlir::Block* body = flow_.body();
    const mlir::Op& yield = op(body->ops.back());
    if (value.index < yield.operands.size()) {
      const mlir::ValueId yielded = yield.operands[value.index];
      const Source source = flow_.source(yielded);
      if (source.op.valid() && node_of(source.op)) {
        if (source.distance > 0)
          scalars_.note(fmt::format("what follows the loop reads '{}' of an earlier iteration; here it reads the last", value.name));
        const bool memory = is_memory(type);
        const auto& first = memory ? in_memory_ : in_registers_;
        if (const auto it = first.find(source.op); it != first.end()) return it->second;
        if (const auto it = in_memory_.find(source.op); it != in_memory_.end()) return it->second;
        if (const auto it = in_registers_.find(source.op); it != in_registers_.end()) return it->second;
      } else if (!source.op.valid()) {
        return outside(source.value, part);
      }
    }
    scalars_.note(fmt::format("'{}' of the loop is taken as zero after it", value.name));
    return fill("0");
  }
  return outside_op(maker, id, part);
}

std::string NativeBuilder::tensor_state_outside(mlir::ValueId memdesc, mlir::ValueId token, Part part) {
  const mlir::Module& module = *program_.module;
  for (int passage = 0; passage < 64 && token.valid(); ++passage) {
    const mlir::Value& value = module.value(token);
    if (!value.definer.valid()) break;
    const mlir::Op& maker = op(value.definer);
    if (value.definer == flow_.loop()) {
      const mlir::Op& yield = op(flow_.body()->ops.back());
      if (value.index >= yield.operands.size()) break;
      // The state that the last iteration left.
      Source state{yield.operands[value.index], {}, 0, {}};
      for (int inner = 0; inner < 64; ++inner) {
        state = flow_.carried(state.value);
        if (!state.op.valid()) break;
        if (const auto it = in_memory_.find(state.op); it != in_memory_.end()) return it->second;
        if (work_of(program_, op(state.op)) != Role::TensorLoad || op(state.op).operands.size() < 2) break;
        state.value = op(state.op).operands[1];
      }
      break;
    }
    const auto role = work_of(program_, maker);
    if (role == Role::TensorLoad && maker.operands.size() > 1) {
      token = maker.operands[1];
      continue;
    }
    if (role == Role::TensorStore) return outside(maker.operands[0], part);
    break;
  }
  return outside(memdesc, part);
}

std::string NativeBuilder::outside_op(const mlir::Op& maker, mlir::ValueId id, Part part) {
  const mlir::Module& module = *program_.module;
  const mlir::Value& value = module.value(id);
  const Type& type = program_.type(id);
  const auto role = work_of(program_, maker);
  const std::string& wanted = value.name;
  const auto put = [&](const std::string& kind, const std::string& from, Space space) {
    const std::string name = add_value(wanted, type, space);
    add_op(part, maker, name, kind, {{from, 0}}, {name});
    return name;
  };
  const auto zero = [&](const std::string& why) {
    scalars_.note(fmt::format("line {}: {}; zero stands for what it gives", maker.line, why));
    const Space space = type.tile.space == dump::TileType::Space::Tmem   ? Space::Tmem
                        : type.tile.space == dump::TileType::Space::Smem ? Space::Smem
                                                                         : Space::Register;
    const std::string name = add_value(wanted, type, space);
    add_op(part, maker, "init_" + name, "fill", {}, {name}).attrs["value"] = std::string("0");
    return name;
  };
  switch (role.value_or(Role::Index)) {
    case Role::View: {
      const Type& from = program_.type(maker.operands.at(0));
      if (from.tile.shape == type.tile.shape || is_memory(type)) return outside(maker.operands[0], part);
      if (from.tile.shape.empty()) return outside(maker.operands[0], part);
      // A vector over a tile.
      const Chain chain = build_chain(flow_, scalars_, value.definer, {value.definer}, row_vectors_);
      const std::string inner = outside(maker.operands[0], part);
      if (type.tile.shape.size() == 2 && from.tile.shape.size() == 2) {
        const std::string name = add_value(wanted, type, Space::Register);
        add_op(part, maker, name, "broadcast", {{inner, 0}}, {name}).attrs["axis"] =
            std::int64_t{from.tile.shape[0] == 1 && from.tile.shape[1] != 1};
        return name;
      }
      return inner;
    }
    case Role::Elements:
    case Role::Convert: {
      const Chain chain = build_chain(flow_, scalars_, value.definer, {value.definer}, row_vectors_);
      if (!chain.fault.empty() || chain.inputs.empty()) return zero(chain.fault.empty() ? "it reads no tile" : chain.fault);
      std::vector<Operand> inputs;
      for (const ChainInput& in : chain.inputs) inputs.push_back({outside(in.source.value, part), 0});
      const std::string name = add_value(wanted, type, Space::Register);
      emit_chain(part, maker, chain, name, inputs);
      return name;
    }
    case Role::DescriptorLoad:
    case Role::PointerLoad: {
      if (maker.results.empty()) return zero("a copy into memory that is named elsewhere");
      const bool tma = role == Role::DescriptorLoad;
      Box box = tma ? descriptor_box(maker, 0, type, false) : pointer_box(maker, type, false);
      if (!tma) note_padding(maker);
      const Space space = tma ? Space::Smem : Space::Register;
      const std::string name = add_value(wanted, type, space, box.transposed);
      TileOp& made = add_op(part, maker, "load_" + name, tma ? "tma_load" : "load", {}, {name});
      put_box(made, box);
      return name;
    }
    case Role::SharedAlloc: {
      if (maker.operands.empty()) return zero("shared memory that is filled elsewhere");
      const std::string from = outside(maker.operands[0], part);
      if (native_.kernel.find_value(from)->space == Space::Smem) return from;
      const std::string name = add_value(wanted, type, Space::Smem, transposed_[from]);
      add_op(part, maker, name, "smem_store", {{from, 0}}, {name});
      return name;
    }
    case Role::TensorAlloc:
      if (maker.operands.empty()) {
        const std::string name = add_value(wanted, type, Space::Tmem);
        add_op(part, maker, "init_" + name, "fill", {}, {name}).attrs["value"] = std::string("0");
        return name;
      }
      return put("tmem_store", outside(maker.operands[0], part), Space::Tmem);
    case Role::TensorLoad: {
      const bool token = maker.operands.size() > 1 && program_.type(maker.operands[1]).tile.space == dump::TileType::Space::Token;
      return put("tmem_load", tensor_state_outside(maker.operands.at(0), token ? maker.operands[1] : mlir::ValueId{}, part),
                 Space::Register);
    }
    case Role::SharedLoad: return put("smem_load", outside(maker.operands.at(0), part), Space::Register);
    case Role::Reduce: {
      const std::string what = reduction_of(module, maker);
      if (what.empty()) return zero("this reduction has no kind here");
      const Type& tile = program_.operand_type(maker, 0);
      if (tile.tile.shape.size() == 1 && !row_vectors_) return zero("a vector reduced to a number");
      const std::string from = outside(maker.operands[0], part);
      const std::string name = add_value(wanted, type, Space::Register);
      TileOp& made = add_op(part, maker, name, "reduce_" + what, {{from, 0}}, {name});
      if (const std::int64_t axis = maker.integer("axis", 0); axis != 1 && !row_vectors_) made.attrs["axis"] = axis;
      return name;
    }
    default: return zero(fmt::format("{} outside of the loop is not modelled", maker.name));
  }
}

void NativeBuilder::ensure_initial(const std::string& value, mlir::ValueId initial) {
  const auto defined = [&](const TileOp& each) { return std::find(each.outputs.begin(), each.outputs.end(), value) != each.outputs.end(); };
  if (const auto [known, fresh] = initials_.emplace(value, initial); !fresh && known->second != initial)
    refuse(op(flow_.loop()), fmt::format("'{}' is carried twice, with other tiles to begin with", value));
  if (std::any_of(native_.kernel.prologue.begin(), native_.kernel.prologue.end(), defined)) return;
  const Space space = native_.kernel.find_value(value)->space;
  const mlir::Op& loop = op(flow_.loop());
  const auto fill = [&](std::string number) {
    if (number == "-inf") number = "-1e30";
    if (number == "inf") number = "1e30";
    add_op(Part::Prologue, loop, "init_" + value, "fill", {}, {value}).attrs["value"] = number;
  };
  if (!initial.valid()) return fill("0");
  if (const auto number = scalars_.number(initial)) return fill(*number);
  mlir::ValueId from = initial;
  if (program_.type(initial).tile.space == dump::TileType::Space::Token) {
    const mlir::OpId maker = program_.module->value(initial).definer;
    if (!maker.valid() || work_of(program_, op(maker)) != Role::TensorStore) return fill("0");
    from = op(maker).operands[0];
    if (const auto number = scalars_.number(from)) return fill(*number);
  }
  const std::string source = outside(from, Part::Prologue);
  if (source.empty()) return;  // refused
  const Space held = native_.kernel.find_value(source)->space;
  const char* kind = space == held          ? "copy"
                     : space == Space::Tmem ? "tmem_store"
                     : space == Space::Smem ? "smem_store"
                     : held == Space::Tmem  ? "tmem_load"
                                            : "smem_load";
  if (shapes_[source].extents != shapes_[value].extents) {
    scalars_.note(fmt::format("'{}' begins with a tile of another shape: zero is taken", value));
    return fill("0");
  }
  add_op(Part::Prologue, loop, "init_" + value, kind, {{source, 0}}, {value});
}

void NativeBuilder::add_epilogue() {
  const mlir::Module& module = *program_.module;
  const mlir::Op& loop = op(flow_.loop());
  if (!loop.parent.valid()) return;
  bool after = false;
  for (const mlir::OpId id : module.block(loop.parent).ops) {
    if (id == flow_.loop()) {
      after = true;
      continue;
    }
    if (!after || !error_.faults.empty()) continue;
    const mlir::Op& each = op(id);
    const auto role = work_of(program_, each);
    if (each.name == "scf.for" || each.name == "scf.while" || each.name == "scf.if") {
      scalars_.note(fmt::format("{} at line {} after the loop is not part of the kernel here", each.name, each.line));
      continue;
    }
    if (role == Role::Refused) {
      scalars_.note(fmt::format("{} at line {} after the loop is not part of the kernel here", each.name, each.line));
      continue;
    }
    note_scalar_store(each);
    if (role != Role::DescriptorStore && role != Role::PointerStore && role != Role::DescriptorReduce && role != Role::Atomic) continue;
    const mlir::ValueId stored = flow_.stored(each);
    if (!stored.valid()) continue;
    const std::string value = outside(stored, Part::Epilogue);
    add_store(Part::Epilogue, each, fmt::format("store_{}", native_.kernel.epilogue.size()), value);
  }
}

}  // namespace heddle::triton
