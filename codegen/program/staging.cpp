#include "codegen/program/staging.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/program/epilogue.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kPanelBytes = 128;

/// Ops that work on a tile behind its store to shared memory, in order.
std::vector<std::size_t> tile_chain(const ProgramDraft& draft, std::size_t store) {
  std::vector<std::size_t> chain;
  const auto collect = [&](auto&& self, std::size_t i) -> void {
    for (const Operand& in : draft.kernel.epilogue[i].inputs) {
      const auto maker = draft.epilogue.made_by.find(draft.value_index(in.value));
      if (maker == draft.epilogue.made_by.end() || maker->second >= i || !works_on_tile(draft, maker->second)) continue;
      if (std::find(chain.begin(), chain.end(), maker->second) == chain.end()) self(self, maker->second);
    }
    if (i != store) chain.push_back(i);
  };
  collect(collect, store);
  return chain;
}

std::optional<std::size_t> place_to_overlay(const ProgramDraft& draft, std::size_t role, std::int64_t bytes) {
  for (const auto& [value, roles] : draft.readers) {
    const std::size_t b = draft.buffer_of[value];
    if (roles.size() == 1 && roles.contains(role) && !draft.epilogue.overlaid.contains(b) && draft.program.buffers[b].slot_bytes >= bytes)
      return b;
  }
  return std::nullopt;
}

/// Whole results, each where such a tile has room for it.
void overlay_results(ProgramDraft& draft) {
  for (std::size_t i = 0; i < draft.kernel.epilogue.size(); ++i)
    for (const std::string& out : draft.kernel.epilogue[i].outputs) {
      const std::size_t value = draft.value_index(out);
      if (draft.is_register(value) || draft.buffer_of[value] != kNone) continue;
      const auto place = place_to_overlay(draft, draft.epilogue.role[i], draft.tiles[value]->bytes);
      if (!place) continue;
      draft.buffer_of[value] = *place;
      draft.program.buffers[*place].values.push_back(value);
      draft.epilogue.overlaid.insert(*place);
    }
}

/// Panels of results on their way out of tensor memory.
void overlay_panels(ProgramDraft& draft) {
  for (std::size_t i = 0; i < draft.kernel.epilogue.size(); ++i) {
    const TileOp& op = draft.kernel.epilogue[i];
    if (op.kind != "smem_store") continue;
    for (const std::size_t b : tiles_to_overlay(draft, draft.epilogue.role[i])) draft.epilogue.overlaid.insert(b);
  }
  // Threads give such a tile back, when the store has read it, and not the mma that reads it last.
  for (auto& [role, step] : draft.release) {
    Barrier& barrier = draft.program.barriers[step.barrier];
    if (!draft.epilogue.overlaid.contains(barrier.buffer)) continue;
    step.kind = StepKind::Arrive;
    step.count = barrier.arrivals = draft.warps_of(role);
  }
}

}  // namespace

void overlay_tiles(ProgramDraft& draft) {
  if (!draft.staging.overlay) return;
  draft.uses_tensor_memory() ? overlay_panels(draft) : overlay_results(draft);
}

std::vector<std::size_t> tiles_to_overlay(const ProgramDraft& draft, std::size_t role) {
  std::vector<std::size_t> tiles;
  for (const auto& [value, roles] : draft.readers)
    if (roles.size() == 1 && roles.contains(role) && tiles.size() < 2) tiles.push_back(draft.buffer_of[value]);
  return tiles;
}

bool works_on_tile(const ProgramDraft& draft, std::size_t i) {
  const TileOp& op = draft.kernel.epilogue[i];
  if (!draft.uses_tensor_memory() || op.outputs.empty()) return false;
  const std::size_t value = draft.value_index(op.outputs[0]);
  return draft.is_register(value) && draft.kernel.values[value].shape.size() == 2;
}

