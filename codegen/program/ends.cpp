// What runs once per tile: tiles loaded and registers set before the loop, results stored after it.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/program/builder.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kPanelBytes = 128;

}  // namespace

void Builder::read_per_tile(std::size_t role, Place& place) {
  if (buffer_of_[place.value] == kNone) {
    Buffer buffer;
    buffer.name = kernel_.values[place.value].name;
    buffer.values = {place.value};
    buffer.slot_bytes = round_up(tiles_[place.value]->bytes, 1024);
    buffer.per_tile = true;
    buffer_of_[place.value] = program_.buffers.size();
    program_.buffers.push_back(std::move(buffer));
    add_barrier(true, buffer_of_[place.value], place.value, 1, tiles_[place.value]->bytes);
    add_barrier(false, buffer_of_[place.value], place.value, 0, 0);
  }
  place.kind = Place::Kind::Buffer;
  place.index = buffer_of_[place.value];
  place.cursor = 1;
  if (!readers_[place.value].insert(role).second) return;
  program_.barriers[*program_.buffers[place.index].empty].arrivals += program_.blackwell() ? 1 : warps_of(role);
}

void Builder::lower_prologue() {
  // What the epilogue reads of the prologue is needed as well.
  std::vector<std::size_t> definer(kernel_.values.size(), kNone);
  for (std::size_t i = 0; i < kernel_.prologue.size(); ++i)
    for (const std::string& out : kernel_.prologue[i].outputs) definer[value_index(out)] = i;
  assign_epilogue(definer);
  for (std::size_t r = 0; r < drafts_.size(); ++r) {
    std::vector<bool> wanted(kernel_.prologue.size(), false);
    for (const auto& [role, value] : needed_)
      if (role == r && definer[value] != kNone) wanted[definer[value]] = true;
    for (std::size_t i = kernel_.prologue.size(); i-- > 0;)
      if (wanted[i])
        for (const Operand& in : kernel_.prologue[i].inputs)
          if (definer[value_index(in.value)] != kNone && is_register(value_index(in.value))) wanted[definer[value_index(in.value)]] = true;
    for (std::size_t i = 0; i < kernel_.prologue.size(); ++i)
      if (wanted[i] && is_register(value_index(kernel_.prologue[i].outputs.at(0)))) prologue_op(r, i);
  }
  for (std::size_t i = 0; i < kernel_.prologue.size(); ++i) {
    const TileOp& op = kernel_.prologue[i];
    if (op.outputs.empty() || is_register(value_index(op.outputs[0]))) {
      if (op.outputs.empty()) refuse("prologue_store", {op.name}, fmt::format("'{}' stores before the loop", op.name));
      continue;
    }
    const std::size_t value = value_index(op.outputs[0]);
    if (kernel_.values[value].space == Space::Tmem) {
      fill_accumulator(i);
      continue;
    }
    if (op.kind != "tma_load") {
      refuse("prologue_kind", {op.name}, fmt::format("'{}' fills shared memory before the loop; only tma_load does so here", op.name));
      continue;
    }
    if (!readers_.contains(value)) continue;  // it is not read
    // The producer loads; without one the first role. What the loop loads first does not have to wait until the tile before has no use
    // for its own tiles any more, so these come behind it.
    RoleDraft& loader = drafts_.front();
    auto& loads = readers_.at(value).contains(0) ? loader.begin : loader.loads;
    const OpRef ref{OpRef::List::Prologue, i};
    const std::size_t buffer = buffer_of_[value];
    Step issue = on_barrier(StepKind::Issue, ref, full_of_.at(value));
    issue.engine = Engine::Load;
    issue.output = {Place::Kind::Buffer, buffer, 0, 1, value, kPerTile};
    Step free = on_barrier(StepKind::Wait, ref, *program_.buffers[buffer].empty);
    free.ahead = true;
    loads.insert(loads.end(), {free, issue});
    for (const std::size_t r : readers_.at(value)) {
      drafts_[r].begin.push_back(on_barrier(StepKind::Wait, ref, full_of_.at(value)));
      // On Blackwell products read it, whose end the hardware signals.
      release_.push_back({r, program_.blackwell() ? on_barrier(StepKind::Signal, ref, *program_.buffers[buffer].empty)
                                                  : on_barrier(StepKind::Arrive, ref, *program_.buffers[buffer].empty, warps_of(r))});
    }
  }
  if (refusals_.empty()) hand_over_accumulators();
}

