#include "codegen/program/accumulators.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/program/staging.h"

namespace heddle::codegen {
namespace {

/// Whose storage a value is.
const TileValue& root_of(const Kernel& kernel, const TileValue& value) {
  const TileValue* at = &value;
  while (!at->alias_of.empty())
    if (const TileValue* next = kernel.find_value(at->alias_of)) at = next;
  return *at;
}

bool is_zero_fill(const TileOp& op) {
  if (!op.attrs.contains("value")) return true;
  const auto* text = op.attr<std::string>("value");
  const auto* whole = op.attr<std::int64_t>("value");
  return text ? *text == "0" || *text == "0.0" : whole && *whole == 0;
}

/// Role that touches the buffer first in a tile.
std::size_t first_writer(const ProgramDraft& draft, std::size_t buffer) {
  std::size_t role = kNone;
  for (const auto& [filled, by] : draft.fills)
    if (filled == buffer) return by;
  for (const std::size_t value : draft.program.buffers[buffer].values) {
    const OpId producer = draft.problem.value(draft.body_value[value]).producer;
    if (draft.engine_of(producer) == Engine::Mma) role = draft.role_of(producer);
  }
  return role;
}

}  // namespace

void keep_accumulators(ProgramDraft& draft) {
  std::map<std::string, std::size_t> buffers;  // root -> buffer
  std::int64_t columns = 0;
  for (const Buffer& buffer : draft.program.buffers) columns += std::int64_t{buffer.columns} * buffer.depth;
  for (std::size_t i = 0; i < draft.kernel.values.size(); ++i) {
    const TileValue& value = draft.kernel.values[i];
    if (value.space != Space::Tmem || !draft.body_value[i].valid() || draft.buffer_of[i] != kNone) continue;
    const TileValue& root = root_of(draft.kernel, value);
    const auto [known, fresh] = buffers.try_emplace(root.name, draft.program.buffers.size());
    if (fresh) {
      Buffer buffer;
      buffer.name = root.name;
      buffer.columns = columns_of(draft.kernel, draft.problem.params, draft.value_index(root.name)).count;
      buffer.per_tile = true;
      columns += buffer.columns;
      draft.program.buffers.push_back(std::move(buffer));
    }
    draft.buffer_of[i] = known->second;
    draft.program.buffers[known->second].values.push_back(i);
  }
  // Where only mmas touch an accumulator in the loop, the next tile's may begin while the epilogue reads this one's.
  for (const auto& [name, b] : buffers) {
    Buffer& buffer = draft.program.buffers[b];
    const auto in_it = [&, &held = b](const std::string& value) { return draft.buffer_of[draft.value_index(value)] == held; };
    const bool products_only = std::none_of(draft.kernel.body.begin(), draft.kernel.body.end(), [&](const TileOp& op) {
      return op.kind != "mma" && (std::any_of(op.outputs.begin(), op.outputs.end(), in_it) ||
                                  std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in_it(in.value); }));
    });
    if (!products_only || columns + buffer.columns > draft.problem.limits.tmem_columns) continue;
    buffer.depth = 2;
    columns += buffer.columns;
  }
}

bool awaits_accumulator(const ProgramDraft& draft, const PipelineLine& line) {
  const std::size_t buffer = draft.buffer_of[draft.value_index(draft.problem.value(line.value).name)];
  return buffer != kNone && draft.is_accumulator(buffer) && line.distance <= 1;
}

void check_operands(ProgramDraft& draft, OpId product, const Step& step) {
  const TileOp& op = draft.body(product);
  const auto in_buffer = [&](const Place& p) { return p.kind == Place::Kind::Buffer && !draft.program.buffers[p.index].registers; };
  if (!in_buffer(step.output) || !draft.program.buffers[step.output.index].tensor())
    return draft.refuse("product_place", {op.name},
                        fmt::format("'{}' leaves its result in registers; tcgen05 needs it in tensor memory", op.name));
  if (!in_buffer(step.inputs.at(0)) || !in_buffer(step.inputs.at(1)) || draft.program.buffers[step.inputs[1].index].tensor())
    return draft.refuse(
        "product_place", {op.name},
        fmt::format("'{}' takes an operand from registers, or its second one from tensor memory; tcgen05 takes the first from shared "
                    "or tensor memory and the second from shared memory",
                    op.name));
  if (step.inputs.size() > 2 && (step.inputs[2].kind != Place::Kind::Buffer || step.inputs[2].index != step.output.index))
    draft.refuse("accumulator_place", {op.name},
                 fmt::format("'{}' adds to '{}', which does not lie where its result goes", op.name, op.inputs[2].value));
}

void note_rewritten(ProgramDraft& draft) {
  for (const Channel& channel : draft.problem.channels) {
    if (channel.space != Space::Tmem) continue;
    for (std::size_t k = 1; k < channel.values.size(); ++k)
      for (std::size_t r = 0; r < draft.roles.size(); ++r)
        if (draft.role_of(draft.problem.value(channel.values[k]).producer) != r)
          draft.roles[r].rewritten.insert(draft.buffer_of[draft.value_index(draft.problem.value(channel.values[k]).name)]);
  }
}

