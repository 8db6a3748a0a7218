// Buffers and barriers are made from channels, steps from the lines of the pipeline program; then come the ops before and after the loop.
#include "codegen/program/build.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "codegen/program/builder.h"
#include "codegen/program/rings.h"
#include "codegen/program/tile_rows.h"
#include "core/check/checker.h"
#include "core/kernel/op_kind.h"
#include "core/layout/plan.h"
#include "core/problem/fault_log.h"
#include "core/problem/storage.h"
#include "core/schedule/constraint_text.h"

namespace heddle::codegen {

Refusal refusal(std::string rule, std::vector<std::string> ops, std::string sentence, std::optional<UserConstraint> constraint) {
  if (constraint) constraint->name = describe(*constraint);
  return {std::move(rule), std::move(ops), std::move(sentence), std::move(constraint)};
}

namespace {

constexpr std::int64_t kMostTrips = 1'000'000;
constexpr int kAllPieces = 256;  ///< at once: more than a tile has
}  // namespace

UserConstraint fewer_stages(const Program& program) { return {"", true, ConstraintKind::MaxStages, {}, "", 0, program.stages - 1}; }

UserConstraint same_group(std::vector<std::string> ops) { return {"", true, ConstraintKind::SameGroup, std::move(ops), "", 0, 0}; }

BuildResult Builder::run(std::optional<std::int64_t> trips, const Staging& staging) {
  staging_ = staging;
  if (prepare(trips)) {
    make_buffers();
    make_roles();
    if (refusals_.empty()) lower_loops();
    if (refusals_.empty() && !program_.blackwell()) keep_one_in_flight();
    if (refusals_.empty() && !program_.blackwell()) order_turns();
    if (refusals_.empty()) note_rewritten();
    if (refusals_.empty()) lower_prologue();
    if (refusals_.empty()) lower_epilogue();
    if (refusals_.empty() && options_.cluster != 1) share_loads();
    if (refusals_.empty()) begin_boxes();
    if (refusals_.empty())
      for (std::size_t r = 0; r < drafts_.size(); ++r)
        cut_and_fold(problem_, program_, turns_, r < options_.cuts.size() ? options_.cuts[r] : 0, drafts_[r], refusals_);
    if (refusals_.empty()) {
      for (RoleDraft& draft : drafts_) program_.roles.push_back(std::move(draft.role));
      if (kernel_.loop.tile_trips) vary_trips();
      lay_out(kernel_, problem_, schedule_, program_, refusals_);
    }
  }
  if (refusals_.empty()) return {std::move(program_), {}};
  // What goes wrong because iterations overlap goes wrong less with fewer of them.
  for (Refusal& r : refusals_)
    if (!r.constraint && program_.stages > 1 &&
        (r.rule == "wgmma_wait" || r.rule == "copies" || r.rule == "accumulator_copies" || r.rule == "loop"))
      r = refusal(r.rule, r.ops, r.sentence, fewer_stages(program_));
  return {std::nullopt, std::move(refusals_)};
}

bool Builder::prepare(std::optional<std::int64_t> trips) {
  program_.kernel = kernel_.name;
  program_.arch = problem_.arch;
  program_.params = problem_.params;
  program_.stages = stage_count(schedule_);
  for (std::size_t i = 0; i < kernel_.values.size(); ++i) value_index_.emplace(kernel_.values[i].name, i);
  body_value_.assign(kernel_.values.size(), ValueId{});
  for (std::size_t v = 0; v < problem_.values.size(); ++v) body_value_[value_index(problem_.values[v].name)] = ValueId(v);
  for (const TileOp& op : kernel_.body)
    if (op.kind == "opaque") {
      refuse("numbers_only", {op.name}, "this graph has numbers only: it can be scheduled but not written as a kernel");
      return false;
    }
  for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
    for (const TileOp& op : *list)
      if (is_async_load(op)) {
        refuse("async_load", {op.name},
               fmt::format("'{}' is an asynchronous load by all threads (cp.async), which cannot be written yet; tma_load can", op.name));
        return false;
      }
  for (const TileValue& value : kernel_.values)
    if (value.space == Space::Tmem && !program_.blackwell()) {
      refuse("tensor_memory", {}, fmt::format("'{}' lies in tensor memory, which this machine does not have", value.name));
      return false;
    }
  if (!kernel_.producer) {
    refuse("producer", {}, "its loads have no warp group of their own; only kernels with a producer group can be written");
    return false;
  }
  FaultLog faults;
  for (const TileValue& value : kernel_.values) tiles_.push_back(measure(value, problem_.params, {}, faults));
  if (const auto wide = wide_tile(kernel_, problem_)) {
    refuse("tile_rows", {}, sentence_of(*wide));
    return false;
  }
  const auto own = kernel_.loop.trips.evaluate(problem_.params);
  program_.trips = trips.value_or(own.ok() ? *own : 0);
  if (!faults.empty() || program_.trips < 1 || program_.trips > kMostTrips) {
    refuse("trips", {}, fmt::format("the loop runs {} times; 1 to {} can be written", program_.trips, kMostTrips));
    return false;
  }
  const bool pair = program_.blackwell() && options_.cluster == 2;
  if (const Verdict verdict = check(pair ? of_pair(kernel_, problem_) : problem_, schedule_); !verdict.valid()) {
    refuse("illegal_schedule", {}, fmt::format("the schedule breaks a rule: {}", verdict.violations.front().message));
    return false;
  }
  return true;
}

void Builder::vary_trips() {
  for (const auto* list : {&kernel_.prologue, &kernel_.epilogue})
    for (const TileOp& op : *list)
      for (const Expr& at : op.at)
        if (const auto names = at.names(); std::find(names.begin(), names.end(), kernel_.loop.variable) != names.end())
          return refuse("tile_trips", {op.name},
                        fmt::format("'{}' outside the loop depends on the number of trips, which differs from tile to tile", op.name));
  // One pass stays, so that what comes after the loop is never the first to use a register or a slot.
  program_.varies = true;
  for (const Role& role : program_.roles) {
    std::int64_t least = role.sections.empty() ? 1 : program_.trips;
    for (const Section& section : role.sections) {
      if (!section.loop) continue;
      int skipped_first = 0, skipped_last = 0;
      for (const Step& step : section.steps) {
        skipped_first = std::max(skipped_first, step.skip_first);
        skipped_last = std::max(skipped_last, step.skip_last);
      }
      least = program_.trips - std::max<std::int64_t>(section.times - 1 - skipped_first - skipped_last, 0) * section.unroll;
      program_.trip_step = std::lcm(program_.trip_step, static_cast<std::int64_t>(section.unroll));
    }
    program_.least_trips = std::max(program_.least_trips, least);
  }
  program_.least_trips = rounded_trips(program_, program_.least_trips);
}

void Builder::make_buffers() {
  buffer_of_.assign(kernel_.values.size(), kNone);
  for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
    const Channel& channel = problem_.channels[c];
    if (schedule_.depths[c] == 0) continue;
    Buffer buffer;
    buffer.name = channel.name;
    buffer.depth = schedule_.depths[c];
    buffer.registers = channel.only_if_crossing;
    if (channel.space == Space::Tmem)
      buffer.columns = static_cast<int>(channel.size);
    else
      buffer.slot_bytes = round_up(channel.size, 1024);
    if (buffer.registers) {
      const Op& writer = problem_.op(channel.writer);
      for (const Reader& reader : channel.readers)
        if (problem_.op(reader.op).warps != writer.warps && schedule_.group(reader.op) != schedule_.group(channel.writer))
          refuse("hand_over_shape", {writer.name, problem_.op(reader.op).name},
                 fmt::format("'{}' passes from {} warps to {}; registers are handed over thread by thread", channel.name, writer.warps,
                             problem_.op(reader.op).warps),
                 same_group({writer.name, problem_.op(reader.op).name}));
      buffer.slot_bytes = std::int64_t{4} * problem_.value(channel.values.front()).registers * writer.warps * kThreadsPerWarp;
    }
    for (const ValueId v : channel.values) {
      buffer.values.push_back(value_index(problem_.value(v).name));
      buffer_of_[buffer.values.back()] = program_.buffers.size();
    }
    buffer_of_channel_[c] = program_.buffers.size();
    program_.buffers.push_back(std::move(buffer));
  }
  keep_accumulators();
  for (std::size_t i = 0; i < kernel_.values.size(); ++i)
    if (!kernel_.values[i].alias_at.is_zero() && kernel_.values[i].space != Space::Tmem)
      refuse("shared_part", {},
             fmt::format("'{}' shares a part of the storage of '{}'; only whole tiles can be written", kernel_.values[i].name,
                         kernel_.values[i].alias_of));
    else if (body_value_[i].valid() && kernel_.values[i].space == Space::Smem && buffer_of_[i] == kNone)
      refuse("written_resident", {},
             fmt::format("'{}' is rewritten in place in shared memory; only rings can be written", kernel_.values[i].name));
}

