// The loop of every role: from the lines of the pipeline program to steps with places, barriers and cursors.
#include <utility>

#include <fmt/format.h>

#include "codegen/program/accumulators.h"
#include "codegen/program/boxes.h"
#include "codegen/program/passes.h"
#include "codegen/program/pieces.h"
#include "codegen/program/prologue.h"
#include "core/analysis/pipeline_program.h"
#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

Step base(OpId op, const PipelineLine& line) {
  Step step;
  step.op = {OpRef::List::Body, op.index()};
  step.stage = line.stage;
  step.slot = line.slot;
  return step;
}

void add(RoleDraft& role, const PipelineLine& line, Step step, bool& fresh) {
  LoopStep loop;
  loop.step = std::move(step);
  loop.first = line.first;
  loop.spare = line.spare;
  loop.new_line = std::exchange(fresh, false);
  role.loop.push_back(std::move(loop));
}

/// Where an op of the loop reads a value; relative iteration.
Place place_read(ProgramDraft& draft, std::size_t role, OpId op, const Operand& operand) {
  Place place;
  place.value = draft.value_index(operand.value);
  place.iteration = -operand.distance;
  const ValueId v = draft.body_value[place.value];
  if (!v.valid()) {
    place.iteration = kPerTile;
    if (draft.is_register(place.value)) {
      place.kind = Place::Kind::Variable;
      place.index = draft.variable(role, place.value);
      draft.needed.insert({role, place.value});
    } else {
      read_per_tile(draft, role, place);
    }
    return place;
  }
  if (draft.is_register(place.value) && draft.role_of(draft.problem.value(v).producer) == role) {
    place.kind = Place::Kind::Variable;
    place.index = draft.variable(role, place.value);
    if (operand.distance > 0) draft.needed.insert({role, place.value});
    if (operand.distance > 1)
      draft.refuse("carried_far", {draft.name(op)},
                   fmt::format("'{}' reads '{}' of {} iterations ago; registers are carried over one", draft.name(op), operand.value,
                               operand.distance));
    return place;
  }
  place.kind = Place::Kind::Buffer;
  place.index = draft.buffer_of[place.value];
  const bool kept = place.index != kNone && draft.is_accumulator(place.index) && operand.distance <= 1;
  if (place.index == kNone || (operand.distance > 0 && !kept)) {
    draft.refuse("ring_read_back", {draft.name(op), draft.name(draft.problem.value(v).producer)},
                 fmt::format("'{}' reads '{}' of an earlier iteration through shared memory", draft.name(op), operand.value),
                 draft.is_register(place.value) ? std::optional(same_group({draft.name(draft.problem.value(v).producer), draft.name(op)}))
                                                : std::nullopt);
    return place;
  }
  place.cursor = static_cast<std::size_t>(draft.program.buffers[place.index].depth);
  return place;
}

void make_barriers(ProgramDraft& draft, const PipelineLine& line) {
  using Kind = PipelineLine::Kind;
  const std::size_t role = draft.role_of(line.op);
  if (line.kind == Kind::Commit && line.value.valid()) {
    const std::size_t value = draft.value_index(draft.problem.value(line.value).name), buffer = draft.buffer_of[value];
    if (draft.full_of.contains(value) || buffer == kNone) return;
    if (line.hardware)
      draft.add_barrier(true, buffer, value, 1, draft.program.buffers[buffer].tensor() ? 0 : draft.problem.value(line.value).bytes);
    else
      draft.add_barrier(true, buffer, value, draft.warps_of(role), 0);
  }
  if (line.kind == Kind::Release) {
    const std::size_t buffer = draft.buffer_of_channel.at(line.channel.index());
    if (!draft.program.buffers[buffer].empty) draft.add_barrier(false, buffer, draft.program.buffers[buffer].values.front(), 0, 0);
    draft.program.barriers[*draft.program.buffers[buffer].empty].arrivals += line.hardware ? 1 : draft.warps_of(role);
  }
}

void note_mma(ProgramDraft& draft, std::size_t role, OpId product, const Step& step) {
  const TileOp& op = draft.body(product);
  RoleDraft& role_draft = draft.roles[role];
  const auto mark = [&](const Place& p) {
    if (p.kind == Place::Kind::Variable) role_draft.by_mma[p.index] = true;
  };
  for (const Place& p : step.inputs) mark(p);
  mark(step.output);
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const Place& p = step.inputs[k];
    if (p.kind != Place::Kind::Buffer || !draft.program.buffers[p.index].registers) continue;
    const std::string& maker = draft.name(draft.problem.value(draft.body_value[p.value]).producer);
    draft.refuse("product_hand_over", {maker, op.name},
                 fmt::format("'{}' needs '{}' in its own registers, and another role makes it", op.name, op.inputs[k].value),
                 same_group({maker, op.name}));
  }
  if (op.inputs.size() < 3) return;
  if (step.inputs[2].kind == Place::Kind::Variable && step.inputs[2].index != step.output.index)
    return draft.refuse("accumulator_place", {op.name},
                        fmt::format("'{}' adds to '{}', which does not lie where its result goes", op.name, op.inputs[2].value));
  if (op.inputs[2].distance > 0) role_draft.chained[step.output.index] = true;
}

