// The last pass: threads, shared memory and register budgets of a program whose roles are done.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "codegen/program/copies.h"
#include "codegen/program/passes.h"
#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

// Registers (PTX ISA, setmaxnreg; probed with ptxas 13.0): a block is launched with the same number for every thread, 65536
// over the threads, rounded down to 8; warpgroups then trade them, so that the sum over warpgroups of their budgets is at
// most entry * warpgroups. Asking for more hangs. Every single instruction must fit the entry number: wgmma m64nNk16 needs
// N/2 + 26 (C7602).

constexpr int kThreadsPerWarpgroup = 128, kWarpsPerWarpgroup = 4;
constexpr int kIssuer = 40;            ///< descriptors and addresses of tcgen05 mmas; probed by compiling
constexpr int kFewestColumns = 32;     ///< of tensor memory, and a power of two (PTX ISA, tcgen05.alloc)
constexpr std::int64_t kAddress = 16;  ///< bytes of shared memory for where tensor memory begins
constexpr int kClusterProducer = 40;   ///< with its place in the cluster and the parts of loads; probed by compiling
constexpr int kCopier = 56;            ///< places of what its threads copy, here and in global memory; probed by compiling
constexpr int kLeastRegisters = 24, kGranule = 8;
/// Of a thread. On Hopper a role's accumulators leave less room for ptxas' own the closer a budget comes to 255; on Blackwell they lie
/// elsewhere.
int most_registers(const Program& program) { return program.blackwell() ? 256 : 240; }

int granules(int registers) { return (registers + kGranule - 1) / kGranule * kGranule; }

/// The hand-over of registers that takes most shared memory, kept in one group.
std::optional<UserConstraint> without_hand_over(const Problem& problem, const Schedule& schedule, const Program& program) {
  const Buffer* most = nullptr;
  for (const Buffer& buffer : program.buffers)
    if (buffer.registers && (!most || buffer.slot_bytes * buffer.depth > most->slot_bytes * most->depth)) most = &buffer;
  constexpr std::int64_t kSmall = 4096;  // statistics of rows
  if (!most || most->slot_bytes <= kSmall) return std::nullopt;
  for (const Channel& channel : problem.channels)
    for (const Reader& reader : channel.readers)
      if (channel.name == most->name && schedule.group(reader.op) != schedule.group(channel.writer))
        return same_group({problem.op(channel.writer).name, problem.op(reader.op).name});
  return std::nullopt;
}

/// Of what the role's ops change at a time: a tile, or a piece of one.
std::int64_t scratch_bytes(const Kernel& kernel, const LayoutPlan& plan, const Role& role) {
  std::int64_t most = 0;
  for (const Section& section : role.sections)
    for (const Step& step : section.steps)
      if (const OpPlan* op = step.kind == StepKind::Compute ? plan.find(op_of(kernel, step.op).name) : nullptr)
        most = std::max(most, op->scratch_bytes / (kernel.values[step.output.value].shape.size() == 2 ? step.piece.count : 1));
  return most;
}

