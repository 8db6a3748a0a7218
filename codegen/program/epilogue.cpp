#include "codegen/program/epilogue.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/program/accumulators.h"
#include "codegen/program/staging.h"
#include "core/kernel/op_kind.h"

namespace heddle::codegen {
namespace {

OpRef first_op(const RoleDraft& role_draft, Engine engine) {
  for (const LoopStep& s : role_draft.loop)
    if (s.step.engine == engine && s.step.kind == StepKind::Issue) return s.step.op;
  return {};
}

void make_free(ProgramDraft& draft, std::size_t role, std::size_t i) {
  if (!draft.epilogue.made_free.insert({role, i}).second) return;
  const TileOp& op = draft.kernel.epilogue[i];
  Step step = tile_step(StepKind::Compute, {OpRef::List::Epilogue, i});
  const auto place = [&](std::size_t value) { return Place{Place::Kind::Variable, draft.variable(role, value), 0, 0, value, kPerTile}; };
  for (const Operand& in : op.inputs) {
    make_free(draft, role, draft.epilogue.made_by.at(draft.value_index(in.value)));
    step.inputs.push_back(place(draft.value_index(in.value)));
  }
  step.output = place(draft.value_index(op.outputs[0]));
  draft.roles[role].end.push_back(std::move(step));
}

void epilogue_op(ProgramDraft& draft, std::size_t i) {
  const TileOp& op = draft.kernel.epilogue[i];
  const std::size_t role = draft.epilogue.role[i];
  RoleDraft& role_draft = draft.roles[role];
  const OpRef ref{OpRef::List::Epilogue, i};
  if (draft.epilogue.in_pieces.contains(i) || draft.epilogue.is_free(i) || works_on_tile(draft, i)) return;
  for (const Operand& in : op.inputs)
    if (const auto maker = draft.epilogue.made_by.find(draft.value_index(in.value));
        maker != draft.epilogue.made_by.end() && draft.epilogue.is_free(maker->second) && in.distance == 0)
      make_free(draft, role, maker->second);
  const bool store = op.kind == "tma_store" || op.kind == "atomic_add";
  if (op.kind == "mma" || op.kind == "tma_load" || op.kind == "gather" || is_async_load(op))
    return draft.refuse("epilogue_kind", {op.name}, fmt::format("'{}' is a {} after the loop", op.name, op.kind));
  Step step = tile_step(store ? StepKind::Issue : StepKind::Compute, ref, store ? Engine::Store : Engine::None);
  for (const Operand& in : op.inputs) {
    const auto place = epilogue_place(draft, role, i, in);
    if (!place) return;
    step.inputs.push_back(*place);
  }
  if (!op.outputs.empty()) {
    const std::size_t value = draft.value_index(op.outputs[0]);
    if (draft.is_register(value)) {
      step.output = {Place::Kind::Variable, draft.variable(role, value), 0, 0, value, kPerTile};
    } else {
      if (draft.uses_tensor_memory()) return store_tile(draft, i, std::move(step));
      if (const Pieces pieces = pieces_of(draft, i); pieces.count > 1) return store_in_pieces(draft, i, pieces, std::move(step));
      if (draft.buffer_of[value] == kNone) {
        draft.buffer_of[value] = draft.program.buffers.size();
        draft.program.buffers.push_back(room_for(draft, value, 1));
      }
      step.output = {Place::Kind::Buffer, draft.buffer_of[value], 0, 1, value, kPerTile};
      // The tile before may still be on its way out.
      role_draft.end.push_back(tile_step(StepKind::Retire, ref, Engine::Store));
      role_draft.end.push_back(tile_step(StepKind::Sync, ref));
    }
  }
  const bool to_smem = step.output.kind == Place::Kind::Buffer;
  role_draft.end.push_back(std::move(step));
  if (store) role_draft.end.push_back(tile_step(StepKind::Commit, ref, Engine::Store));
  if (to_smem) role_draft.end.push_back(tile_step(StepKind::Sync, ref));
}

}  // namespace

void assign_epilogue(ProgramDraft& draft, const std::vector<std::size_t>& definer) {
  draft.epilogue.role.assign(draft.kernel.epilogue.size(), kNone);
  std::map<std::size_t, std::size_t>& made_by = draft.epilogue.made_by;
  for (std::size_t i = 0; i < draft.kernel.epilogue.size(); ++i) {
    const TileOp& op = draft.kernel.epilogue[i];
    const bool free = op.kind != "tma_load" && !op.outputs.empty() && draft.is_register(draft.value_index(op.outputs[0])) &&
                      std::all_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) {
                        const auto maker = made_by.find(draft.value_index(in.value));
                        return in.distance == 0 && maker != made_by.end() && draft.epilogue.is_free(maker->second);
                      });
    if (free) draft.epilogue.free.insert(i);
    for (const std::string& out : op.outputs) made_by[draft.value_index(out)] = i;
  }
  // The loop's op behind an epilogue op, for demands.
  std::vector<OpId> source(draft.kernel.epilogue.size());
  const std::vector<std::size_t> tile_roles = draft.uses_tensor_memory() ? roles_for_tiles(draft) : draft.epilogue.role;
  for (std::size_t i = 0; i < draft.kernel.epilogue.size(); ++i) {
    const TileOp& op = draft.kernel.epilogue[i];
    if (draft.epilogue.is_free(i)) continue;
    for (const Operand& in : op.inputs) {
      const std::size_t value = draft.value_index(in.value);
      std::size_t role = kNone;
      OpId from;
      if (made_by.contains(value) && made_by[value] < i && in.distance == 0) {
        if (draft.epilogue.is_free(made_by[value])) continue;
        role = draft.epilogue.role[made_by[value]];
        from = source[made_by[value]];
      } else if (draft.body_value[value].valid()) {
        from = draft.problem.value(draft.body_value[value]).producer;
        role = draft.role_of(from);
        if (draft.buffer_of[value] != kNone && draft.is_accumulator(draft.buffer_of[value])) {
          role = tile_roles[i] != kNone ? tile_roles[i] : role_for_accumulator(draft, value);
        } else if (!draft.is_register(value)) {
          draft.refuse("epilogue_reads_ring", {op.name}, fmt::format("'{}' reads '{}' out of a ring after the loop", op.name, in.value));
          continue;
        }
      } else {
        continue;  // loop invariant: made where it is needed
      }
      if (draft.epilogue.role[i] != kNone && role != kNone && role != draft.epilogue.role[i]) {
        std::optional<UserConstraint> demand;
        std::vector<std::string> ops{op.name};
        if (from.valid() && source[i].valid()) {
          demand = same_group({draft.name(source[i]), draft.name(from)});
          ops = {op.name, draft.name(source[i]), draft.name(from)};
        }
        draft.refuse("epilogue_crosses_roles", ops,
                     fmt::format("'{}' after the loop needs results of two roles, '{}' and '{}', at once", op.name,
                                 draft.roles[draft.epilogue.role[i]].role.name, draft.roles[role].role.name),
                     demand);
        continue;
      }
      if (role != kNone) draft.epilogue.role[i] = role, source[i] = from;
    }
    if (draft.epilogue.role[i] == kNone) draft.epilogue.role[i] = draft.roles.size() - 1;
    for (const Operand& in : op.inputs) {
      const std::size_t value = draft.value_index(in.value);
      const bool own = made_by.contains(value) && made_by[value] < i && in.distance == 0;
      if (!own && definer[value] != kNone && (!draft.body_value[value].valid() || draft.program.trips - 1 - in.distance < 0))
        draft.needed.insert({draft.epilogue.role[i], value});
    }
  }
}