void lower_issue(ProgramDraft& draft, std::size_t role, const PipelineLine& line, Step step, bool& fresh) {
  const OpId op = line.op;
  const TileOp& tile_op = draft.body(op);
  step.engine = draft.engine_of(op);
  step.kind = step.engine == Engine::None ? StepKind::Compute : StepKind::Issue;
  for (const Operand& operand : tile_op.inputs) {
    step.inputs.push_back(place_read(draft, role, op, operand));
    Place& in = step.inputs.back();
    if (in.kind == Place::Kind::Variable && pieces_of_value(draft, in.value) > 1) in.index = draft.variable(role, in.value, step.piece);
  }
  if (tile_op.outputs.size() > 1)
    return draft.refuse("outputs", {tile_op.name}, fmt::format("'{}' defines {} values at once", tile_op.name, tile_op.outputs.size()));
  if (!tile_op.outputs.empty()) {
    const std::size_t value = draft.value_index(tile_op.outputs[0]);
    if (draft.is_register(value)) {
      step.output = {Place::Kind::Variable, draft.variable(role, value, step.piece), 0, 0, value, 0};
    } else if (draft.buffer_of[value] != kNone) {
      step.output = {Place::Kind::Buffer, draft.buffer_of[value], 0, draft.depth_of(draft.buffer_of[value]), value, 0};
    }
    if (step.engine == Engine::Load) {
      if (step.output.kind != Place::Kind::Buffer || !draft.full_of.contains(value))
        return draft.refuse("load_target", {tile_op.name},
                            fmt::format("'{}' loads a tile that no op waits for, or into registers", tile_op.name));
      step.barrier = draft.full_of.at(value);
      step.cursor = draft.depth_of(step.output.index);
    }
  }
  const Engine engine = step.engine;
  if (engine == Engine::Mma && draft.program.blackwell()) {
    check_operands(draft, op, step);
    return add(draft.roles[role], line, std::move(step), fresh);
  }
  if (engine == Engine::Mma) note_mma(draft, role, op, step);
  const bool to_smem =
      engine == Engine::None && step.output.kind == Place::Kind::Buffer && !draft.program.buffers[step.output.index].tensor();
  Step next = base(op, line);
  next.engine = engine;
  add(draft.roles[role], line, std::move(step), fresh);
  if (engine == Engine::Mma || engine == Engine::Store) {
    next.kind = StepKind::Commit;
    add(draft.roles[role], line, std::move(next), fresh);
  } else if (to_smem) {
    next.kind = StepKind::Sync;
    add(draft.roles[role], line, std::move(next), fresh);
  }
}