void Builder::prologue_op(std::size_t role, std::size_t index) {
  const TileOp& op = kernel_.prologue[index];
  Step step = tile_step(StepKind::Compute, {OpRef::List::Prologue, index});
  for (const Operand& in : op.inputs) {
    Place place;
    place.value = value_index(in.value);
    place.iteration = kPerTile;
    if (!is_register(place.value))
      return refuse("prologue_kind", {op.name}, fmt::format("'{}' reads shared memory before the loop", op.name));
    place.kind = Place::Kind::Variable;
    place.index = variable(role, place.value);
    step.inputs.push_back(place);
  }
  const std::size_t value = value_index(op.outputs[0]);
  if (op.kind == "mma") return refuse("prologue_kind", {op.name}, fmt::format("'{}' is a product before the loop", op.name));
  step.output = {Place::Kind::Variable, variable(role, value), 0, 0, value, body_value_[value].valid() ? -1 : kPerTile};
  drafts_[role].begin.push_back(std::move(step));
}

void Builder::assign_epilogue(const std::vector<std::size_t>& definer) {
  epilogue_role_.assign(kernel_.epilogue.size(), kNone);
  std::map<std::size_t, std::size_t>& made_by = made_by_;
  for (std::size_t i = 0; i < kernel_.epilogue.size(); ++i) {
    const TileOp& op = kernel_.epilogue[i];
    const bool free = op.kind != "tma_load" && !op.outputs.empty() && is_register(value_index(op.outputs[0])) &&
                      std::all_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) {
                        const auto maker = made_by.find(value_index(in.value));
                        return in.distance == 0 && maker != made_by.end() && is_free(maker->second);
                      });
    if (free) free_.insert(i);
    for (const std::string& out : op.outputs) made_by[value_index(out)] = i;
  }
  // The loop's op behind an epilogue op, for demands.
  std::vector<OpId> source(kernel_.epilogue.size());
  const std::vector<std::size_t> tile_roles = uses_tensor_memory() ? roles_for_tiles() : epilogue_role_;
  for (std::size_t i = 0; i < kernel_.epilogue.size(); ++i) {
    const TileOp& op = kernel_.epilogue[i];
    if (is_free(i)) continue;
    for (const Operand& in : op.inputs) {
      const std::size_t value = value_index(in.value);
      std::size_t role = kNone;
      OpId from;
      if (made_by.contains(value) && made_by[value] < i && in.distance == 0) {
        if (is_free(made_by[value])) continue;
        role = epilogue_role_[made_by[value]];
        from = source[made_by[value]];
      } else if (body_value_[value].valid()) {
        from = problem_.value(body_value_[value]).producer;
        role = role_of(from);
        if (buffer_of_[value] != kNone && is_accumulator(buffer_of_[value])) {
          role = tile_roles[i] != kNone ? tile_roles[i] : role_for_accumulator(value);
        } else if (!is_register(value)) {
          refuse("epilogue_reads_ring", {op.name}, fmt::format("'{}' reads '{}' out of a ring after the loop", op.name, in.value));
          continue;
        }
      } else {
        continue;  // loop invariant: made where it is needed
      }
      if (epilogue_role_[i] != kNone && role != kNone && role != epilogue_role_[i]) {
        std::optional<UserConstraint> demand;
        std::vector<std::string> ops{op.name};
        if (from.valid() && source[i].valid()) {
          demand = same_group({name(source[i]), name(from)});
          ops = {op.name, name(source[i]), name(from)};
        }
        refuse("epilogue_crosses_roles", ops,
               fmt::format("'{}' after the loop needs results of two roles, '{}' and '{}', at once", op.name,
                           drafts_[epilogue_role_[i]].role.name, drafts_[role].role.name),
               demand);
        continue;
      }
      if (role != kNone) epilogue_role_[i] = role, source[i] = from;
    }
    if (epilogue_role_[i] == kNone) epilogue_role_[i] = drafts_.size() - 1;
    for (const Operand& in : op.inputs) {
      const std::size_t value = value_index(in.value);
      const bool own = made_by.contains(value) && made_by[value] < i && in.distance == 0;
      if (!own && definer[value] != kNone && (!body_value_[value].valid() || program_.trips - 1 - in.distance < 0))
        needed_.insert({epilogue_role_[i], value});
    }
  }
}