void lower_epilogue(ProgramDraft& draft) {
  for (RoleDraft& role_draft : draft.roles) {
    const auto has = [&](Engine engine) {
      return std::any_of(role_draft.loop.begin(), role_draft.loop.end(), [&](const LoopStep& s) { return s.step.engine == engine; });
    };
    if (has(Engine::Mma) && !draft.program.blackwell())
      role_draft.end.push_back(tile_step(StepKind::Retire, first_op(role_draft, Engine::Mma), Engine::Mma));
    if (has(Engine::Store)) {
      role_draft.end.push_back(tile_step(StepKind::Retire, first_op(role_draft, Engine::Store), Engine::Store));
      role_draft.end.push_back(tile_step(StepKind::Sync, first_op(role_draft, Engine::Store)));
    }
  }
  // Which tiles of the prologue hold a result at the end is known before anything is released.
  overlay_tiles(draft);
  const auto later = [&](const Step& step) { return draft.epilogue.overlaid.contains(draft.program.barriers[step.barrier].buffer); };
  for (const auto& [role, step] : draft.release)
    if (!later(step)) draft.roles[role].releases.push_back({draft.program.barriers[step.barrier].buffer, step});
  for (std::size_t i = 0; i < draft.kernel.epilogue.size(); ++i) epilogue_op(draft, i);
  for (const auto& [role, step] : draft.release) {
    if (!later(step)) continue;
    draft.roles[role].end.push_back(tile_step(StepKind::Retire, step.op, Engine::Store));
    draft.roles[role].end.push_back(tile_step(StepKind::Sync, step.op));
    draft.roles[role].end.push_back(step);
  }
}

std::optional<Place> epilogue_place(ProgramDraft& draft, std::size_t role, std::size_t i, const Operand& in) {
  Place place;
  place.value = draft.value_index(in.value);
  place.iteration = kPerTile;
  const auto maker = draft.epilogue.made_by.find(place.value);
  const bool own = maker != draft.epilogue.made_by.end() && maker->second < i && in.distance == 0;
  const std::int64_t last = std::max<std::int64_t>(draft.program.trips - 1 - in.distance, -1);
  if (draft.is_register(place.value)) {
    place.kind = Place::Kind::Variable;
    place.index = draft.variable(role, place.value);
    if (!own && draft.body_value[place.value].valid()) place.iteration = last;
    return place;
  }
  place.kind = Place::Kind::Buffer;
  place.index = draft.buffer_of[place.value];
  if (!own && place.index != kNone && draft.is_accumulator(place.index)) {
    place.cursor = draft.depth_of(place.index);
    place.iteration = last;
    return place;
  }
  place.cursor = 1;
  if (own) return place;
  const TileOp& op = draft.kernel.epilogue[i];
  draft.refuse("epilogue_reads_ring", {op.name}, fmt::format("'{}' reads '{}' out of a ring after the loop", op.name, in.value));
  return std::nullopt;
}

}  // namespace heddle::codegen