void lower(ProgramDraft& draft, std::size_t role, const PipelineLine& line, Piece piece) {
  using Kind = PipelineLine::Kind;
  Step step = base(line.op, line);
  if (line.kind == Kind::Issue) step.piece = piece;
  bool fresh = true;
  // What a tensor core of Blackwell makes lies in tensor memory, and a ring has it.
  const bool signals = line.kind == Kind::Commit && line.hardware && draft.engine_of(line.op) == Engine::Mma;
  if (signals && line.value.valid() && !draft.full_of.contains(draft.value_index(draft.problem.value(line.value).name)))
    return draft.refuse("product_place", {draft.name(line.op)},
                        fmt::format("'{}' makes '{}', which lies in {}: tcgen05 makes its result in tensor memory", draft.name(line.op),
                                    draft.problem.value(line.value).name, to_string(draft.problem.value(line.value).space)));
  switch (line.kind) {
    case Kind::Wait: {
      const bool kept = line.value.valid() && awaits_accumulator(draft, line);
      if (!kept && (!line.channel.valid() || line.distance > 0)) {
        return draft.refuse(line.distance > 0 ? "ring_read_back" : "order_without_ring", {draft.name(line.other), draft.name(line.op)},
                            fmt::format("'{}' waits for '{}' {}", draft.name(line.op), draft.name(line.other),
                                        line.distance > 0 ? "of an earlier iteration in another role"
                                                          : "in another role, and no ring gives the signal a slot"),
                            same_group({draft.name(line.other), draft.name(line.op)}));
      }
      step.kind = StepKind::Wait;
      step.barrier = draft.full_of.at(draft.value_index(draft.problem.value(line.value).name));
      step.cursor = draft.depth_of(draft.program.barriers[step.barrier].buffer);
      step.ahead = line.distance > 0;
      add(draft.roles[role], line, std::move(step), fresh);
      // In a tile's first iteration the phase before is the tile before's, which has long been over.
      if (kept) draft.roles[role].loop.back().first = 0;
      return;
    }
    case Kind::Acquire:
      step.kind = StepKind::Wait;
      step.barrier = *draft.program.buffers[draft.buffer_of_channel.at(line.channel.index())].empty;
      step.cursor = draft.depth_of(draft.program.barriers[step.barrier].buffer);
      step.ahead = true;
      return add(draft.roles[role], line, std::move(step), fresh);
    case Kind::Retire: {
      step.kind = StepKind::Retire;
      step.engine = draft.engine_of(line.other);
      const bool store = step.engine == Engine::Store;
      add(draft.roles[role], line, step, fresh);
      draft.roles[role].loop.back().retires = line.other;
      draft.roles[role].loop.back().distance = line.distance;
      if (store) {  // the thread that issued has waited; the others learn of it
        step.kind = StepKind::Sync;
        step.engine = Engine::None;
        add(draft.roles[role], line, step, fresh);
      }
      return;
    }
    case Kind::Issue: return lower_issue(draft, role, line, std::move(step), fresh);
    case Kind::Commit: {
      if (!line.value.valid()) return;
      if (line.hardware && draft.engine_of(line.op) == Engine::Mma) {
        step.kind = StepKind::Signal;
        step.barrier = draft.full_of.at(draft.value_index(draft.problem.value(line.value).name));
        step.cursor = draft.depth_of(draft.program.barriers[step.barrier].buffer);
        return add(draft.roles[role], line, std::move(step), fresh);
      }
      if (line.hardware) return;
      const std::size_t value = draft.value_index(draft.problem.value(line.value).name);
      const std::size_t buffer = draft.buffer_of[value];
      if (buffer == kNone) return;
      if (draft.program.buffers[buffer].registers) {
        Step put = step;
        put.kind = StepKind::Put;
        put.inputs = {{Place::Kind::Variable, draft.variable(role, value), 0, 0, value, 0}};
        put.output = {Place::Kind::Buffer, buffer, 0, draft.depth_of(buffer), value, 0};
        add(draft.roles[role], line, std::move(put), fresh);
      }
      step.kind = StepKind::Arrive;
      step.barrier = draft.full_of.at(value);
      step.cursor = draft.depth_of(buffer);
      step.count = draft.warps_of(role);
      return add(draft.roles[role], line, std::move(step), fresh);
    }
    case Kind::Release: {
      const std::size_t buffer = draft.buffer_of_channel.at(line.channel.index());
      if ((line.hardware && draft.engine_of(line.op) != Engine::Mma) || line.distance > 0)
        return draft.refuse(
            "ring_read_back", {draft.name(line.op)},
            fmt::format("'{}' frees '{}' of an earlier iteration", draft.name(line.op), draft.program.buffers[buffer].name));
      step.kind = line.hardware ? StepKind::Signal : StepKind::Arrive;
      step.barrier = *draft.program.buffers[buffer].empty;
      step.cursor = draft.depth_of(buffer);
      step.count = line.hardware ? 1 : draft.warps_of(role);
      return add(draft.roles[role], line, std::move(step), fresh);
    }
  }
}

}  // namespace

void lower_loops(ProgramDraft& draft) {
  const PipelineProgram pipeline = pipeline_program(draft.problem, draft.schedule);
  // Barriers first: a reader's line may come before the writer's.
  for (const PipelineGroup& group : pipeline.groups)
    for (const PipelineLine& line : group.lines) make_barriers(draft, line);
  for (std::size_t g = 0; g < pipeline.groups.size(); ++g)
    if (draft.role_of_group[g] != kNone)
      for (const auto& [line, piece] : put_chains_together(draft, tell_early(draft, free_after_writing(draft, pipeline.groups[g].lines))))
        lower(draft, draft.role_of_group[g], line, piece);
}

void begin_boxes(ProgramDraft& draft) {
  const auto begin = [&](Step& step) {
    if (step.kind != StepKind::Issue || step.copies || (step.engine != Engine::Load && step.engine != Engine::Store)) return;
    const Place& tile = step.engine == Engine::Load ? step.output : step.inputs.at(0);
    const TileOp& op = op_of(draft.kernel, step.op);
    step.packed = draft.problem.layouts && draft.problem.layouts->packed.contains(op.tensor);
    if (step.packed) return;
    const BoxStart start = box_start(draft.kernel, {draft.problem.params, draft.program.trips, draft.program.cluster, draft.program.sizes},
                                     op, draft.kernel.values[tile.value]);
    step.round_to = start.unit;
    if (!start.refusal.empty()) draft.refuse("tma_alignment", {op.name}, start.refusal);
  };
  for (RoleDraft& role_draft : draft.roles) {
    for (auto* list : {&role_draft.begin, &role_draft.loads, &role_draft.end})
      for (Step& step : *list) begin(step);
    for (LoopStep& loop : role_draft.loop) begin(loop.step);
  }
}

}  // namespace heddle::codegen