void fill_accumulator(ProgramDraft& draft, std::size_t index) {
  const TileOp& op = draft.kernel.prologue[index];
  const std::size_t value = draft.value_index(op.outputs[0]), buffer = draft.buffer_of[value];
  if (op.kind != "fill" || buffer == kNone)
    return draft.refuse("prologue_kind", {op.name},
                        fmt::format("'{}' fills tensor memory before the loop; only fill does so here", op.name));
  std::size_t role = kNone;
  for (std::size_t k = 0; k < draft.kernel.body.size(); ++k)
    for (const Operand& in : draft.kernel.body[k].inputs) {
      if (in.distance == 0 || draft.value_index(in.value) != value || draft.kernel.body[k].kind == "mma") continue;
      if (role != kNone && role != draft.role_of(OpId(k)))
        draft.refuse("prologue_kind", {op.name}, fmt::format("two roles read what '{}' fills in tensor memory before the loop", op.name));
      role = draft.role_of(OpId(k));
    }
  // The first mma of a tile does not add where the sum begins with zero.
  if (role == kNone) {
    if (!is_zero_fill(op))
      draft.refuse("prologue_kind", {op.name}, fmt::format("'{}' fills an accumulator with something else than zero", op.name));
    return;
  }
  draft.fills.emplace_back(buffer, role);
  Step step = tile_step(StepKind::Compute, {OpRef::List::Prologue, index});
  step.output = {Place::Kind::Buffer, buffer, 0, draft.depth_of(buffer), value, -1};
  draft.roles[role].begin.push_back(std::move(step));
}

std::vector<std::size_t> roles_for_tiles(const ProgramDraft& draft) {
  // Ops that hand registers to each other are done by one role: that of what they take from the loop.
  std::vector<std::size_t> role(draft.kernel.epilogue.size(), kNone);
  std::map<std::string, std::size_t> maker;
  for (bool changed = true; changed;) {
    changed = false;
    maker.clear();
    for (std::size_t i = 0; i < draft.kernel.epilogue.size(); ++i) {
      const TileOp& op = draft.kernel.epilogue[i];
      const auto take = [&](std::size_t from) {
        if (role[i] == kNone && from != kNone) role[i] = from, changed = true;
      };
      for (const Operand& in : op.inputs) {
        const std::size_t value = draft.value_index(in.value);
        if (const auto own = maker.find(in.value); own != maker.end() && in.distance == 0) {
          take(role[own->second]);
          if (role[own->second] == kNone && role[i] != kNone) role[own->second] = role[i], changed = true;
        } else if (draft.is_register(value) && draft.body_value[value].valid()) {
          take(draft.role_of(draft.problem.value(draft.body_value[value]).producer));
        }
      }
      for (const std::string& out : op.outputs) maker[out] = i;
    }
  }
  return role;
}

std::size_t role_for_accumulator(ProgramDraft& draft, std::size_t value) {
  const std::size_t issuer = draft.role_of(draft.problem.value(draft.body_value[value]).producer);
  for (std::size_t r = 0; r < draft.roles.size() && draft.staging.overlay; ++r)
    if (draft.warps_of(r) == 4 && !tiles_to_overlay(draft, r).empty()) return r;
  if (draft.warps_of(issuer) == 4) return issuer;
  for (std::size_t r = draft.roles.size(); r-- > 0;)
    if (draft.warps_of(r) == 4) return r;
  // None of the schedule's groups has threads for it.
  RoleDraft& role_draft = draft.roles.emplace_back();
  role_draft.role.name = "epilogue";
  role_draft.role.warps = 4;
  role_draft.role.warpgroups = 1;
  draft.variable_of.emplace_back(draft.kernel.values.size(), kNone);
  return draft.roles.size() - 1;
}

void hand_over_accumulators(ProgramDraft& draft) {
  for (std::size_t b = 0; b < draft.program.buffers.size(); ++b) {
    if (!draft.is_accumulator(b)) continue;
    std::set<std::size_t> readers;
    std::set<std::size_t> values;
    for (std::size_t i = 0; i < draft.kernel.epilogue.size(); ++i)
      for (const Operand& in : draft.kernel.epilogue[i].inputs)
        if (draft.buffer_of[draft.value_index(in.value)] == b)
          readers.insert(draft.epilogue.role[i]), values.insert(draft.value_index(in.value));
    if (readers.empty()) continue;
    for (const std::size_t value : values) {
      const OpId producer = draft.problem.value(draft.body_value[value]).producer;
      if (draft.engine_of(producer) != Engine::Mma) {
        draft.refuse(
            "epilogue_reads_ring", {draft.name(producer)},
            fmt::format("'{}', which threads write, is read out of tensor memory after the loop", draft.kernel.values[value].name));
        continue;
      }
      draft.program.barriers.push_back({true, b, value, 1, 0, true});
      draft.tile_full[value] = draft.program.barriers.size() - 1;
      Step done = on_barrier(StepKind::Signal, {OpRef::List::Body, producer.index()}, draft.tile_full[value]);
      done.cursor = draft.depth_of(b);
      draft.roles[draft.role_of(producer)].end.push_back(std::move(done));
    }
    const std::size_t first = first_writer(draft, b);
    if (readers.size() == 1 && *readers.begin() == first && draft.program.buffers[b].depth == 1) continue;
    int warps = 0;
    for (const std::size_t r : readers) warps += draft.warps_of(r);
    draft.program.barriers.push_back({false, b, draft.program.buffers[b].values.front(), warps, 0, true});
    draft.program.buffers[b].empty = draft.program.barriers.size() - 1;
    Step free = on_barrier(StepKind::Wait, {OpRef::List::Body, draft.problem.value(draft.body_value[*values.begin()]).producer.index()},
                           draft.program.barriers.size() - 1);
    free.cursor = draft.depth_of(b);
    free.ahead = true;
    auto& begin = draft.roles[first].begin;
    begin.insert(begin.begin(), std::move(free));
  }
}

}  // namespace heddle::codegen
