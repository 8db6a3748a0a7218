// Families decided by groups and depths: variable latency, warps, registers, memory, depth, credit.
#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/analysis/registers.h"
#include "core/analysis/usage_curve.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/check/families.h"

namespace heddle {

int groups_in_use(const Schedule& schedule) {
  std::vector<bool> used(schedule.groups.size(), false);
  for (const Placement& p : schedule.ops) used[p.group.index()] = true;
  int count = 0;
  for (bool u : used) count += u;
  return count;
}

void check_group_count(const Case& c) {
  const int used = groups_in_use(c.schedule), most = c.problem.max_groups;
  if (used > most)
    c.found.push_back({"form", fmt::format("{} warp groups are used, at most {} are allowed", used, most), {}, -1, used, most});
}

void check_variable_latency(const Case& c) {
  if (!c.problem.has_producer_group()) return;
  for (std::size_t v = 0; v < c.problem.ops.size(); ++v) {
    const Op& op = c.problem.ops[v];
    const GroupId group = c.schedule.ops[v].group;
    if (op.variable_latency == (group.index() == 0)) continue;
    c.found.push_back({"variable",
                       op.variable_latency ? fmt::format("{} has variable latency and is in {} instead of the producer, group 0", op.name,
                                                         c.group_name(group))
                                           : fmt::format("{} has fixed latency and is in the producer group", op.name),
                       {OpId(v)},
                       -1,
                       static_cast<std::int64_t>(group.index()),
                       0});
  }
}

void check_warps(const Case& c) {
  struct Need {
    int warps = 0;
    bool aligned = false;
    OpId widest;
  };
  std::vector<Need> needs(c.schedule.groups.size());
  for (std::size_t v = 0; v < c.problem.ops.size(); ++v) {
    Need& need = needs[c.schedule.ops[v].group.index()];
    const Op& op = c.problem.ops[v];
    if (!need.widest.valid() || op.warps > need.warps) need.widest = OpId(v);
    need.warps = std::max(need.warps, op.warps);
    need.aligned |= op.aligned;
  }
  std::int64_t total = 0;
  for (std::size_t g = 0; g < needs.size(); ++g) {
    const int found = c.schedule.groups[g].warps;
    const std::int64_t wanted = needs[g].aligned ? ceil_div(needs[g].warps, 4) * 4 : needs[g].warps;
    total += found;
    if (found == wanted) continue;
    std::string why = "it holds no op";
    std::vector<OpId> ops;
    if (needs[g].widest.valid()) {
      ops = {needs[g].widest};
      why = fmt::format("its widest op {} needs {}{}", c.name(needs[g].widest), needs[g].warps,
                        needs[g].aligned ? " and a multiple of 4 is due" : "");
    }
    c.found.push_back(
        {"warps", fmt::format("{} has {} warps instead of {}: {}", c.group_name(GroupId(g)), found, wanted, why), ops, -1, found, wanted});
  }
  if (total > c.problem.limits.warps_per_cta)
    c.found.push_back({"warps",
                       fmt::format("the groups have {} warps together, a CTA has at most {}", total, c.problem.limits.warps_per_cta),
                       {},
                       -1,
                       total,
                       c.problem.limits.warps_per_cta});
}

std::int64_t budget_of_group(const Problem& problem, const Schedule& schedule, std::size_t group, std::int64_t use) {
  const int decided = schedule.groups[group].registers;
  return decided > 0 ? decided : register_budget(problem.limits, use);
}

void check_registers(const Case& c) {
  const Limits& limits = c.problem.limits;
  const auto uses = register_use(c.problem, c.schedule);
  std::int64_t total = 0;
  for (std::size_t g = 0; g < uses.size(); ++g) {
    const std::int64_t budget = budget_of_group(c.problem, c.schedule, g, uses[g].peak);
    const auto object = [&](std::string message, std::int64_t amount, std::int64_t limit) {
      Violation v{"registers", std::move(message), {}, -1, amount, limit};
      if (uses[g].at.valid()) {
        v.ops = {uses[g].at};
        v.slot = c.schedule.slot(uses[g].at);
      }
      c.found.push_back(std::move(v));
    };
    const std::string name = c.group_name(GroupId(g));
    if (uses[g].peak > budget)
      object(uses[g].at.valid() ? fmt::format("{} needs {} registers per thread at the start of {} (slot {}), its budget is {}", name,
                                              uses[g].peak, c.name(uses[g].at), c.schedule.slot(uses[g].at), budget)
                                : fmt::format("{} needs {} registers per thread, its budget is {}", name, uses[g].peak, budget),
             uses[g].peak, budget);
    if (budget % std::max<std::int64_t>(1, limits.register_granule) != 0)
      object(fmt::format("{} has a budget of {} registers, not a multiple of {}", name, budget, limits.register_granule), budget,
             limits.register_granule);
    if (budget > limits.registers_per_thread)
      object(fmt::format("{} needs {} registers per thread{}, the machine has {}", name, budget,
                         uses[g].at.valid() ? fmt::format(" (peak {} at the start of {}, slot {})", uses[g].peak, c.name(uses[g].at),
                                                          c.schedule.slot(uses[g].at))
                                            : "",
                         limits.registers_per_thread),
             budget, limits.registers_per_thread);
    total = sat_add(total, sat_mul(budget, sat_mul(c.schedule.groups[g].warps, limits.threads_per_warp)));
  }
  if (total > limits.registers_per_sm)
    c.found.push_back({"registers",
                       fmt::format("the groups take {} registers together, the register file has {}", total, limits.registers_per_sm),
                       {},
                       -1,
                       total,
                       limits.registers_per_sm});
}

void check_memory(const Case& c) {
  const std::int64_t smem = allocated(c.problem, c.schedule, Space::Smem);
  if (smem > c.problem.limits.smem_bytes)
    c.found.push_back(
        {"memory",
         fmt::format("channels and resident tiles take {} bytes of shared memory, {} are usable", smem, c.problem.limits.smem_bytes),
         {},
         -1,
         smem,
         c.problem.limits.smem_bytes});
  const std::int64_t columns = allocated(c.problem, c.schedule, Space::Tmem), rounded = rounded_columns(columns);
  if (rounded > c.problem.limits.tmem_columns)
    c.found.push_back(
        {"memory",
         fmt::format("tensor memory: {} columns are allocated as {}, the machine has {}", columns, rounded, c.problem.limits.tmem_columns),
         {},
         -1,
         rounded,
         c.problem.limits.tmem_columns});
}

void check_channels(const Case& c) {
  for (std::size_t i = 0; i < c.problem.channels.size(); ++i) {
    const Channel& channel = c.problem.channels[i];
    const std::int64_t depth = c.schedule.depths[i];
    const auto object = [&](const char* family, std::string message, std::vector<OpId> ops, std::int64_t limit) {
      c.found.push_back({family, std::move(message), std::move(ops), -1, depth, limit});
    };
    if (!channel_exists(channel, c.schedule)) {
      if (depth != 0)
        object("depth", fmt::format("channel {} has depth {}, but no other group reads it: 0 is due", channel.name, depth),
               {channel.writer}, 0);
      continue;
    }
    if (depth < 1) {
      object("depth", fmt::format("channel {} has no slots, at least 1 is needed", channel.name), {channel.writer}, 1);
      continue;
    }
    if (depth > channel.max_depth)
      object("depth", fmt::format("channel {} has {} slots, at most {} are allowed", channel.name, depth, channel.max_depth),
             {channel.writer}, channel.max_depth);
    const Cycle write = c.schedule.start(channel.writer);
    const Cycle refill = sat_add(write, sat_mul(depth, c.schedule.ii));
    for (const Reader& r : channel.readers) {
      if (!reader_counts(channel, r, c.schedule)) continue;
      const Cycle end = read_end(r, c.schedule);
      const Cycle signal = c.same_group(r.op, channel.writer) ? 0 : r.signal;
      if (refill < end) {
        const Cycle copies = ceil_div(end - write, c.schedule.ii);
        object("depth",
               fmt::format("channel {} has {}, but {} copies are alive at once between {} (cycle {}) and the end "
                           "of {} (cycle {})",
                           channel.name, count_of(depth, "slot"), copies, c.name(channel.writer), write, c.name(r.op), end),
               {channel.writer, r.op}, copies);
      } else if (refill < sat_add(end, signal)) {
        c.found.push_back(
            {"credit",
             fmt::format("channel {}: {} refills a slot at {}, but {} releases it only at {} (read ends {} + "
                         "signal {}; depth {})",
                         channel.name, c.name(channel.writer), refill, c.name(r.op), sat_add(end, signal), end, signal, depth),
             {channel.writer, r.op},
             c.schedule.slot(channel.writer),
             refill,
             sat_add(end, signal)});
      }
    }
  }
}

}  // namespace heddle
