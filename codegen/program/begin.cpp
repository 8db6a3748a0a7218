// The first pass: what the kernel is made of, whether it can be written at all, and its buffers and roles, still without steps.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "codegen/program/accumulators.h"
#include "codegen/program/cluster.h"
#include "codegen/program/passes.h"
#include "codegen/program/run_time_sizes.h"
#include "core/check/checker.h"
#include "core/layout/plan.h"
#include "core/problem/fault_log.h"
#include "core/problem/storage.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kMostTrips = 1'000'000;

/// A wgmma has 64 rows; lanes of tensor memory, and threads of a warpgroup, are 128.
constexpr std::int64_t kRowsOfWgmma = 64, kRowsOfTensorMemory = 128;

/// Refuses the first tile in registers with more rows than a warpgroup holds, where its layout is not known otherwise; with the cut that
/// makes it fit, if its rows are a parameter and a multiple of what a warpgroup holds. False: all fit.
bool refuse_wide_tile(ProgramDraft& draft) {
  const std::int64_t most = draft.program.blackwell() ? kRowsOfTensorMemory : kRowsOfWgmma;
  const Kernel& kernel = draft.kernel;
  if (std::none_of(kernel.body.begin(), kernel.body.end(), [](const TileOp& op) { return op.kind == "mma"; })) return false;
  for (const TileValue& value : kernel.values) {
    if (value.space != Space::Register || value.shape.size() != 2) continue;
    const auto rows = value.shape[0].evaluate(draft.problem.params);
    const auto index = static_cast<std::size_t>(&value - kernel.values.data());
    if (!rows.ok() || *rows <= most || (draft.problem.layouts && draft.problem.layouts->values[index].layout)) continue;
    std::string text = fmt::format("'{}' has {} rows in registers; a warpgroup holds {}", value.name, *rows, most);
    std::optional<Subtile> cut;
    if (const auto names = value.shape[0].names(); names.size() == 1 && *rows % most == 0) {
      cut = Subtile{names[0], *rows / most};
      text += fmt::format(": cut {} into {} parts", cut->param, cut->factor);
    }
    draft.refuse("tile_rows", {}, std::move(text));
    draft.refusals.back().cut = std::move(cut);
    return true;
  }
  return false;
}

/// Which parameters are sizes at run time. False: none is.
bool take_sizes(ProgramDraft& draft) {
  draft.program.sizes = run_time_names(draft.kernel);
  if (!draft.program.sizes.empty()) return true;
  std::string why;
  for (const RunTimeParam& param : run_time_params(draft.kernel))
    why += fmt::format("{}{}: {}", why.empty() ? ": " : "; ", param.name, param.fixed_by);
  draft.refuse("run_time_sizes", {}, "no parameter is a size that could be given at run time" + why);
  return false;
}

bool prepare(ProgramDraft& draft, std::optional<std::int64_t> trips) {
  draft.program.kernel = draft.kernel.name;
  draft.program.arch = draft.problem.arch;
  draft.program.params = draft.problem.params;
  draft.program.stages = stage_count(draft.schedule);
  for (std::size_t i = 0; i < draft.kernel.values.size(); ++i) draft.value_number.emplace(draft.kernel.values[i].name, i);
  draft.body_value.assign(draft.kernel.values.size(), ValueId{});
  for (std::size_t v = 0; v < draft.problem.values.size(); ++v)
    draft.body_value[draft.value_index(draft.problem.values[v].name)] = ValueId(v);
  for (const TileOp& op : draft.kernel.body)
    if (op.kind == "opaque") {
      draft.refuse("numbers_only", {op.name}, "this graph has numbers only: it can be scheduled but not written as a kernel");
      return false;
    }
  for (const TileValue& value : draft.kernel.values)
    if (value.space == Space::Tmem && !draft.program.blackwell()) {
      draft.refuse("tensor_memory", {}, fmt::format("'{}' lies in tensor memory, which this machine does not have", value.name));
      return false;
    }
  if (!draft.kernel.producer) {
    draft.refuse("producer", {}, "its loads have no warp group of their own; only kernels with a producer group can be written");
    return false;
  }
  FaultLog faults;
  for (const TileValue& value : draft.kernel.values) draft.tiles.push_back(measure(value, draft.problem.params, {}, faults));
  if (refuse_wide_tile(draft)) return false;
  if (draft.options.run_time_sizes && trips) {
    draft.refuse("run_time_sizes", {},
                 fmt::format("{} trips are asked for, and with sizes at run time a text has as many as they need", *trips));
    return false;
  }
  if (draft.options.run_time_sizes && !take_sizes(draft)) return false;
  const auto own = draft.kernel.loop.trips.evaluate(draft.problem.params);
  draft.program.trips = draft.options.run_time_sizes ? kTripsAsWritten : trips.value_or(own.ok() ? *own : 0);
  if (!faults.empty() || draft.program.trips < 1 || draft.program.trips > kMostTrips) {
    draft.refuse("trips", {}, fmt::format("the loop runs {} times; 1 to {} can be written", draft.program.trips, kMostTrips));
    return false;
  }
  const bool pair = draft.program.blackwell() && draft.options.cluster == 2;
  if (const Verdict verdict = check(pair ? of_pair(draft.kernel, draft.problem) : draft.problem, draft.schedule); !verdict.valid()) {
    draft.refuse("illegal_schedule", {}, fmt::format("the schedule breaks a rule: {}", verdict.violations.front().message));
    return false;
  }
  return true;
}