Buffer room_for(const ProgramDraft& draft, std::size_t value, int pieces) {
  Buffer buffer;
  buffer.name = draft.kernel.values[value].name;
  buffer.values = {value};
  buffer.slot_bytes = round_up(draft.tiles[value]->bytes / pieces, 1024);
  buffer.per_tile = true;
  return buffer;
}

Pieces pieces_of(const ProgramDraft& draft, std::size_t i) {
  Pieces pieces;
  const TileOp& op = draft.kernel.epilogue[i];
  const std::size_t value = draft.value_index(op.outputs[0]);
  const TileValue& tile = draft.kernel.values[value];
  if ((draft.staging.panels == 0 && !draft.uses_tensor_memory()) || op.kind != "smem_store" || tile.shape.size() != 2) return pieces;
  const std::int64_t row_bytes = draft.tiles[value]->bytes / std::max<std::int64_t>(1, draft.tiles[value]->rows);
  if (row_bytes % kPanelBytes != 0 || row_bytes / kPanelBytes < (draft.uses_tensor_memory() ? 1 : 2)) return pieces;
  for (std::size_t j = 0; j < draft.kernel.epilogue.size(); ++j)
    for (const Operand& in : draft.kernel.epilogue[j].inputs) {
      if (draft.value_index(in.value) != value) continue;
      if (pieces.store != kNone || j < i || draft.epilogue.role[j] != draft.epilogue.role[i]) return {};
      pieces.store = j;
    }
  if (pieces.store == kNone) return {};
  const auto count = static_cast<int>(row_bytes / kPanelBytes);
  const int panels = std::max(draft.staging.panels, 1);
  pieces.rooms = count % panels == 0 ? panels : 1;
  if (count > pieces.rooms || draft.uses_tensor_memory()) pieces.count = count;
  return pieces;
}