void Builder::lower_epilogue() {
  for (RoleDraft& draft : drafts_) {
    const auto has = [&](Engine engine) {
      return std::any_of(draft.loop.begin(), draft.loop.end(), [&](const LoopStep& s) { return s.step.engine == engine; });
    };
    if (has(Engine::Mma) && !program_.blackwell())
      draft.end.push_back(tile_step(StepKind::Retire, first_op(draft, Engine::Mma), Engine::Mma));
    if (has(Engine::Store)) {
      draft.end.push_back(tile_step(StepKind::Retire, first_op(draft, Engine::Store), Engine::Store));
      draft.end.push_back(tile_step(StepKind::Sync, first_op(draft, Engine::Store)));
    }
  }
  // Which tiles of the prologue hold a result at the end is known before anything is released.
  if (staging_.overlay && uses_tensor_memory()) overlay_tiles();
  if (staging_.overlay && !uses_tensor_memory())
    for (std::size_t i = 0; i < kernel_.epilogue.size(); ++i)
      for (const std::string& out : kernel_.epilogue[i].outputs) {
        const std::size_t value = value_index(out);
        if (is_register(value) || buffer_of_[value] != kNone) continue;
        const auto place = place_to_overlay(epilogue_role_[i], tiles_[value]->bytes);
        if (!place) continue;
        buffer_of_[value] = *place;
        program_.buffers[*place].values.push_back(value);
        overlaid_.insert(*place);
      }
  const auto later = [&](const Step& step) { return overlaid_.contains(program_.barriers[step.barrier].buffer); };
  for (const auto& [role, step] : release_)
    if (!later(step)) drafts_[role].releases.push_back({program_.barriers[step.barrier].buffer, step});
  for (std::size_t i = 0; i < kernel_.epilogue.size(); ++i) epilogue_op(i);
  for (const auto& [role, step] : release_) {
    if (!later(step)) continue;
    drafts_[role].end.push_back(tile_step(StepKind::Retire, step.op, Engine::Store));
    drafts_[role].end.push_back(tile_step(StepKind::Sync, step.op));
    drafts_[role].end.push_back(step);
  }
}

std::optional<std::size_t> Builder::place_to_overlay(std::size_t role, std::int64_t bytes) const {
  for (const auto& [value, roles] : readers_) {
    const std::size_t b = buffer_of_[value];
    if (roles.size() == 1 && roles.contains(role) && !overlaid_.contains(b) && program_.buffers[b].slot_bytes >= bytes) return b;
  }
  return std::nullopt;
}

Buffer Builder::room_for(std::size_t value, int pieces) const {
  Buffer buffer;
  buffer.name = kernel_.values[value].name;
  buffer.values = {value};
  buffer.slot_bytes = round_up(tiles_[value]->bytes / pieces, 1024);
  buffer.per_tile = true;
  return buffer;
}

Builder::Pieces Builder::pieces_of(std::size_t i) const {
  Pieces pieces;
  const TileOp& op = kernel_.epilogue[i];
  const std::size_t value = value_index(op.outputs[0]);
  const TileValue& tile = kernel_.values[value];
  if ((staging_.panels == 0 && !uses_tensor_memory()) || op.kind != "smem_store" || tile.shape.size() != 2) return pieces;
  const std::int64_t row_bytes = tiles_[value]->bytes / std::max<std::int64_t>(1, tiles_[value]->rows);
  if (row_bytes % kPanelBytes != 0 || row_bytes / kPanelBytes < (uses_tensor_memory() ? 1 : 2)) return pieces;
  for (std::size_t j = 0; j < kernel_.epilogue.size(); ++j)
    for (const Operand& in : kernel_.epilogue[j].inputs) {
      if (value_index(in.value) != value) continue;
      if (pieces.store != kNone || j < i || epilogue_role_[j] != epilogue_role_[i]) return {};
      pieces.store = j;
    }
  if (pieces.store == kNone) return {};
  const auto count = static_cast<int>(row_bytes / kPanelBytes);
  const int panels = std::max(staging_.panels, 1);
  pieces.rooms = count % panels == 0 ? panels : 1;
  if (count > pieces.rooms || uses_tensor_memory()) pieces.count = count;
  return pieces;
}

void Builder::store_in_pieces(std::size_t i, const Pieces& pieces, Step stage) {
  const std::size_t value = value_index(kernel_.epilogue[i].outputs[0]);
  auto& end = drafts_[epilogue_role_[i]].end;
  const std::size_t first = program_.buffers.size();
  for (int room = 0; room < pieces.rooms; ++room) program_.buffers.push_back(room_for(value, pieces.count));
  const OpRef store{OpRef::List::Epilogue, pieces.store};
  in_pieces_.insert(pieces.store);
  for (int number = 0; number < pieces.count; ++number) {
    const Place room{Place::Kind::Buffer, first + static_cast<std::size_t>(number % pieces.rooms), 0, 1, value, kPerTile};
    // Whoever was there last, of this tile or the one before, must be out.
    Step out = tile_step(StepKind::Retire, stage.op, Engine::Store);
    out.keep = pieces.rooms - 1;
    end.push_back(std::move(out));
    end.push_back(tile_step(StepKind::Sync, stage.op));
    stage.output = room;
    stage.piece = {number, pieces.count};
    end.push_back(stage);
    end.push_back(tile_step(StepKind::Sync, stage.op));
    Step issue = tile_step(StepKind::Issue, store, Engine::Store);
    issue.inputs = {room};
    issue.piece = stage.piece;
    end.push_back(std::move(issue));
    end.push_back(tile_step(StepKind::Commit, store, Engine::Store));
  }
}