void make_buffers(ProgramDraft& draft) {
  draft.buffer_of.assign(draft.kernel.values.size(), kNone);
  for (std::size_t c = 0; c < draft.problem.channels.size(); ++c) {
    const Channel& channel = draft.problem.channels[c];
    if (draft.schedule.depths[c] == 0) continue;
    Buffer buffer;
    buffer.name = channel.name;
    buffer.depth = draft.schedule.depths[c];
    buffer.registers = channel.only_if_crossing;
    if (channel.space == Space::Tmem)
      buffer.columns = static_cast<int>(channel.size);
    else
      buffer.slot_bytes = round_up(channel.size, 1024);
    if (buffer.registers) {
      const Op& writer = draft.problem.op(channel.writer);
      for (const Reader& reader : channel.readers)
        if (draft.problem.op(reader.op).warps != writer.warps && draft.schedule.group(reader.op) != draft.schedule.group(channel.writer))
          draft.refuse("hand_over_shape", {writer.name, draft.problem.op(reader.op).name},
                       fmt::format("'{}' passes from {} warps to {}; registers are handed over thread by thread", channel.name,
                                   writer.warps, draft.problem.op(reader.op).warps),
                       same_group({writer.name, draft.problem.op(reader.op).name}));
      buffer.slot_bytes = std::int64_t{4} * draft.problem.value(channel.values.front()).registers * writer.warps * kThreadsPerWarp;
    }
    for (const ValueId v : channel.values) {
      buffer.values.push_back(draft.value_index(draft.problem.value(v).name));
      draft.buffer_of[buffer.values.back()] = draft.program.buffers.size();
    }
    draft.buffer_of_channel[c] = draft.program.buffers.size();
    draft.program.buffers.push_back(std::move(buffer));
  }
  keep_accumulators(draft);
  for (std::size_t i = 0; i < draft.kernel.values.size(); ++i)
    if (!draft.kernel.values[i].alias_at.is_zero() && draft.kernel.values[i].space != Space::Tmem)
      draft.refuse("shared_part", {},
                   fmt::format("'{}' shares a part of the storage of '{}'; only whole tiles can be written", draft.kernel.values[i].name,
                               draft.kernel.values[i].alias_of));
    else if (draft.body_value[i].valid() && draft.kernel.values[i].space == Space::Smem && draft.buffer_of[i] == kNone)
      draft.refuse("written_resident", {},
                   fmt::format("'{}' is rewritten in place in shared memory; only rings can be written", draft.kernel.values[i].name));
}

void make_roles(ProgramDraft& draft) {
  draft.role_of_group.assign(draft.schedule.groups.size(), kNone);
  std::vector<std::size_t> order(draft.schedule.groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Roles of one warp stand together where they share a warpgroup.
  if (draft.program.blackwell())
    std::stable_partition(order.begin(), order.end(), [&](std::size_t g) { return draft.schedule.groups[g].warps <= 1; });
  for (const std::size_t g : order) {
    const ScheduleGroup& group = draft.schedule.groups[g];
    if (group.warps == 0) continue;
    draft.role_of_group[g] = draft.roles.size();
    RoleDraft& role_draft = draft.roles.emplace_back();
    role_draft.role.name = role_name(draft.schedule, g);
    role_draft.role.group = GroupId(g);
    role_draft.role.warps = group.warps;
    role_draft.role.warpgroups = (group.warps + 3) / 4;
  }
  draft.variable_of.resize(draft.roles.size());
  for (auto& list : draft.variable_of) list.assign(draft.kernel.values.size(), kNone);
}

}  // namespace

void begin_program(ProgramDraft& draft, std::optional<std::int64_t> trips) {
  if (!prepare(draft, trips)) return;
  make_buffers(draft);
  make_roles(draft);
}

}  // namespace heddle::codegen