void store_in_pieces(ProgramDraft& draft, std::size_t i, const Pieces& pieces, Step stage) {
  const std::size_t value = draft.value_index(draft.kernel.epilogue[i].outputs[0]);
  auto& end = draft.roles[draft.epilogue.role[i]].end;
  const std::size_t first = draft.program.buffers.size();
  for (int room = 0; room < pieces.rooms; ++room) draft.program.buffers.push_back(room_for(draft, value, pieces.count));
  const OpRef store{OpRef::List::Epilogue, pieces.store};
  draft.epilogue.in_pieces.insert(pieces.store);
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

void store_tile(ProgramDraft& draft, std::size_t i, Step stage) {
  const std::size_t role = draft.epilogue.role[i];
  auto& end = draft.roles[role].end;
  const TileOp& op = draft.kernel.epilogue[i];
  const std::size_t value = draft.value_index(op.outputs[0]);
  Pieces pieces = pieces_of(draft, i);
  if (pieces.store == kNone)
    return draft.refuse("epilogue_kind", {op.name},
                        fmt::format("'{}' does not put a tile together for one store of panels of 128 bytes", op.name));
  const std::vector<std::size_t> chain = tile_chain(draft, i);
  std::map<std::size_t, std::size_t> last_read;  // buffer -> op of the chain
  for (const std::size_t k : chain) {
    const TileOp& member = draft.kernel.epilogue[k];
    if (member.kind == "load" || member.kind == "smem_load" || member.kind == "mask")
      return draft.refuse(
          "epilogue_kind", {member.name},
          fmt::format("'{}' is a {} of a whole tile after the loop, which goes through registers in pieces", member.name, member.kind));
    for (const Operand& in : member.inputs)
      if (const std::size_t b = draft.buffer_of[draft.value_index(in.value)]; b != kNone && draft.program.buffers[b].tensor())
        last_read[b] = k;
    Variable& made = draft.roles[role].role.variables[draft.variable(role, draft.value_index(member.outputs[0]))];
    made.registers = static_cast<int>(
        (registers_per_thread(*draft.tiles[made.value], std::int64_t{4} * kThreadsPerWarp) + pieces.count - 1) / pieces.count);
  }
  std::set<std::size_t> awaited;
  std::vector<std::size_t> rooms;
  if (draft.staging.overlay) rooms = tiles_to_overlay(draft, role);
  std::erase_if(rooms, [&](std::size_t b) { return draft.program.buffers[b].slot_bytes * pieces.count < draft.tiles[value]->bytes; });
  const bool overlay = !rooms.empty();
  for (const std::size_t b : rooms) draft.program.buffers[b].values.push_back(value);
  for (int room = 0; room < pieces.rooms && !overlay; ++room) {
    rooms.push_back(draft.program.buffers.size());
    draft.program.buffers.push_back(room_for(draft, value, pieces.count));
  }
  const OpRef store{OpRef::List::Epilogue, pieces.store};
  draft.epilogue.in_pieces.insert(pieces.store);
  for (int number = 0; number < pieces.count; ++number) {
    const Piece piece{number, pieces.count};
    for (const std::size_t k : chain) {
      Step step = tile_step(StepKind::Compute, {OpRef::List::Epilogue, k});
      step.piece = piece;
      for (const Operand& in : draft.kernel.epilogue[k].inputs) {
        const auto place = epilogue_place(draft, role, k, in);
        if (!place) return;
        if (place->kind == Place::Kind::Buffer && !draft.tile_full.contains(place->value))
          return draft.refuse(
              "epilogue_kind", {draft.kernel.epilogue[k].name},
              fmt::format("'{}' reads '{}' after the loop, which no mma of the loop leaves there: let the loop's own sum be "
                          "what is stored",
                          draft.kernel.epilogue[k].name, in.value));
        if (place->kind == Place::Kind::Buffer && awaited.insert(place->value).second) {
          // The signal is one for all mmas of its role, also for those that read the tiles.
          if (draft.role_of(draft.problem.value(draft.body_value[place->value]).producer) == role)
            draft.epilogue.products_over.insert(role);
          Step wait = on_barrier(StepKind::Wait, step.op, draft.tile_full.at(place->value));
          wait.cursor = draft.depth_of(place->index);
          end.push_back(std::move(wait));
        }
        step.inputs.push_back(*place);
      }
      const std::size_t out = draft.value_index(draft.kernel.epilogue[k].outputs[0]);
      step.output = {Place::Kind::Variable, draft.variable(role, out), 0, 0, out, kPerTile};
      end.push_back(std::move(step));
      if (number + 1 < pieces.count) continue;
      for (const auto& [b, reader] : last_read)
        if (reader == k && draft.program.buffers[b].empty) {
          Step free = on_barrier(StepKind::Arrive, {OpRef::List::Epilogue, k}, *draft.program.buffers[b].empty, draft.warps_of(role));
          free.cursor = draft.depth_of(b);
          end.push_back(std::move(free));
        }
    }
    if (overlay && !draft.epilogue.products_over.contains(role))
      return draft.refuse("epilogue_kind", {op.name},
                          fmt::format("'{}' would lie where mmas of the role may still read, which it does not wait for", op.name));
    // Whoever was there last, of this tile or the one before, must be out.
    Step out = tile_step(StepKind::Retire, stage.op, Engine::Store);
    out.keep = static_cast<int>(rooms.size()) - 1;
    end.push_back(std::move(out));
    end.push_back(tile_step(StepKind::Sync, stage.op));
    stage.output = {Place::Kind::Buffer, rooms[static_cast<std::size_t>(number) % rooms.size()], 0, 1, value, kPerTile};
    stage.piece = piece;
    end.push_back(stage);
    end.push_back(tile_step(StepKind::Sync, stage.op));
    Step issue = tile_step(StepKind::Issue, store, Engine::Store);
    issue.inputs = {stage.output};
    issue.piece = piece;
    end.push_back(std::move(issue));
    end.push_back(tile_step(StepKind::Commit, store, Engine::Store));
  }
}

}  // namespace heddle::codegen