void lay_out_smem(ProgramDraft& draft) {
  const Problem& problem = draft.problem;
  Program& program = draft.program;
  std::int64_t at = 0;
  std::int64_t once = 0, scratch = 0;
  int columns = 0;
  const auto take = [&](std::int64_t bytes) {
    return std::exchange(at, at + (bytes + 1023) / 1024 * 1024);  // tiles of TMA and wgmma begin at multiples of 1024
  };
  for (Buffer& buffer : program.buffers) {
    if (buffer.tensor()) {
      buffer.offset = columns;
      columns += buffer.columns * buffer.depth;
      continue;
    }
    buffer.offset = take(buffer.slot_bytes * buffer.depth);
    if (buffer.per_tile && !buffer.empty) once += buffer.slot_bytes;
  }
  for (Role& role : program.roles) {
    role.scratch_bytes = problem.layouts ? scratch_bytes(draft.kernel, *problem.layouts, role) : 0;
    role.scratch_offset = take(role.scratch_bytes);
    scratch += role.scratch_bytes;
  }
  program.barrier_offset = at;
  for (const Barrier& barrier : program.barriers) at += 8 * program.buffers[barrier.buffer].depth;
  if (columns > 0) {
    program.tensor.emplace();
    program.tensor->columns = kFewestColumns;
    while (program.tensor->columns < columns) program.tensor->columns *= 2;
    at = (at + kAddress - 1) / kAddress * kAddress + kAddress;
  }
  program.smem_bytes = at;
  if (at <= problem.limits.smem_bytes) return;
  const std::int64_t least = at - problem.limits.smem_bytes;
  std::int64_t used = problem.resident_smem;
  // As the demand counts: registers that are handed over are not in it.
  for (const Buffer& buffer : program.buffers)
    if (!buffer.per_tile && !buffer.registers) used += buffer.slot_bytes * buffer.depth;
  const auto together = without_hand_over(problem, draft.schedule, program);
  draft.refusals.push_back(
      refusal("shared_memory", {},
              fmt::format("rings, {} bytes in which results are put together for the store, {}and barriers take {} bytes "
                          "of shared memory; a block has {}",
                          once, scratch > 0 ? fmt::format("{} bytes through which layouts change, ", scratch) : std::string(), at,
                          problem.limits.smem_bytes),
              together.value_or(UserConstraint{"", true, ConstraintKind::MaxSmem, {}, "", 0, std::max<std::int64_t>(used - least, 0)})));
}

/// Which of a block's threads are whose; how many warpgroups they are.
int place_threads(Program& program) {
  int warpgroups = 0, sharing = 0;
  for (Role& role : program.roles) {
    if (program.blackwell() && role.warps == 1 && sharing > 0 && sharing < kWarpsPerWarpgroup) {
      role.first_thread = (warpgroups - 1) * kThreadsPerWarpgroup + sharing++ * kThreadsPerWarpgroup / kWarpsPerWarpgroup;
      role.warpgroups = 0;
      continue;
    }
    role.first_thread = warpgroups * kThreadsPerWarpgroup;
    warpgroups += role.warpgroups;
    sharing = role.warps == 1 ? 1 : 0;
  }
  for (std::size_t r = 0; r < program.roles.size() && program.tensor; ++r)
    if (issues_products(program.roles[r]) && !program.tensor->freed_by) program.tensor->freed_by = r;
  program.threads = warpgroups * kThreadsPerWarpgroup;
  return warpgroups;
}

/// What every thread is launched with, which the largest instruction must fit.
void set_entry_registers(ProgramDraft& draft) {
  Program& program = draft.program;
  program.entry_registers =
      std::min<int>(static_cast<int>(draft.problem.limits.registers_per_sm) / program.threads / kGranule * kGranule, 248);
  for (const TileOp& op : draft.kernel.body) {
    if (op.kind != "mma" || op.outputs.empty() || program.blackwell()) continue;
    const TileValue* d = draft.kernel.find_value(op.outputs[0]);
    const auto columns = d && !d->shape.empty() ? d->shape.back().evaluate(draft.problem.params) : Result<std::int64_t>(std::int64_t{0});
    const std::int64_t needs = (columns.ok() ? *columns : 0) / 2 + 26;
    if (needs > program.entry_registers)
      draft.refusals.push_back(
          refusal("entry_registers", {op.name},
                  fmt::format("one wgmma of '{}' needs {} registers, {} threads start with {} (C7602)", op.name, needs, program.threads,
                              program.entry_registers),
                  UserConstraint{"", true, ConstraintKind::MaxGroups, {}, "", 0, static_cast<std::int64_t>(program.roles.size()) - 1}));
  }
}