OpRef Builder::first_op(const RoleDraft& draft, Engine engine) {
  for (const LoopStep& s : draft.loop)
    if (s.step.engine == engine && s.step.kind == StepKind::Issue) return s.step.op;
  return {};
}

void Builder::make_free(std::size_t role, std::size_t i) {
  if (!made_free_.insert({role, i}).second) return;
  const TileOp& op = kernel_.epilogue[i];
  Step step = tile_step(StepKind::Compute, {OpRef::List::Epilogue, i});
  const auto place = [&](std::size_t value) { return Place{Place::Kind::Variable, variable(role, value), 0, 0, value, kPerTile}; };
  for (const Operand& in : op.inputs) {
    make_free(role, made_by_.at(value_index(in.value)));
    step.inputs.push_back(place(value_index(in.value)));
  }
  step.output = place(value_index(op.outputs[0]));
  drafts_[role].end.push_back(std::move(step));
}

std::optional<Place> Builder::epilogue_place(std::size_t role, std::size_t i, const Operand& in) {
  Place place;
  place.value = value_index(in.value);
  place.iteration = kPerTile;
  const auto maker = made_by_.find(place.value);
  const bool own = maker != made_by_.end() && maker->second < i && in.distance == 0;
  const std::int64_t last = std::max<std::int64_t>(program_.trips - 1 - in.distance, -1);
  if (is_register(place.value)) {
    place.kind = Place::Kind::Variable;
    place.index = variable(role, place.value);
    if (!own && body_value_[place.value].valid()) place.iteration = last;
    return place;
  }
  place.kind = Place::Kind::Buffer;
  place.index = buffer_of_[place.value];
  if (!own && place.index != kNone && is_accumulator(place.index)) {
    place.cursor = depth_of(place.index);
    place.iteration = last;
    return place;
  }
  place.cursor = 1;
  if (own) return place;
  const TileOp& op = kernel_.epilogue[i];
  refuse("epilogue_reads_ring", {op.name}, fmt::format("'{}' reads '{}' out of a ring after the loop", op.name, in.value));
  return std::nullopt;
}

void Builder::epilogue_op(std::size_t i) {
  const TileOp& op = kernel_.epilogue[i];
  const std::size_t role = epilogue_role_[i];
  RoleDraft& draft = drafts_[role];
  const OpRef ref{OpRef::List::Epilogue, i};
  if (in_pieces_.contains(i) || is_free(i) || works_on_tile(i)) return;
  for (const Operand& in : op.inputs)
    if (const auto maker = made_by_.find(value_index(in.value)); maker != made_by_.end() && is_free(maker->second) && in.distance == 0)
      make_free(role, maker->second);
  const bool store = op.kind == "tma_store" || op.kind == "atomic_add";
  if (op.kind == "mma" || op.kind == "tma_load" || op.kind == "gather")
    return refuse("epilogue_kind", {op.name}, fmt::format("'{}' is a {} after the loop", op.name, op.kind));
  Step step = tile_step(store ? StepKind::Issue : StepKind::Compute, ref, store ? Engine::Store : Engine::None);
  for (const Operand& in : op.inputs) {
    const auto place = epilogue_place(role, i, in);
    if (!place) return;
    step.inputs.push_back(*place);
  }
  if (!op.outputs.empty()) {
    const std::size_t value = value_index(op.outputs[0]);
    if (is_register(value)) {
      step.output = {Place::Kind::Variable, variable(role, value), 0, 0, value, kPerTile};
    } else {
      if (uses_tensor_memory()) return store_tile(i, std::move(step));
      if (const Pieces pieces = pieces_of(i); pieces.count > 1) return store_in_pieces(i, pieces, std::move(step));
      if (buffer_of_[value] == kNone) {
        buffer_of_[value] = program_.buffers.size();
        program_.buffers.push_back(room_for(value, 1));
      }
      step.output = {Place::Kind::Buffer, buffer_of_[value], 0, 1, value, kPerTile};
      // The tile before may still be on its way out.
      draft.end.push_back(tile_step(StepKind::Retire, ref, Engine::Store));
      draft.end.push_back(tile_step(StepKind::Sync, ref));
    }
  }
  const bool to_smem = step.output.kind == Place::Kind::Buffer;
  draft.end.push_back(std::move(step));
  if (store) draft.end.push_back(tile_step(StepKind::Commit, ref, Engine::Store));
  if (to_smem) draft.end.push_back(tile_step(StepKind::Sync, ref));
}

}  // namespace heddle::codegen
