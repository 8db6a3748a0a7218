#include "core/triton/read/flow.h"

#include <algorithm>
#include <array>
#include <set>

namespace heddle::triton {
namespace {

/// Passages through arguments and views that are followed; no real text comes near.
constexpr int kMostPassages = 256;

bool is_register_tile(const Type& type) { return type.tile.space == dump::TileType::Space::Register; }
bool is_token(const Type& type) { return type.tile.space == dump::TileType::Space::Token; }

/// In the body of an `scf.for`, or in a branch there.
bool in_loop(const mlir::Module& module, const mlir::Op& op) {
  for (mlir::BlockId block = op.parent; block.valid();) {
    const mlir::RegionId region = module.block(block).parent;
    if (!region.valid() || !module.region(region).parent.valid()) return false;
    const mlir::Op& around = module.op(module.region(region).parent);
    if (around.name != "scf.if") return around.name == "scf.for";
    block = around.parent;
  }
  return false;
}

bool is_false(const mlir::Module& module, mlir::ValueId value) {
  const mlir::OpId definer = module.value(value).definer;
  if (!definer.valid()) return false;
  const mlir::Op& op = module.op(definer);
  return op.name == "arith.constant" && (op.words.starts_with("false") || op.words.starts_with("0"));
}

}  // namespace

bool is_float(const Type& type) {
  const std::string& element = type.tile.element;
  return !type.pointer && (element.starts_with("f") || element.starts_with("bf") || element.starts_with("tf"));
}

bool is_memory(const Type& type) {
  return type.tile.space == dump::TileType::Space::Smem || type.tile.space == dump::TileType::Space::Tmem;
}

bool is_number_tile(const Type& type) { return type.tile.tile() && !type.barrier && is_float(type); }

namespace {

/// A reshape or a turn of a tile of more than two dimensions in registers: its elements change their places.
bool is_regrouping(const TritonProgram& program, const mlir::Op& op) {
  const std::string name = present_name(op.name);
  if ((name != "tt.reshape" && name != "tt.trans") || op.operands.empty() || op.results.empty()) return false;
  const Type &from = program.type(op.operands[0]), &to = program.type(op.results[0]);
  return is_register_tile(from) && !from.pointer && is_register_tile(to) && std::max(from.tile.shape.size(), to.tile.shape.size()) > 2 &&
         in_loop(*program.module, op);
}

}  // namespace

std::optional<OpRole> work_of(const TritonProgram& program, const mlir::Op& op) {
  const OpWord* word = find_op(op.name);
  const auto result = [&](std::size_t i) -> const Type& { return program.type(op.results[i]); };
  const bool any_tile = std::any_of(op.results.begin(), op.results.end(), [&](mlir::ValueId v) { return program.type(v).tile.tile(); });
  if (!word) return any_tile ? OpRole::Refused : OpRole::Index;
  if (const auto at = static_cast<std::size_t>(&op - program.module->ops.data()); at < program.data_ops.size() && program.data_ops[at])
    return OpRole::Elements;
  switch (word->role) {
    case OpRole::Elements:
    case OpRole::Convert:
      if (op.results.empty()) return OpRole::Index;
      // Numbers that a loop computes on (a running maximum of a row) are tiles of one element.
      if (!is_register_tile(result(0))) return is_float(result(0)) && in_loop(*program.module, op) ? word->role : OpRole::Index;
      return is_float(result(0)) || op.name == "arith.cmpf" || op.name.starts_with("arith.fpto") ? word->role : OpRole::Index;
    case OpRole::PointerLoad:
      if (op.name == "tt.load" && op.results.empty()) return OpRole::Index;
      // A number that a loop loads is a tile of one element, and waited for like any other.
      if (op.name == "tt.load" && result(0).tile.shape.empty() && !in_loop(*program.module, op)) return OpRole::Index;
      return word->role;
    case OpRole::PointerStore:
    case OpRole::Atomic:
      return std::any_of(op.operands.begin(), op.operands.end(), [&](mlir::ValueId v) { return is_register_tile(program.type(v)); })
                 ? word->role
                 : OpRole::Index;
    case OpRole::Reduce: return word->role;
    case OpRole::View:
      if (is_regrouping(program, op)) return OpRole::Opaque;
      return any_tile || op.results.empty() ? word->role : OpRole::Index;
    case OpRole::Opaque: return any_tile ? word->role : OpRole::Index;
    case OpRole::Refused: return any_tile || op.results.empty() || op.name == "tt.call" ? OpRole::Refused : OpRole::Index;
    case OpRole::SharedAlloc:
    case OpRole::TensorAlloc:
      // Barriers are memory too.
      return !op.results.empty() && result(0).barrier ? OpRole::Sync : word->role;
    default: return word->role;
  }
}

Flow::Flow(const TritonProgram& program, mlir::OpId loop) : program_(program), loop_(loop), body_(program.module->body(loop)) {
  if (!body_) return;
  if (!body_->ops.empty() && module().op(body_->ops.back()).name == "scf.yield") yield_ = &module().op(body_->ops.back());
  add_ops(*body_, ops_);
}

bool Flow::inside(mlir::OpId op) const { return op.valid() && module().op(op).parent.valid() && blocks_.contains(module().op(op).parent); }

void Flow::add_ops(const mlir::Block& block, std::vector<mlir::OpId>& to) {
  const bool rare = &to == &rare_ops_;
  for (const mlir::OpId id : block.ops) {
    const mlir::Op& op = module().op(id);
    if (!rare && op.parent.valid()) blocks_.insert(op.parent);
    if (&block != body_ && op.name == "scf.yield") continue;
    to.push_back(id);
    const std::optional<Branch> branch = op.name == "scf.if" ? branch_of(id) : std::nullopt;
    if (!branch) continue;
    branches_.push_back(*branch);
    for (std::size_t r = 0; r < op.regions.size(); ++r) {
      const mlir::Region& region = module().region(op.regions[r]);
      const bool seldom = rare || (branch->rare && r != branch->taken);
      if ((r == branch->taken || seldom) && !region.blocks.empty()) add_ops(module().block(region.blocks[0]), seldom ? rare_ops_ : to);
    }
  }
}

std::size_t tile_work(const TritonProgram& program, const mlir::Region& region) {
  std::size_t count = 0;
  for (const mlir::BlockId block : region.blocks)
    for (const mlir::OpId id : program.module->block(block).ops) {
      const mlir::Op& op = program.module->op(id);
      const auto role = work_of(program, op);
      count += role && *role != OpRole::View && *role != OpRole::Constant && *role != OpRole::Index && *role != OpRole::Sync &&
               *role != OpRole::Control;
      for (const mlir::RegionId inner : op.regions)
        if (op.name != "tt.reduce") count += tile_work(program, program.module->region(inner));
    }
  return count;
}

std::optional<Flow::Branch> Flow::branch_of(mlir::OpId id) const {
  const mlir::Op& op = module().op(id);
  Branch branch{id, false, 0, {}, {}};
  std::array<std::size_t, 2> work{};
  for (std::size_t r = 0; r < 2 && r < op.regions.size(); ++r) work[r] = tile_work(program_, module().region(op.regions[r]));
  const bool gives_tile = std::ranges::any_of(op.results, [&](mlir::ValueId v) { return program_.type(v).tile.tile(); });
  if (work[0] + work[1] == 0 && !gives_tile) return std::nullopt;
  const mlir::OpId asked = op.operands.empty() ? mlir::OpId{} : module().value(op.operands[0]).definer;
  if (asked.valid() && module().op(asked).name == "arith.cmpi" && module().op(asked).words.starts_with("eq")) {
    const std::vector<mlir::ValueId>& sides = module().op(asked).operands;
    for (std::size_t k = 0; k < 2 && sides.size() == 2; ++k) {
      const mlir::OpId other = module().value(sides[1 - k]).definer;
      const mlir::Value& side = module().value(sides[k]);
      const bool moves = !side.definer.valid() && side.block.valid() && &module().block(side.block) == body_;
      if (!moves || (other.valid() && &module().block(module().op(other).parent) == body_)) continue;
      branch.rare = true;
      branch.counter = sides[k];
      branch.end = sides[1 - k];
    }
  }
  // Once a tile it ends the tile: what goes on is the other way. Else the way with more work is taken in every turn.
  branch.taken = branch.rare ? 1 : work[1] > work[0];
  if (!branch.rare && work[0] == work[1] && op.regions.size() == 2) {
    // Nothing but a choice between tiles: the one that is no constant.
    const mlir::Region& then = module().region(op.regions[0]);
    const mlir::Op* yield = then.blocks.empty() || module().block(then.blocks[0]).ops.empty()
                                ? nullptr
                                : &module().op(module().block(then.blocks[0]).ops.back());
    for (std::size_t k = 0; yield && k < yield->operands.size() && k < op.results.size(); ++k) {
      const mlir::OpId made = module().value(yield->operands[k]).definer;
      if (program_.type(op.results[k]).tile.tile() && made.valid() && module().op(made).name == "arith.constant") branch.taken = 1;
    }
  }
  return branch;
}

const mlir::Op& Flow::in_turn(const mlir::Op& op) const {
  const mlir::Op* at = &op;
  for (int passage = 0; passage < kMostPassages && at->parent.valid() && &module().block(at->parent) != body_; ++passage) {
    const mlir::RegionId region = module().block(at->parent).parent;
    if (!region.valid() || !module().region(region).parent.valid()) return op;
    at = &module().op(module().region(region).parent);
  }
  return *at;
}

mlir::ValueId Flow::through_branches(mlir::ValueId value) const {
  for (int passage = 0; passage < kMostPassages; ++passage) {
    const mlir::ValueId given = given_by_branch(value);
    if (!given.valid()) break;
    value = given;
  }
  return value;
}

/// What the way that is taken yields for a result of a branch; invalid where the value is none.
mlir::ValueId Flow::given_by_branch(mlir::ValueId id) const {
  const mlir::Value& value = module().value(id);
  const auto branch = std::ranges::find(branches_, value.definer, &Branch::op);
  if (!value.definer.valid() || branch == branches_.end()) return {};
  const mlir::Op& op = module().op(value.definer);
  if (branch->taken >= op.regions.size() || module().region(op.regions[branch->taken]).blocks.empty()) return {};
  const mlir::Block& block = module().block(module().region(op.regions[branch->taken]).blocks[0]);
  if (block.ops.empty() || module().op(block.ops.back()).name != "scf.yield") return {};
  const mlir::Op& yield = module().op(block.ops.back());
  return value.index < yield.operands.size() ? yield.operands[value.index] : mlir::ValueId{};
}

std::optional<std::size_t> Flow::argument(mlir::ValueId id) const {
  const mlir::Value& value = module().value(id);
  if (value.definer.valid() || !value.block.valid() || !body_ || &module().block(value.block) != body_ || value.index == 0)
    return std::nullopt;
  return value.index - 1;  // the first one counts the iterations
}

ValueSource Flow::carried(mlir::ValueId value) const {
  ValueSource source{value, {}, 0, {}};
  const mlir::Op& loop = module().op(loop_);
  for (int passage = 0; passage < kMostPassages; ++passage) {
    const auto index = argument(source.value);
    if (const mlir::ValueId given = index ? mlir::ValueId{} : given_by_branch(source.value); given.valid()) {
      source.value = given;
      continue;
    }
    if (!index) break;
    if (!yield_ || *index >= yield_->operands.size() || *index + 3 >= loop.operands.size()) return {value, {}, 0, {}};
    if (!source.initial.valid()) source.initial = loop.operands[*index + 3];
    const mlir::ValueId next = yield_->operands[*index];
    // What yields itself never changes.
    if (next == source.value) return {loop.operands[*index + 3], {}, 0, {}};
    source.value = next;
    ++source.distance;
  }
  const mlir::OpId definer = module().value(source.value).definer;
  if (inside(definer)) source.op = definer;
  return source;
}

ValueSource Flow::source(mlir::ValueId value) const {
  ValueSource source{value, {}, 0, {}};
  for (int passage = 0; passage < kMostPassages; ++passage) {
    const ValueSource from = carried(source.value);
    source.value = from.value;
    source.op = from.op;
    source.distance += from.distance;
    if (!source.initial.valid()) source.initial = from.initial;
    if (!source.op.valid()) return source;
    const mlir::Op& op = module().op(source.op);
    const auto role = work_of(program_, op);
    const bool view = role == OpRole::View && !op.operands.empty();
    const bool filled = role == OpRole::SharedAlloc && !op.operands.empty() && !is_tile_op(program_, *this, op);
    if (!view && !filled) return source;
    // Of several operands that are handed through (a wait), the result's own place.
    const std::size_t place = op.name == "ttng.warp_group_dot_wait" ? module().value(source.value).index : 0;
    source.value = op.operands[std::min(place, op.operands.size() - 1)];
  }
  return source;
}

mlir::ValueId Flow::storage(mlir::ValueId memdesc) const {
  for (int passage = 0; passage < kMostPassages; ++passage) {
    memdesc = carried(memdesc).value;
    const mlir::OpId definer = module().value(memdesc).definer;
    if (!definer.valid()) return memdesc;
    const mlir::Op& op = module().op(definer);
    if (work_of(program_, op) != OpRole::View || op.operands.empty()) return memdesc;
    memdesc = op.operands[0];
  }
  return memdesc;
}

ValueSource Flow::last_writer(const mlir::Op& reader, mlir::ValueId root) const {
  const mlir::Op* before = nullptr;
  const mlir::Op* last = nullptr;
  if (body_)
    for (const mlir::OpId id : ops_) {
      const mlir::Op& op = module().op(id);
      const auto role = work_of(program_, op);
      const std::size_t at = role == OpRole::TensorProduct ? 2 : 1;
      if (role != OpRole::TensorProduct && role != OpRole::TensorStore && role != OpRole::SharedStore) continue;
      if (at >= op.operands.size() || storage(op.operands[at]) != root) continue;
      last = &op;
      if (&op < &reader) before = &op;
    }
  const mlir::Op* writer = before ? before : last;
  if (!writer) return {root, {}, 0, {}};
  const auto id = mlir::OpId(static_cast<std::size_t>(writer - module().ops.data()));
  return {writer->results.empty() ? root : writer->results[0], id, before ? 0 : 1, root};
}

ValueSource Flow::tensor_state(const mlir::Op& reader, std::size_t at) const {
  if (at >= reader.operands.size()) return {};
  const bool token = at + 1 < reader.operands.size() && is_token(program_.type(reader.operands[at + 1]));
  if (!token) {
    const ValueSource made = source(reader.operands[at]);
    return made.op.valid() ? made : last_writer(reader, storage(reader.operands[at]));
  }
  ValueSource state{reader.operands[at + 1], {}, 0, {}};
  for (int passage = 0; passage < kMostPassages; ++passage) {
    const ValueSource from = carried(state.value);
    state.value = from.value;
    state.op = from.op;
    state.distance += from.distance;
    if (!state.initial.valid()) state.initial = from.initial;
    if (!state.op.valid()) return state;
    const mlir::Op& op = module().op(state.op);
    if (work_of(program_, op) != OpRole::TensorLoad) return state;
    // A load leaves what is there.
    const auto next = std::find_if(op.operands.begin() + 1, op.operands.end(), [&](mlir::ValueId v) { return is_token(program_.type(v)); });
    if (next == op.operands.end()) return {};
    state.value = *next;
  }
  return {};
}

ValueSource Flow::shared_state(const mlir::Op& reader, std::size_t at) const {
  if (at >= reader.operands.size()) return {};
  const ValueSource made = source(reader.operands[at]);
  if (!made.op.valid()) return last_writer(reader, storage(reader.operands[at]));
  const mlir::Op& op = module().op(made.op);
  return work_of(program_, op) == OpRole::SharedAlloc && op.operands.empty() ? last_writer(reader, made.value) : made;
}

std::vector<ValueSource> Flow::behind_index(mlir::ValueId value) const {
  std::vector<ValueSource> found;
  std::set<mlir::ValueId> seen;
  std::vector<std::pair<mlir::ValueId, int>> open{{value, 0}};
  while (!open.empty() && seen.size() < 4096) {
    const auto [now, distance] = open.back();
    open.pop_back();
    if (!seen.insert(now).second) continue;
    ValueSource from = source(now);
    if (!from.op.valid()) continue;
    from.distance += distance;
    const mlir::Op& op = module().op(from.op);
    if (is_tile_op(program_, *this, op)) {
      found.push_back(from);
      continue;
    }
    for (const mlir::ValueId operand : op.operands) open.emplace_back(operand, from.distance);
    // What an scf.if yields rests on what is read inside it.
    std::vector<mlir::RegionId> regions(op.regions.begin(), op.regions.end());
    while (!regions.empty()) {
      const mlir::Region& region = module().region(regions.back());
      regions.pop_back();
      for (const mlir::BlockId block : region.blocks)
        for (const mlir::OpId id : module().block(block).ops) {
          const mlir::Op& inner = module().op(id);
          for (const mlir::ValueId operand : inner.operands) open.emplace_back(operand, from.distance);
          regions.insert(regions.end(), inner.regions.begin(), inner.regions.end());
        }
    }
  }
  return found;
}

mlir::ValueId Flow::stored(const mlir::Op& op) const {
  const auto role = work_of(program_, op);
  if (role == OpRole::PointerStore || role == OpRole::Atomic) return op.operands.size() > 1 ? op.operands[1] : mlir::ValueId{};
  if (role == OpRole::SharedStore || role == OpRole::TensorStore || role == OpRole::SharedAlloc || role == OpRole::TensorAlloc)
    return op.operands.empty() ? mlir::ValueId{} : op.operands[0];
  if (role == OpRole::DescriptorStore || role == OpRole::DescriptorReduce)
    for (auto it = op.operands.rbegin(); it != op.operands.rend(); ++it)
      if (program_.type(*it).tile.tile()) return *it;
  return {};
}

bool Flow::accumulates(const mlir::Op& product) const {
  // A, B, D, [token], use, predicate.
  std::size_t use = 3;
  if (use < product.operands.size() && is_token(program_.type(product.operands[use]))) ++use;
  if (use >= product.operands.size()) return true;
  const ValueSource flag = carried(product.operands[use]);
  return !is_false(module(), flag.value);
}

std::vector<ValueSource> Flow::operands(const mlir::Op& op) const {
  std::vector<ValueSource> sources;
  const auto add_memory = [&](std::size_t at) {
    if (at >= op.operands.size()) return;
    const Type& type = program_.type(op.operands[at]);
    if (!is_memory(type)) return sources.push_back(source(op.operands[at]));
    sources.push_back(type.tile.space == dump::TileType::Space::Tmem ? tensor_state(op, at) : shared_state(op, at));
  };
  const auto role = work_of(program_, op);
  if (!role) return sources;
  switch (*role) {
    case OpRole::Elements:
    case OpRole::Convert:
    case OpRole::Opaque:
    case OpRole::Reduce:
      for (const mlir::ValueId v : op.operands) sources.push_back(source(v));
      break;
    case OpRole::Product:
      add_memory(0);
      add_memory(1);
      // A, B, C, and whether C counts.
      if (op.operands.size() > 2 && (op.operands.size() < 4 || !is_false(module(), carried(op.operands[3]).value)))
        sources.push_back(source(op.operands[2]));
      break;
    case OpRole::TensorProduct:
      // A and B stand before the accumulator, so that a token behind B is none of theirs.
      for (std::size_t at = 0; at < 2 && at < op.operands.size(); ++at) {
        const ValueSource made = source(op.operands[at]);
        const bool empty = made.op.valid() && module().op(made.op).operands.empty();
        sources.push_back(made.op.valid() && !empty ? made : last_writer(op, storage(op.operands[at])));
      }
      if (accumulates(op)) sources.push_back(tensor_state(op, 2));
      break;
    case OpRole::TensorLoad: sources.push_back(tensor_state(op, 0)); break;
    case OpRole::SharedLoad: add_memory(0); break;
    case OpRole::PointerLoad:
    case OpRole::Gather:
      for (const mlir::ValueId v : op.operands)
        for (const ValueSource& index : behind_index(v)) sources.push_back(index);
      break;
    case OpRole::PointerStore:
    case OpRole::Atomic:
    case OpRole::DescriptorStore:
    case OpRole::DescriptorReduce: {
      const mlir::ValueId value = stored(op);
      if (value.valid())
        sources.push_back(
            is_memory(program_.type(value))
                ? shared_state(op, std::size_t(std::find(op.operands.begin(), op.operands.end(), value) - op.operands.begin()))
                : source(value));
      for (const mlir::ValueId v : op.operands)
        if (v != value)
          for (const ValueSource& index : behind_index(v)) sources.push_back(index);
      break;
    }
    case OpRole::SharedStore:
    case OpRole::TensorStore:
    case OpRole::SharedAlloc:
    case OpRole::TensorAlloc:
      if (!op.operands.empty()) sources.push_back(source(op.operands[0]));
      break;
    default: break;
  }
  return sources;
}

bool is_tile_op(const TritonProgram& program, const Flow& flow, const mlir::Op& op) {
  const auto role = work_of(program, op);
  if (!role) return false;
  switch (*role) {
    case OpRole::Elements:
    case OpRole::Convert:
    case OpRole::DescriptorLoad:
    case OpRole::PointerLoad:
    case OpRole::Gather:
    case OpRole::DescriptorStore:
    case OpRole::DescriptorReduce:
    case OpRole::PointerStore:
    case OpRole::Atomic:
    case OpRole::Product:
    case OpRole::TensorProduct:
    case OpRole::TensorLoad:
    case OpRole::TensorStore:
    case OpRole::SharedLoad:
    case OpRole::SharedStore:
    case OpRole::Opaque:
    case OpRole::Reduce: return true;
    case OpRole::TensorAlloc: return !op.operands.empty();
    case OpRole::SharedAlloc: {
      if (op.operands.empty()) return false;
      // The place of what a load brings is part of the load. (Flow::source asks here, so that it cannot be asked.)
      const mlir::Module& module = flow.module();
      mlir::ValueId from = op.operands[0];
      mlir::OpId maker;
      for (int passage = 0; passage < kMostPassages; ++passage) {
        from = flow.carried(from).value;
        maker = module.value(from).definer;
        if (!maker.valid() || work_of(program, module.op(maker)) != OpRole::View || module.op(maker).operands.empty()) break;
        from = module.op(maker).operands[0];
      }
      if (!maker.valid()) return true;
      const auto made = work_of(program, module.op(maker));
      return made != OpRole::DescriptorLoad && made != OpRole::PointerLoad && made != OpRole::Gather;
    }
    default: return false;
  }
}

}  // namespace heddle::triton