/// What is left of the registers goes to those who compute, evenly; on Blackwell beginning with those who have least.
void share_out(Program& program, int pool, int used) {
  const int most_of_thread = most_registers(program);
  std::vector<std::size_t> order(program.roles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (program.blackwell())
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return program.roles[a].registers < program.roles[b].registers; });
  for (bool given = true; given;) {
    given = false;
    for (const std::size_t r : order) {
      Role& role = program.roles[r];
      const int cost = kGranule * role.warpgroups;
      if (role.variables.empty() || role.registers + kGranule > most_of_thread || used + cost > pool) continue;
      role.registers += kGranule;
      used += cost;
      given = true;
    }
  }
}

void give_registers(ProgramDraft& draft, int warpgroups) {
  Program& program = draft.program;
  const int most_of_thread = most_registers(program);
  const int pool = program.entry_registers * warpgroups;
  program.register_overhead = static_cast<int>(draft.problem.limits.register_overhead);
  int used = 0, computing = 0;
  for (Role& role : program.roles) {
    const bool any = !role.variables.empty();
    const int producer = std::max({static_cast<int>(draft.problem.limits.producer_registers), program.cluster > 1 ? kClusterProducer : 0,
                                   program.tensor && issues_products(role) ? kIssuer : 0, copies(role) ? kCopier : 0});
    if (any && role.group.valid()) role.scheduled_registers = draft.schedule.groups[role.group.index()].registers;
    role.peak_registers = any ? live_registers(program, role) + program.register_overhead : producer;
    role.registers = std::max({kLeastRegisters, granules(role.peak_registers), granules(role.scheduled_registers)});
    if (any) computing += role.warpgroups;
  }
  // A warpgroup has one budget.
  for (std::size_t r = 0; r < program.roles.size(); ++r) {
    std::size_t end = r + 1;
    for (; end < program.roles.size() && program.roles[end].warpgroups == 0; ++end)
      program.roles[r].registers = std::max(program.roles[r].registers, program.roles[end].registers);
    for (std::size_t k = r + 1; k < end; ++k) program.roles[k].registers = program.roles[r].registers;
    used += program.roles[r].registers * program.roles[r].warpgroups;
    r = end - 1;
  }
  const auto over = std::find_if(program.roles.begin(), program.roles.end(), [&](const Role& r) { return r.registers > most_of_thread; });
  if (used > pool || over != program.roles.end()) {
    // Waits hold registers longer than the model's latencies do: ask for as much less as is missing.
    const int beyond = over != program.roles.end() ? over->scheduled_registers - (over->registers - most_of_thread) : most_of_thread;
    const int most =
        computing > 0 ? (pool - (used > pool ? kLeastRegisters * (warpgroups - computing) : 0)) / computing / kGranule * kGranule : 0;
    return draft.refusals.push_back(refusal(
        "registers", {},
        over != program.roles.end()
            ? fmt::format("role '{}' needs {} registers per thread; {} can be given", over->name, over->registers, most_of_thread)
            : fmt::format("the roles need {} registers per warpgroup in all, {} threads start with {}", used, program.threads, pool),
        UserConstraint{
            "", true, ConstraintKind::MaxRegisters, {}, "", 0, std::max(std::min({most, beyond, most_of_thread}), kLeastRegisters)}));
  }
  if (warpgroups == 1) {
    for (Role& role : program.roles) role.registers = 0;
    return;
  }
  share_out(program, pool, used);
}

}  // namespace

