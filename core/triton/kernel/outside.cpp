#include "core/triton/kernel/outside.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/triton/kernel/boxes.h"
#include "core/triton/kernel/loads_stores.h"

namespace heddle::triton {
namespace {

Space space_of(const Type& type) {
  return type.tile.space == dump::TileType::Space::Tmem   ? Space::Tmem
         : type.tile.space == dump::TileType::Space::Smem ? Space::Smem
                                                          : Space::Register;
}

/// Of a `fill`, which knows no infinity.
std::string finite(const std::string& number) { return number == "-inf" ? "-1e30" : number == "inf" ? "1e30" : number; }

/// A tile of one number in place of the value.
std::string add_fill(LoopKernelDraft& draft, const OpSite& site, mlir::ValueId id, Space space, const std::string& number) {
  const std::string name = draft.add_value(draft.text.program.module->value(id).name, draft.text.program.type(id), space);
  draft.add_op(site, "init_" + name, "fill", {}, {name}).attrs["value"] = finite(number);
  return name;
}

std::string tensor_state_outside(LoopKernelDraft& draft, mlir::ValueId memdesc, mlir::ValueId token, KernelPart part) {
  const LoopText& text = draft.text;
  const mlir::Module& module = *text.program.module;
  for (int passage = 0; passage < 64 && token.valid(); ++passage) {
    const mlir::Value& value = module.value(token);
    if (!value.definer.valid()) break;
    const mlir::Op& maker = text.op(value.definer);
    if (value.definer == text.flow.loop()) {
      const mlir::Op& yield = text.op(text.flow.body()->ops.back());
      if (value.index >= yield.operands.size()) break;
      // The state that the last iteration left.
      ValueSource state{yield.operands[value.index], {}, 0, {}};
      for (int inner = 0; inner < 64; ++inner) {
        state = text.flow.carried(state.value);
        if (!state.op.valid()) break;
        if (const auto it = draft.in_memory.find(state.op); it != draft.in_memory.end()) return it->second;
        if (work_of(text.program, text.op(state.op)) != OpRole::TensorLoad || text.op(state.op).operands.size() < 2) break;
        state.value = text.op(state.op).operands[1];
      }
      break;
    }
    const auto role = work_of(text.program, maker);
    if (role == OpRole::TensorLoad && maker.operands.size() > 1) {
      token = maker.operands[1];
      continue;
    }
    if (role == OpRole::TensorStore) return outside(draft, maker.operands[0], part);
    break;
  }
  return outside(draft, memdesc, part);
}

std::string outside_load(LoopKernelDraft& draft, const OpSite& site, mlir::ValueId id) {
  const Type& type = draft.text.program.type(id);
  const bool tma = work_of(draft.text.program, site.from) == OpRole::DescriptorLoad;
  const TensorBox box = box_of(draft, site.from, type);
  if (!tma) note_padding(draft, site.from);
  const Space space = tma ? Space::Smem : Space::Register;
  const std::string name = draft.add_value(draft.text.program.module->value(id).name, type, space, box.transposed);
  box.put(draft.add_op(site, "load_" + name, tma ? "tma_load" : "load", {}, {name}));
  return name;
}

/// A view that is more than another name: a vector over a tile.
std::string outside_view(LoopKernelDraft& draft, const OpSite& site, mlir::ValueId id) {
  const LoopText& text = draft.text;
  const mlir::ValueId viewed = site.from.operands.at(0);
  const Type &from = text.program.type(viewed), &type = text.program.type(id);
  if (from.tile.shape == type.tile.shape || is_memory(type) || from.tile.shape.empty()) return outside(draft, viewed, site.part);
  const mlir::Value& value = text.program.module->value(id);
  build_chain(text.flow, draft.scalars, value.definer, {value.definer}, text.row_vectors);  // what its numbers need is noted
  std::string inner = outside(draft, viewed, site.part);
  if (type.tile.shape.size() != 2 || from.tile.shape.size() != 2) return inner;
  std::string name = draft.add_value(value.name, type, Space::Register);
  draft.add_op(site, name, "broadcast", {{std::move(inner), 0}}, {name}).attrs["axis"] =
      std::int64_t{from.tile.shape[0] == 1 && from.tile.shape[1] != 1};
  return name;
}

/// What an op outside of the loop gives: made with what it reads, or zero with a note.
std::string outside_op(LoopKernelDraft& draft, const OpSite& site, mlir::ValueId id) {
  const LoopText& text = draft.text;
  const mlir::Op& maker = site.from;
  const mlir::Value& value = text.program.module->value(id);
  const Type& type = text.program.type(id);
  const auto moved = [&](const std::string& kind, const std::string& from, Space space) {
    const std::string name = draft.add_value(value.name, type, space);
    draft.add_op(site, name, kind, {{from, 0}}, {name});
    return name;
  };
  const auto zero = [&](const std::string& why) {
    draft.scalars.note(fmt::format("line {}: {}; zero stands for what it gives", maker.line, why));
    return add_fill(draft, site, id, space_of(type), "0");
  };
  switch (work_of(text.program, maker).value_or(OpRole::Index)) {
    case OpRole::View: return outside_view(draft, site, id);
    case OpRole::Elements:
    case OpRole::Convert: {
      const Chain chain = build_chain(text.flow, draft.scalars, value.definer, {value.definer}, text.row_vectors);
      if (!chain.fault.empty() || chain.inputs.empty()) return zero(chain.fault.empty() ? "it reads no tile" : chain.fault);
      std::vector<Operand> inputs;
      for (const ChainInput& in : chain.inputs) inputs.push_back({outside(draft, in.source.value, site.part), 0});
      const std::string name = draft.add_value(value.name, type, Space::Register);
      draft.add_chain(site, chain, name, inputs);
      return name;
    }
    case OpRole::DescriptorLoad:
    case OpRole::PointerLoad:
      return maker.results.empty() ? zero("a copy into memory that is named elsewhere") : outside_load(draft, site, id);
    case OpRole::SharedAlloc: {
      if (maker.operands.empty()) return zero("shared memory that is filled elsewhere");
      const std::string from = outside(draft, maker.operands[0], site.part);
      if (draft.native.kernel.find_value(from)->space == Space::Smem) return from;
      const std::string name = draft.add_value(value.name, type, Space::Smem, draft.transposed[from]);
      draft.add_op(site, name, "smem_store", {{from, 0}}, {name});
      return name;
    }
    case OpRole::TensorAlloc:
      if (maker.operands.empty()) return add_fill(draft, site, id, Space::Tmem, "0");
      return moved("tmem_store", outside(draft, maker.operands[0], site.part), Space::Tmem);
    case OpRole::TensorLoad: {
      const bool token = maker.operands.size() > 1 && text.program.type(maker.operands[1]).tile.space == dump::TileType::Space::Token;
      return moved("tmem_load", tensor_state_outside(draft, maker.operands.at(0), token ? maker.operands[1] : mlir::ValueId{}, site.part),
                   Space::Register);
    }
    case OpRole::SharedLoad: return moved("smem_load", outside(draft, maker.operands.at(0), site.part), Space::Register);
    case OpRole::Reduce: {
      const std::string what = reduction_of(*text.program.module, maker);
      if (what.empty()) return zero("this reduction has no kind here");
      const std::string from = outside(draft, maker.operands[0], site.part);
      const std::string name = draft.add_value(value.name, type, Space::Register);
      TileOp& made = draft.add_op(site, name, "reduce_" + what, {{from, 0}}, {name});
      if (const std::int64_t axis = maker.integer("axis", 0); axis != 1 && !text.row_vectors) made.attrs["axis"] = axis;
      return name;
    }
    default: return zero(fmt::format("{} outside of the loop is not modelled", maker.name));
  }
}

/// A result of the loop, or what an op of its turns makes: of its last iteration. Nothing where no value has that.
std::optional<std::string> last_of_loop(LoopKernelDraft& draft, mlir::ValueId id, KernelPart part) {
  const LoopText& text = draft.text;
  const mlir::Value& value = text.program.module->value(id);
  const mlir::Op& yield = text.op(text.flow.body()->ops.back());
  if (value.definer == text.flow.loop() && value.index >= yield.operands.size()) return std::nullopt;
  // Branches that end a tile read what the turn has made.
  const ValueSource source = text.flow.source(value.definer == text.flow.loop() ? yield.operands[value.index] : id);
  if (!source.op.valid()) return outside(draft, source.value, part);
  if (!text.node_of(source.op)) return std::nullopt;
  if (source.distance > 0)
    draft.scalars.note(fmt::format("what follows the loop reads '{}' of an earlier iteration; here it reads the last", value.name));
  const bool memory = is_memory(text.program.type(id));
  for (const auto* made : {memory ? &draft.in_memory : &draft.in_registers, memory ? &draft.in_registers : &draft.in_memory})
    if (const auto it = made->find(source.op); it != made->end()) return it->second;
  return std::nullopt;
}

std::string make_outside(LoopKernelDraft& draft, mlir::ValueId id, KernelPart part) {
  const LoopText& text = draft.text;
  const mlir::Module& module = *text.program.module;
  const mlir::Value& value = module.value(id);
  const Type& type = text.program.type(id);
  const mlir::Op& maker = value.definer.valid() ? text.op(value.definer) : text.op(text.flow.loop());
  const auto fill = [&](const std::string& number) { return add_fill(draft, {part, maker}, id, space_of(type), number); };
  if (draft.open.size() > 200 || !draft.open.insert(id).second) return fill("0");
  struct Close {
    std::set<mlir::ValueId>& open;
    mlir::ValueId id;
    ~Close() { open.erase(id); }
  } close{draft.open, id};
  if (const auto number = draft.scalars.number(id)) return fill(*number);
  if (!value.definer.valid()) {
    if (value.block.valid() && &module.block(value.block) == text.flow.body()) {
      draft.refuse(text.op(text.flow.loop()), fmt::format("'{}' changes with the loop and is used as a number of tiles", value.name));
      return fill("0");
    }
    // Carried by a loop around, or an argument: the first turn's.
    if (value.block.valid()) {
      const mlir::OpId owner = module.region(module.block(value.block).parent).parent;
      if (owner.valid() && module.op(owner).name == "scf.for" && value.index > 0 && value.index + 2 < module.op(owner).operands.size() &&
          owner != text.flow.loop())
        return outside(draft, module.op(owner).operands[value.index + 2], part);
    }
    draft.scalars.note(fmt::format("'{}' comes from outside and is taken as zero", value.name));
    return fill("0");
  }
  if (value.definer == text.flow.loop() || text.flow.inside(value.definer)) {
    if (const std::optional<std::string> last = last_of_loop(draft, id, part)) return *last;
    draft.scalars.note(fmt::format("'{}' of the loop is taken as zero after it", value.name));
    return fill("0");
  }
  return outside_op(draft, {part, maker}, id);
}

}  // namespace

std::string outside(LoopKernelDraft& draft, mlir::ValueId value, KernelPart part) {
  const LoopText& text = draft.text;
  if (!value.valid()) {
    draft.refuse(text.op(text.flow.loop()), "an op of the loop reads memory that nothing before it writes");
    return {};
  }
  const auto known = draft.outside.find(value);
  if (known != draft.outside.end()) return known->second;
  std::string name = make_outside(draft, value, part);
  draft.outside[value] = name;
  return name;
}

void ensure_initial(LoopKernelDraft& draft, const std::string& value, mlir::ValueId initial) {
  const LoopText& text = draft.text;
  const auto defined = [&](const TileOp& each) { return std::find(each.outputs.begin(), each.outputs.end(), value) != each.outputs.end(); };
  if (const auto [known, fresh] = draft.initials.emplace(value, initial); !fresh && known->second != initial)
    draft.refuse(text.op(text.flow.loop()), fmt::format("'{}' is carried twice, with other tiles to begin with", value));
  if (std::any_of(draft.native.kernel.prologue.begin(), draft.native.kernel.prologue.end(), defined)) return;
  const Space space = draft.native.kernel.find_value(value)->space;
  const mlir::Op& loop = text.op(text.flow.loop());
  const auto fill = [&](const std::string& number) {
    draft.add_op({KernelPart::Prologue, loop}, "init_" + value, "fill", {}, {value}).attrs["value"] = finite(number);
  };
  if (!initial.valid()) return fill("0");
  if (const auto number = draft.scalars.number(initial)) return fill(*number);
  mlir::ValueId from = initial;
  if (text.program.type(initial).tile.space == dump::TileType::Space::Token) {
    const mlir::OpId maker = text.program.module->value(initial).definer;
    if (!maker.valid() || work_of(text.program, text.op(maker)) != OpRole::TensorStore) return fill("0");
    from = text.op(maker).operands[0];
    if (const auto number = draft.scalars.number(from)) return fill(*number);
  }
  const std::string source = outside(draft, from, KernelPart::Prologue);
  if (source.empty()) return;  // refused
  const Space held = draft.native.kernel.find_value(source)->space;
  const char* kind = space == held          ? "copy"
                     : space == Space::Tmem ? "tmem_store"
                     : space == Space::Smem ? "smem_store"
                     : held == Space::Tmem  ? "tmem_load"
                                            : "smem_load";
  if (draft.extents[source] != draft.extents[value]) {
    draft.scalars.note(fmt::format("'{}' begins with a tile of another shape: zero is taken", value));
    return fill("0");
  }
  draft.add_op({KernelPart::Prologue, loop}, "init_" + value, kind, {{source, 0}}, {value});
}

void add_epilogue(LoopKernelDraft& draft) {
  const LoopText& text = draft.text;
  const mlir::Module& module = *text.program.module;
  const mlir::Op& loop = text.op(text.flow.loop());
  std::vector<mlir::OpId> behind = text.flow.rare_ops();
  if (loop.parent.valid()) {
    const std::vector<mlir::OpId>& block = module.block(loop.parent).ops;
    behind.insert(behind.end(), std::find(block.begin(), block.end(), text.flow.loop()) + 1, block.end());
  }
  for (const mlir::OpId id : behind) {
    if (!draft.error.faults.empty()) return;
    const mlir::Op& each = text.op(id);
    const auto role = work_of(text.program, each);
    if (each.name == "scf.for" || each.name == "scf.while" || each.name == "scf.if") {
      draft.scalars.note(fmt::format("{} at line {} after the loop is not part of the kernel here", each.name, each.line));
      continue;
    }
    if (role == OpRole::Refused) {
      draft.scalars.note(fmt::format("{} at line {} after the loop is not part of the kernel here", each.name, each.line));
      continue;
    }
    note_scalar_store(draft, each);
    if (role != OpRole::DescriptorStore && role != OpRole::PointerStore && role != OpRole::DescriptorReduce && role != OpRole::Atomic)
      continue;
    const mlir::ValueId stored = text.flow.stored(each);
    if (!stored.valid()) continue;
    const std::string value = outside(draft, stored, KernelPart::Epilogue);
    add_store(draft, {KernelPart::Epilogue, each}, fmt::format("store_{}", draft.native.kernel.epilogue.size()), {value, 0});
  }
}

}  // namespace heddle::triton