std::size_t Builder::add_barrier(bool full, std::size_t buffer, std::size_t value, int arrivals, std::int64_t bytes) {
  program_.barriers.push_back({full, buffer, value, arrivals, bytes > 0 ? std::max(bytes, kLeastBoxBytes) : 0});
  if (!full) program_.buffers[buffer].empty = program_.barriers.size() - 1;
  if (full) full_of_[value] = program_.barriers.size() - 1;
  return program_.barriers.size() - 1;
}

void Builder::make_roles() {
  role_of_group_.assign(schedule_.groups.size(), kNone);
  std::vector<std::size_t> order(schedule_.groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Roles of one warp stand together where they share a warpgroup.
  if (program_.blackwell())
    std::stable_partition(order.begin(), order.end(), [&](std::size_t g) { return schedule_.groups[g].warps <= 1; });
  for (const std::size_t g : order) {
    const ScheduleGroup& group = schedule_.groups[g];
    if (group.warps == 0) continue;
    role_of_group_[g] = drafts_.size();
    RoleDraft& draft = drafts_.emplace_back();
    draft.role.name = group.role.empty() ? fmt::format("group {}", g) : group.role;
    draft.role.group = GroupId(g);
    draft.role.warps = group.warps;
    draft.role.warpgroups = (group.warps + 3) / 4;
  }
  variable_of_.resize(drafts_.size());
  for (auto& list : variable_of_) list.assign(kernel_.values.size(), kNone);
}

int Builder::registers_of(std::size_t value, std::size_t role) const {
  if (body_value_[value].valid() && program_.blackwell() && pieces_at_once(value) > 1 && problem_.value(body_value_[value]).registers > 0 &&
      kernel_.values[value].shape.size() == 2)
    return static_cast<int>(registers_per_thread(*tiles_[value], std::int64_t{4} * kThreadsPerWarp)) / pieces_of_value(value);
  if (body_value_[value].valid()) return problem_.value(body_value_[value]).registers;
  if (const auto& given = kernel_.values[value].registers)
    if (const auto number = given->evaluate(problem_.params); number.ok())
      return static_cast<int>(std::clamp<std::int64_t>(*number, 0, 255));
  return static_cast<int>(
      std::min<std::int64_t>(registers_per_thread(*tiles_[value], std::int64_t{warps_of(role)} * kThreadsPerWarp), 4096));
}

bool Builder::masked_in_place(const TileOp& mask) const {
  const Operand& in = mask.inputs[0];
  if (in.distance > 0) return false;
  for (const auto* list : {&kernel_.body, &kernel_.epilogue})
    for (const TileOp& op : *list)
      for (const Operand& other : op.inputs)
        if (&op != &mask && other.value == in.value) return false;
  return true;
}

std::size_t Builder::variable(std::size_t role, std::size_t value, const Piece& piece) {
  if (piece.number % 2 == 1) {  // two pieces at a time: one arrives while the other is worked on
    std::size_t& other = other_piece_[{role, value}];
    if (other == 0) {
      Variable made = drafts_[role].role.variables[variable(role, value)];
      made.name += "_next";
      other = drafts_[role].role.variables.size();
      drafts_[role].role.variables.push_back(std::move(made));
      drafts_[role].by_mma.push_back(false);
      drafts_[role].chained.push_back(false);
    }
    return other;
  }
  std::size_t& known = variable_of_[role][value];
  if (known != kNone) return known;
  RoleDraft& draft = drafts_[role];
  for (const auto* list : {&kernel_.body, &kernel_.prologue, &kernel_.epilogue})
    for (const TileOp& op : *list) {
      if (op.kind == "mask" && !op.outputs.empty() && masked_in_place(op)) {
        const std::size_t out = value_index(op.outputs[0]), in = value_index(op.inputs[0].value);
        const std::size_t partner = out == value ? in : in == value ? out : kNone;
        if (partner != kNone && variable_of_[role][partner] != kNone) return known = variable_of_[role][partner];
      }
      if (op.kind != "mma" || op.inputs.size() < 3 || op.outputs.empty()) continue;
      const std::size_t out = value_index(op.outputs[0]), sum = value_index(op.inputs[2].value);
      const std::size_t partner = out == value ? sum : sum == value ? out : kNone;
      if (partner != kNone && partner != value && variable_of_[role][partner] != kNone) return known = variable_of_[role][partner];
    }
  Variable made;
  made.name = kernel_.values[value].name;
  made.value = value;
  made.registers = registers_of(value, role);
  known = draft.role.variables.size();
  draft.role.variables.push_back(made);
  draft.by_mma.push_back(false);
  draft.chained.push_back(false);
  return known;
}

Place Builder::place_read(std::size_t role, OpId op, const Operand& operand) {
  Place place;
  place.value = value_index(operand.value);
  place.iteration = -operand.distance;
  const ValueId v = body_value_[place.value];
  if (!v.valid()) {
    place.iteration = kPerTile;
    if (is_register(place.value)) {
      place.kind = Place::Kind::Variable;
      place.index = variable(role, place.value);
      needed_.insert({role, place.value});
    } else {
      read_per_tile(role, place);
    }
    return place;
  }
  if (is_register(place.value) && role_of(problem_.value(v).producer) == role) {
    place.kind = Place::Kind::Variable;
    place.index = variable(role, place.value);
    if (operand.distance > 0) needed_.insert({role, place.value});
    if (operand.distance > 1)
      refuse(
          "carried_far", {name(op)},
          fmt::format("'{}' reads '{}' of {} iterations ago; registers are carried over one", name(op), operand.value, operand.distance));
    return place;
  }
  place.kind = Place::Kind::Buffer;
  place.index = buffer_of_[place.value];
  const bool kept = place.index != kNone && is_accumulator(place.index) && operand.distance <= 1;
  if (place.index == kNone || (operand.distance > 0 && !kept)) {
    refuse("ring_read_back", {name(op), name(problem_.value(v).producer)},
           fmt::format("'{}' reads '{}' of an earlier iteration through shared memory", name(op), operand.value),
           is_register(place.value) ? std::optional(same_group({name(problem_.value(v).producer), name(op)})) : std::nullopt);
    return place;
  }
  place.cursor = static_cast<std::size_t>(program_.buffers[place.index].depth);
  return place;
}

Engine Builder::engine_of(const Problem& problem, OpId op) {
  const Op& o = problem.op(op);
  if (!o.asynchronous) return Engine::None;
  if (o.kind.starts_with("mma")) return Engine::Mma;
  if (o.kind.starts_with("tma_load") || o.kind.starts_with("gather")) return Engine::Load;
  return Engine::Store;
}

void Builder::lower_loops() {
  const PipelineProgram pipeline = pipeline_program(problem_, schedule_);
  // Barriers first: a reader's line may come before the writer's.
  for (const PipelineGroup& group : pipeline.groups)
    for (const PipelineLine& line : group.lines) make_barriers(line);
  for (std::size_t g = 0; g < pipeline.groups.size(); ++g)
    if (role_of_group_[g] != kNone)
      for (const auto& [line, piece] : put_chains_together(tell_early(free_after_writing(pipeline.groups[g].lines))))
        lower(role_of_group_[g], line, piece);
}

void Builder::begin_boxes() {
  const auto begin = [&](Step& step) {
    if (step.kind != StepKind::Issue || (step.engine != Engine::Load && step.engine != Engine::Store)) return;
    const Place& tile = step.engine == Engine::Load ? step.output : step.inputs.at(0);
    const TileOp& op = op_of(kernel_, step.op);
    step.packed = problem_.layouts && problem_.layouts->packed.contains(op.tensor);
    if (step.packed) return;
    const BoxStart start = box_start(kernel_, problem_.params, program_.trips, program_.cluster, op, kernel_.values[tile.value]);
    step.round_to = start.unit;
    if (!start.refusal.empty()) refuse("tma_alignment", {op.name}, start.refusal);
  };
  for (RoleDraft& draft : drafts_) {
    for (auto* list : {&draft.begin, &draft.loads, &draft.end})
      for (Step& step : *list) begin(step);
    for (LoopStep& loop : draft.loop) begin(loop.step);
  }
}

void Builder::make_barriers(const PipelineLine& line) {
  using Kind = PipelineLine::Kind;
  const std::size_t role = role_of(line.op);
  if (line.kind == Kind::Commit && line.value.valid()) {
    const std::size_t value = value_index(problem_.value(line.value).name), buffer = buffer_of_[value];
    if (full_of_.contains(value) || buffer == kNone) return;
    if (line.hardware)
      add_barrier(true, buffer, value, 1, program_.buffers[buffer].tensor() ? 0 : problem_.value(line.value).bytes);
    else
      add_barrier(true, buffer, value, warps_of(role), 0);
  }
  if (line.kind == Kind::Release) {
    const std::size_t buffer = buffer_of_channel_.at(line.channel.index());
    if (!program_.buffers[buffer].empty) add_barrier(false, buffer, program_.buffers[buffer].values.front(), 0, 0);
    program_.barriers[*program_.buffers[buffer].empty].arrivals += line.hardware ? 1 : warps_of(role);
  }
}

void Builder::lower(std::size_t role, const PipelineLine& line, Piece piece) {
  using Kind = PipelineLine::Kind;
  Step step = base(line.op, line);
  if (line.kind == Kind::Issue) step.piece = piece;
  bool fresh = true;
  // What a tensor core of Blackwell makes lies in tensor memory, and a ring has it.
  const bool signals = line.kind == Kind::Commit && line.hardware && engine_of(problem_, line.op) == Engine::Mma;
  if (signals && line.value.valid() && !full_of_.contains(value_index(problem_.value(line.value).name)))
    return refuse("product_place", {name(line.op)},
                  fmt::format("'{}' makes '{}', which lies in {}: tcgen05 makes its result in tensor memory", name(line.op),
                              problem_.value(line.value).name, to_string(problem_.value(line.value).space)));
  switch (line.kind) {
    case Kind::Wait: {
      const bool kept = line.value.valid() && awaits_accumulator(line);
      if (!kept && (!line.channel.valid() || line.distance > 0)) {
        return refuse(line.distance > 0 ? "ring_read_back" : "order_without_ring", {name(line.other), name(line.op)},
                      fmt::format("'{}' waits for '{}' {}", name(line.op), name(line.other),
                                  line.distance > 0 ? "of an earlier iteration in another role"
                                                    : "in another role, and no ring gives the signal a slot"),
                      same_group({name(line.other), name(line.op)}));
      }
      step.kind = StepKind::Wait;
      step.barrier = full_of_.at(value_index(problem_.value(line.value).name));
      step.cursor = depth_of(program_.barriers[step.barrier].buffer);
      step.ahead = line.distance > 0;
      add(role, line, std::move(step), fresh);
      // In a tile's first iteration the phase before is the tile before's, which has long been over.
      if (kept) drafts_[role].loop.back().first = 0;
      return;
    }
    case Kind::Acquire:
      step.kind = StepKind::Wait;
      step.barrier = *program_.buffers[buffer_of_channel_.at(line.channel.index())].empty;
      step.cursor = depth_of(program_.barriers[step.barrier].buffer);
      step.ahead = true;
      return add(role, line, std::move(step), fresh);
    case Kind::Retire: {
      step.kind = StepKind::Retire;
      step.engine = engine_of(problem_, line.other);
      const bool store = step.engine == Engine::Store;
      add(role, line, step, fresh);
      drafts_[role].loop.back().retires = line.other;
      drafts_[role].loop.back().distance = line.distance;
      if (store) {  // the thread that issued has waited; the others learn of it
        step.kind = StepKind::Sync;
        step.engine = Engine::None;
        add(role, line, step, fresh);
      }
      return;
    }
    case Kind::Issue: return lower_issue(role, line, std::move(step), fresh);
    case Kind::Commit: {
      if (!line.value.valid()) return;
      if (line.hardware && engine_of(problem_, line.op) == Engine::Mma) {
        step.kind = StepKind::Signal;
        step.barrier = full_of_.at(value_index(problem_.value(line.value).name));
        step.cursor = depth_of(program_.barriers[step.barrier].buffer);
        return add(role, line, std::move(step), fresh);
      }
      if (line.hardware) return;
      const std::size_t value = value_index(problem_.value(line.value).name);
      const std::size_t buffer = buffer_of_[value];
      if (buffer == kNone) return;
      if (program_.buffers[buffer].registers) {
        Step put = step;
        put.kind = StepKind::Put;
        put.inputs = {{Place::Kind::Variable, variable(role, value), 0, 0, value, 0}};
        put.output = {Place::Kind::Buffer, buffer, 0, depth_of(buffer), value, 0};
        add(role, line, std::move(put), fresh);
      }
      step.kind = StepKind::Arrive;
      step.barrier = full_of_.at(value);
      step.cursor = depth_of(buffer);
      step.count = warps_of(role);
      return add(role, line, std::move(step), fresh);
    }
    case Kind::Release: {
      const std::size_t buffer = buffer_of_channel_.at(line.channel.index());
      if ((line.hardware && engine_of(problem_, line.op) != Engine::Mma) || line.distance > 0)
        return refuse("ring_read_back", {name(line.op)},
                      fmt::format("'{}' frees '{}' of an earlier iteration", name(line.op), program_.buffers[buffer].name));
      step.kind = line.hardware ? StepKind::Signal : StepKind::Arrive;
      step.barrier = *program_.buffers[buffer].empty;
      step.cursor = depth_of(buffer);
      step.count = line.hardware ? 1 : warps_of(role);
      return add(role, line, std::move(step), fresh);
    }
  }
}

void Builder::lower_issue(std::size_t role, const PipelineLine& line, Step step, bool& fresh) {
  const OpId op = line.op;
  const TileOp& tile_op = body(op);
  step.engine = engine_of(problem_, op);
  step.kind = step.engine == Engine::None ? StepKind::Compute : StepKind::Issue;
  for (const Operand& operand : tile_op.inputs) {
    step.inputs.push_back(place_read(role, op, operand));
    Place& in = step.inputs.back();
    if (in.kind == Place::Kind::Variable && pieces_of_value(in.value) > 1) in.index = variable(role, in.value, step.piece);
  }
  if (tile_op.outputs.size() > 1)
    return refuse("outputs", {tile_op.name}, fmt::format("'{}' defines {} values at once", tile_op.name, tile_op.outputs.size()));
  if (!tile_op.outputs.empty()) {
    const std::size_t value = value_index(tile_op.outputs[0]);
    if (is_register(value)) {
      step.output = {Place::Kind::Variable, variable(role, value, step.piece), 0, 0, value, 0};
    } else if (buffer_of_[value] != kNone) {
      step.output = {Place::Kind::Buffer, buffer_of_[value], 0, depth_of(buffer_of_[value]), value, 0};
    }
    if (step.engine == Engine::Load) {
      if (step.output.kind != Place::Kind::Buffer || !full_of_.contains(value))
        return refuse("load_target", {tile_op.name},
                      fmt::format("'{}' loads a tile that no op waits for, or into registers", tile_op.name));
      step.barrier = full_of_.at(value);
      step.cursor = depth_of(step.output.index);
    }
  }
  const Engine engine = step.engine;
  if (engine == Engine::Mma && program_.blackwell()) {
    check_operands(op, step);
    return add(role, line, std::move(step), fresh);
  }
  if (engine == Engine::Mma) note_mma(role, op, step);
  const bool to_smem = engine == Engine::None && step.output.kind == Place::Kind::Buffer && !program_.buffers[step.output.index].tensor();
  Step next = base(op, line);
  next.engine = engine;
  add(role, line, std::move(step), fresh);
  if (engine == Engine::Mma || engine == Engine::Store) {
    next.kind = StepKind::Commit;
    add(role, line, std::move(next), fresh);
  } else if (to_smem) {
    next.kind = StepKind::Sync;
    add(role, line, std::move(next), fresh);
  }
}

void Builder::note_mma(std::size_t role, OpId product, const Step& step) {
  const TileOp& op = body(product);
  RoleDraft& draft = drafts_[role];
  const auto mark = [&](const Place& p) {
    if (p.kind == Place::Kind::Variable) draft.by_mma[p.index] = true;
  };
  for (const Place& p : step.inputs) mark(p);
  mark(step.output);
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const Place& p = step.inputs[k];
    if (p.kind != Place::Kind::Buffer || !program_.buffers[p.index].registers) continue;
    const std::string& maker = name(problem_.value(body_value_[p.value]).producer);
    refuse("product_hand_over", {maker, op.name},
           fmt::format("'{}' needs '{}' in its own registers, and another role makes it", op.name, op.inputs[k].value),
           same_group({maker, op.name}));
  }
  if (op.inputs.size() < 3) return;
  if (step.inputs[2].kind == Place::Kind::Variable && step.inputs[2].index != step.output.index)
    return refuse("accumulator_place", {op.name},
                  fmt::format("'{}' adds to '{}', which does not lie where its result goes", op.name, op.inputs[2].value));
  if (op.inputs[2].distance > 0) draft.chained[step.output.index] = true;
}