int live_registers(const Program& program, const Role& role) {
  // Like a trace, but of the finished steps: the middle of a long loop is like its beginning.
  constexpr std::int64_t kEdge = 3;
  struct Version {
    std::size_t from, to;
    int registers;
    bool made;  ///< in what was looked at
  };
  std::vector<Version> versions;
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, std::size_t> number;
  std::vector<std::pair<std::size_t, std::vector<std::size_t>>> flying;  // wgmma groups: versions they touch
  std::vector<std::size_t> open;
  std::vector<int> foreign;
  std::size_t position = 0;
  const auto visit = [&](const Step& step, std::int64_t shift) {
    const auto key = [&](const Place& p) {
      return std::tuple(p.index, p.value, p.iteration <= kPerTile ? p.iteration : p.iteration + shift);
    };
    const auto define = [&](const Place& p, bool made) {
      versions.push_back({position, position, role.variables[p.index].registers, made});
      number[key(p)] = versions.size() - 1;
      return versions.size() - 1;
    };
    foreign.push_back(0);
    for (const Place& p : step.inputs) {
      if (p.kind == Place::Kind::Buffer && program.buffers[p.index].registers)
        foreign.back() += static_cast<int>(program.buffers[p.index].slot_bytes / (4 * 32 * role.warps));
      if (p.kind != Place::Kind::Variable) continue;
      const auto it = number.find(key(p));
      const std::size_t v = it != number.end() ? it->second : define(p, false);
      versions[v].to = position;
      if (step.engine == Engine::Mma) open.push_back(v);
    }
    if (step.output.kind == Place::Kind::Variable) {
      const std::size_t v = define(step.output, true);
      // A chain of wgmmas keeps its place: the old sum dies where the new one is born.
      if (step.engine == Engine::Mma) {
        open.push_back(v);
        if (step.inputs.size() > 2)
          if (const auto it = number.find(key(step.inputs[2])); it != number.end()) {
            std::erase(open, it->second);
            for (auto& [committed, group] : flying) std::erase(group, it->second);
          }
      }
    }
    if (step.engine == Engine::Mma && step.kind == StepKind::Commit) flying.emplace_back(position, std::exchange(open, {}));
    if (step.engine == Engine::Mma && step.kind == StepKind::Retire)
      while (flying.size() > static_cast<std::size_t>(step.keep)) {
        for (const std::size_t v : flying.front().second) versions[v].to = std::max(versions[v].to, position);
        flying.erase(flying.begin());
      }
    ++position;
  };
  for (const Section& section : role.sections)
    for (std::int64_t pass = 0; pass < section.times; ++pass) {
      if (pass == kEdge && section.times > 2 * kEdge) {
        pass = section.times - kEdge;
        flying.clear();  // nothing that is read from here on
      }
      for (const Step& step : section.steps) visit(step, pass * section.unroll);
    }
  std::vector<int> change(position + 1, 0);
  for (const Version& v : versions) {
    change[v.from] += v.registers;
    change[std::max(v.to, v.from + (v.made ? 1 : 0))] -= v.registers;  // in place: the reader's result may take over
  }
  int now = 0, peak = 0;
  for (std::size_t p = 0; p < position; ++p) {
    now += change[p];
    peak = std::max(peak, now + foreign[p]);
  }
  return peak;
}

void lay_out(ProgramDraft& draft) {
  const Problem& problem = draft.problem;
  Program& program = draft.program;
  lay_out_smem(draft);
  if (program.tensor && program.tensor->columns > problem.limits.tmem_columns)
    draft.refusals.push_back(refusal("tensor_columns", {},
                                     fmt::format("tiles in tensor memory take {} columns, allocated as a power of two; there are {}",
                                                 program.tensor->columns, problem.limits.tmem_columns),
                                     UserConstraint{"", true, ConstraintKind::MaxTmem, {}, "", 0, problem.limits.tmem_columns}));
  const int warpgroups = place_threads(program);
  if (program.threads > 1024 || program.threads > 32 * problem.limits.warps_per_cta) {
    draft.refusals.push_back(refusal("threads", {}, fmt::format("{} warpgroups are more than a block of 1024 threads has", warpgroups),
                                     UserConstraint{"", true, ConstraintKind::MaxWarps, {}, "", 0, 29}));
    return;
  }
  set_entry_registers(draft);
  give_registers(draft, warpgroups);
}

}  // namespace heddle::codegen
