#include "codegen/program/prologue.h"

#include <fmt/format.h>

#include "codegen/program/accumulators.h"
#include "codegen/program/epilogue.h"
#include "core/kernel/op_kind.h"

namespace heddle::codegen {
namespace {

void prologue_op(ProgramDraft& draft, std::size_t role, std::size_t index) {
  const TileOp& op = draft.kernel.prologue[index];
  Step step = tile_step(StepKind::Compute, {OpRef::List::Prologue, index});
  for (const Operand& in : op.inputs) {
    Place place;
    place.value = draft.value_index(in.value);
    place.iteration = kPerTile;
    if (!draft.is_register(place.value))
      return draft.refuse("prologue_kind", {op.name}, fmt::format("'{}' reads shared memory before the loop", op.name));
    place.kind = Place::Kind::Variable;
    place.index = draft.variable(role, place.value);
    step.inputs.push_back(place);
  }
  const std::size_t value = draft.value_index(op.outputs[0]);
  if (op.kind == "mma") return draft.refuse("prologue_kind", {op.name}, fmt::format("'{}' is an mma before the loop", op.name));
  step.output = {Place::Kind::Variable, draft.variable(role, value), 0, 0, value, draft.body_value[value].valid() ? -1 : kPerTile};
  draft.roles[role].begin.push_back(std::move(step));
}

/// The op that brings a tile to shared memory: of a store of what a load has just brought into registers the load, which can be copies.
std::size_t brought_by(const ProgramDraft& draft, std::size_t op, const std::vector<std::size_t>& definer) {
  const TileOp& store = draft.kernel.prologue[op];
  if (store.kind != "smem_store") return op;
  const std::size_t from = draft.value_index(store.inputs[0].value), maker = definer[from];
  if (maker == kNone || draft.kernel.prologue[maker].kind != "load") return op;
  const Tensor* tensor = draft.kernel.find_tensor(draft.kernel.prologue[maker].tensor);
  const bool same = tensor && tensor->dtype == draft.kernel.values[from].dtype &&
                    tensor->dtype == draft.kernel.values[draft.value_index(store.outputs[0])].dtype;
  return same ? maker : op;
}

}  // namespace

void read_per_tile(ProgramDraft& draft, std::size_t role, Place& place) {
  if (draft.buffer_of[place.value] == kNone) {
    Buffer buffer;
    buffer.name = draft.kernel.values[place.value].name;
    buffer.values = {place.value};
    buffer.slot_bytes = round_up(draft.tiles[place.value]->bytes, 1024);
    buffer.per_tile = true;
    draft.buffer_of[place.value] = draft.program.buffers.size();
    draft.program.buffers.push_back(std::move(buffer));
    draft.add_barrier(true, draft.buffer_of[place.value], place.value, 1, draft.tiles[place.value]->bytes);
    draft.add_barrier(false, draft.buffer_of[place.value], place.value, 0, 0);
  }
  place.kind = Place::Kind::Buffer;
  place.index = draft.buffer_of[place.value];
  place.cursor = 1;
  if (!draft.readers[place.value].insert(role).second) return;
  draft.program.barriers[*draft.program.buffers[place.index].empty].arrivals += draft.program.blackwell() ? 1 : draft.warps_of(role);
}

void lower_prologue(ProgramDraft& draft) {
  // What the epilogue reads of the prologue is needed as well.
  std::vector<std::size_t> definer(draft.kernel.values.size(), kNone);
  for (std::size_t i = 0; i < draft.kernel.prologue.size(); ++i)
    for (const std::string& out : draft.kernel.prologue[i].outputs) definer[draft.value_index(out)] = i;
  assign_epilogue(draft, definer);
  for (std::size_t r = 0; r < draft.roles.size(); ++r) {
    std::vector<bool> wanted(draft.kernel.prologue.size(), false);
    for (const auto& [role, value] : draft.needed)
      if (role == r && definer[value] != kNone) wanted[definer[value]] = true;
    for (std::size_t i = draft.kernel.prologue.size(); i-- > 0;)
      if (wanted[i])
        for (const Operand& in : draft.kernel.prologue[i].inputs)
          if (definer[draft.value_index(in.value)] != kNone && draft.is_register(draft.value_index(in.value)))
            wanted[definer[draft.value_index(in.value)]] = true;
    for (std::size_t i = 0; i < draft.kernel.prologue.size(); ++i)
      if (wanted[i] && draft.is_register(draft.value_index(draft.kernel.prologue[i].outputs.at(0)))) prologue_op(draft, r, i);
  }
  for (std::size_t i = 0; i < draft.kernel.prologue.size(); ++i) {
    const TileOp& op = draft.kernel.prologue[i];
    if (op.outputs.empty() || draft.is_register(draft.value_index(op.outputs[0]))) {
      if (op.outputs.empty()) draft.refuse("prologue_store", {op.name}, fmt::format("'{}' stores before the loop", op.name));
      continue;
    }
    const std::size_t value = draft.value_index(op.outputs[0]);
    if (draft.kernel.values[value].space == Space::Tmem) {
      fill_accumulator(draft, i);
      continue;
    }
    const std::size_t by = brought_by(draft, i, definer);
    if (op.kind != "tma_load" && !is_async_load(op) && by == i) {
      draft.refuse("prologue_kind", {op.name},
                   fmt::format("'{}' fills shared memory before the loop; only loads to shared memory do so here", op.name));
      continue;
    }
    if (!draft.readers.contains(value)) continue;  // it is not read
    // The producer loads; without one the first role. What the loop loads first does not have to wait until the tile before has no use
    // for its own tiles any more, so these come behind it.
    RoleDraft& loader = draft.roles.front();
    auto& loads = draft.readers.at(value).contains(0) ? loader.begin : loader.loads;
    const OpRef ref{OpRef::List::Prologue, by};
    const std::size_t buffer = draft.buffer_of[value];
    Step issue = on_barrier(StepKind::Issue, ref, draft.full_of.at(value));
    issue.engine = Engine::Load;
    issue.output = {Place::Kind::Buffer, buffer, 0, 1, value, kPerTile};
    Step free = on_barrier(StepKind::Wait, ref, *draft.program.buffers[buffer].empty);
    free.ahead = true;
    loads.insert(loads.end(), {free, issue});
    for (const std::size_t r : draft.readers.at(value)) {
      draft.roles[r].begin.push_back(on_barrier(StepKind::Wait, ref, draft.full_of.at(value)));
      // On Blackwell mmas read it, whose end the hardware signals.
      draft.release.push_back({r, draft.program.blackwell()
                                      ? on_barrier(StepKind::Signal, ref, *draft.program.buffers[buffer].empty)
                                      : on_barrier(StepKind::Arrive, ref, *draft.program.buffers[buffer].empty, draft.warps_of(r))});
    }
  }
  if (draft.refusals.empty()) hand_over_accumulators(draft);
}

}  // namespace heddle::codegen