namespace {

BuildResult build_as_is(const Kernel& kernel, const Problem& problem, const Schedule& schedule, std::optional<std::int64_t> trips,
                        const BuildOptions& options, const std::vector<Staging>& stagings) {
  BuildResult built;
  for (const Staging& staging : stagings) {
    BuildResult next = Builder(kernel, problem, schedule, options).run(trips, staging);
    const auto asks = [](const BuildResult& b) { return b.refusals.front().constraint ? b.refusals.front().constraint->high : 0; };
    const bool only_memory = next.refusals.size() == 1 && next.refusals.front().rule == "shared_memory";
    if (next.program || !only_memory) return built.refusals.empty() || next.program ? next : built;
    if (built.refusals.empty() || asks(next) > asks(built)) built = std::move(next);
  }
  return built;
}

/// In its loop.
bool works_in_pieces(const Role& role) {
  return std::any_of(role.sections.begin(), role.sections.end(), [](const Section& section) {
    return std::any_of(section.steps.begin(), section.steps.end(),
                       [](const Step& s) { return s.piece.count > 1 && s.op.list == OpRef::List::Body; });
  });
}

}  // namespace

BuildResult build_program(const Kernel& kernel, const Problem& problem, const Schedule& schedule, std::optional<std::int64_t> trips,
                          const BuildOptions& options) {
  // The roomiest way first: each of the others makes something wait.
  const Staging plain, overlay{.overlay = true}, two{.panels = 2}, one{.panels = 1};
  // Out of tensor memory results come panel by panel anyway.
  const bool tensor = std::any_of(kernel.values.begin(), kernel.values.end(), [](const TileValue& v) { return v.space == Space::Tmem; });
  std::vector<Staging> all = tensor ? std::vector{two, one, overlay} : std::vector{plain, overlay, two, one};
  std::vector<int> at_once;  // found once: deeper rings take no registers
  const auto build_all = [&](const Schedule& of, std::vector<Staging> stagings) {
    const auto build = [&] {
      for (Staging& staging : stagings) staging.pieces_at_once = at_once;
      return build_as_is(kernel, problem, of, trips, options, stagings);
    };
    BuildResult result = build();
    if (!at_once.empty() || !result.program) return result;
    // Each role takes as many pieces at once as its registers hold.
    at_once.assign(result.program->roles.size(), 1);
    for (std::size_t r = 0; r < at_once.size(); ++r) {
      if (!works_in_pieces(result.program->roles[r])) continue;
      for (const int more : {kAllPieces, 2}) {
        at_once[r] = more;
        BuildResult next = build();
        if (next.program) {
          result = std::move(next);
          break;
        }
        at_once[r] = 1;
      }
    }
    return result;
  };
  BuildResult built = build_all(schedule, all);
  if (!built.program || !options.deep_rings) return built;
  const Problem kept = built.program->pair ? of_pair(kernel, problem) : problem;
  Schedule taken = schedule;
  const auto take = [&](const Schedule& deeper, const std::vector<Staging>& stagings) {
    if (deeper.depths == taken.depths || !check(kept, deeper).valid()) return;
    BuildResult next = build_all(deeper, stagings);
    if (!next.program || next.program->smem_bytes > room_of_block(kept, *built.program)) return;
    built = std::move(next);
    taken = deeper;
  };
  // A ring of one slot stands still for every load: for a second one results may lie where the tile's query lay.
  take(with_double_rings(kept, schedule), tensor ? all : std::vector{plain, overlay});
  take(with_deeper_rings(kept, taken, *built.program), all);
  return built;
}

}  // namespace heddle::codegen
