#include "core/simulate/kernel_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/analysis/channels.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/simulate/supply.h"
#include "core/simulate/tile_grid.h"

namespace heddle {
namespace {

/// Longest latencies over the edges of one iteration: until an op can start, and from its start to the end of all that follows.
struct Paths {
  std::vector<Cycle> before, after;
};

Paths longest_paths(const Problem& problem) {
  const std::size_t n = problem.ops.size();
  Paths paths{std::vector<Cycle>(n, 0), std::vector<Cycle>(n, 0)};
  for (std::size_t v = 0; v < n; ++v) paths.after[v] = std::max(problem.ops[v].latency, problem.ops[v].window);
  // Edges within one iteration have no cycle, so that n rounds settle everything.
  for (std::size_t round = 0; round < n; ++round) {
    bool moved = false;
    for (const Edge& e : problem.edges) {
      if (e.distance != 0) continue;
      const std::size_t u = e.from.index(), v = e.to.index();
      if (paths.before[u] + e.latency > paths.before[v]) paths.before[v] = paths.before[u] + e.latency, moved = true;
      if (paths.after[v] + e.latency > paths.after[u]) paths.after[u] = paths.after[v] + e.latency, moved = true;
    }
    if (!moved) break;
  }
  return paths;
}

/// The whole of a / b rounded up, of products that need not fit 64 bits.
Cycle ceil_ratio(std::int64_t a, std::int64_t b, std::int64_t divisor) {
  const __int128 quotient = (static_cast<__int128>(a) * b + divisor - 1) / divisor;
  return quotient > kSaturated ? kSaturated : static_cast<Cycle>(quotient);
}

}  // namespace

int most_ctas(const Problem& problem) {
  const Limits& limits = problem.limits;
  std::int64_t smem = problem.resident_smem, columns = problem.resident_columns;
  for (const Channel& channel : problem.channels) {
    if (channel.only_if_crossing) continue;
    (channel.space == Space::Smem ? smem : columns) += channel.size;
  }
  // The producer group is one of its own; the other ops may share one that is as wide as the widest.
  std::int64_t producer = 0, others = 0, touching = 0;
  for (const Op& op : problem.ops) {
    std::int64_t& group = problem.has_producer_group() && op.variable_latency ? producer : others;
    group = std::max<std::int64_t>(group, op.aligned ? 4 * ceil_div(op.warps, 4) : op.warps);
  }
  // Loop-carried register values are all alive where an iteration ends, each in the threads of its producer.
  std::int64_t carried = 0;
  std::set<std::int32_t> seen;
  for (const Edge& e : problem.edges) {
    if (!e.value.valid() || e.distance < 1) continue;
    const Value& value = problem.value(e.value);
    const std::int64_t warps = problem.op(value.producer).warps;
    if (value.space != Space::Register || !seen.insert(static_cast<std::int32_t>(e.value.index())).second) continue;
    carried += warps * limits.threads_per_warp * value.registers;
    touching = std::max(touching, warps);
  }
  const std::int64_t registers = carried + touching * limits.threads_per_warp * (limits.register_overhead + problem.resident_registers) +
                                 producer * limits.threads_per_warp * limits.producer_registers;
  std::int64_t least = kCtasPerSm;
  const auto limit = [&](std::int64_t whole, std::int64_t part) {
    if (part > 0 && whole > 0) least = std::min(least, whole / part);
  };
  limit(limits.smem_bytes, smem);
  limit(limits.registers_per_sm, registers);
  limit(kWarpsPerSm, producer + others);
  limit(limits.tmem_columns, rounded_columns(columns));
  return static_cast<int>(std::max<std::int64_t>(1, least));
}

KernelBound kernel_bound(const Instance& instance, const Bounds& bounds, const KernelRunOptions& options) {
  const Machine& machine = instance.machine();
  const Problem& problem = instance.problem();
  const TileGrid grid = tile_grid(instance.kernel(), problem.params, options.trips, options.causal);
  const std::int64_t sms = std::max<std::int64_t>(1, machine.sm_count);
  const std::int64_t per_sm = ceil_div(grid.tiles, sms);
  const bool alike = grid.even() && options.split == 0;
  const std::int64_t longest = options.split > 0 ? std::min(grid.trips, options.split) : grid.trips;
  // Where tiles differ, the busiest SM does at least the mean.
  const std::int64_t iterations = alike ? sat_mul(per_sm, grid.trips) : std::max(longest, ceil_div(grid.all_trips(), sms));
  KernelBound bound;
  bound.most_ctas = std::min(options.ctas.value_or(most_ctas(problem)), kCtasPerSm > 0 ? static_cast<int>(kCtasPerSm) : 1);
  const bool one_by_one = bound.most_ctas == 1 && !options.persistent && alike;
  const auto raise = [&](Cycle cycles, auto&& why) {
    if (cycles <= bound.cycles) return;
    bound.cycles = cycles;
    bound.why = why();
  };
  const Paths paths = longest_paths(problem);
  for (const UnitLoad& load : bounds.units) {
    const Unit& unit = problem.unit(load.unit);
    if (load.work <= 0) continue;
    Cycle head = kSaturated, tail = kSaturated;
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (const UnitUse& use : problem.ops[v].uses) {
        if (use.unit != load.unit || use.duration <= 0) continue;
        head = std::min(head, paths.before[v] + use.offset);
        tail = std::min(tail, std::max<Cycle>(0, paths.after[v] - use.offset - use.duration));
      }
    const Cycle ends = std::max<Cycle>(0, head) + tail;
    const std::int64_t capacity = std::max<std::int64_t>(1, unit.capacity);
    const Cycle cycles = one_by_one ? sat_mul(per_sm, sat_add(ceil_ratio(grid.trips, load.work, capacity), ends))
                                    : sat_add(ceil_ratio(iterations, load.work, capacity), ends);
    raise(cycles,
          [&] { return fmt::format("{}: {} iterations on one SM, {} cycles each", unit.name, iterations, ceil_div(load.work, capacity)); });
  }
  const Problem supplied = supplied_by_l2(instance, options.cluster, std::min(sms, grid.tiles)).problem;
  for (std::size_t u = 0; machine.shared.l2_bytes > 0 && u < supplied.units.size(); ++u) {
    if (supplied.units[u].role != UnitRole::Copy) continue;
    std::int64_t work = 0;
    for (const Op& op : supplied.ops)
      for (const UnitUse& use : op.uses)
        if (use.unit.index() == u) work = sat_add(work, sat_mul(use.duration, use.amount));
    raise(ceil_ratio(iterations, work, std::max<std::int64_t>(1, supplied.units[u].capacity)),
          [&] { return fmt::format("L2: {} iterations on each SM, {} cycles each for what they load", iterations, work); });
  }
  // One place of an SM runs its tiles one after the other.
  const std::int64_t in_a_row = ceil_div(per_sm, bound.most_ctas);
  const std::int64_t own = alike ? sat_mul(in_a_row, grid.trips) : longest;
  if (const Recurrence& r = bounds.critical; r.distance > 0) {
    const std::int64_t rounds = std::max<std::int64_t>(0, longest - 1) / r.distance;
    const std::int64_t tiles = options.persistent || !alike ? 1 : in_a_row;
    raise(sat_mul(tiles, sat_mul(rounds, r.latency)),
          [&] { return fmt::format("a recurrence of {} cycles over {}, {} iterations one after the other", r.latency, r.distance, own); });
  }
  // The bound was rounded up from a ratio.
  raise(sat_add(sat_mul(own, std::max<Cycle>(0, bounds.issue_mii - 1)), 1),
        [&] { return fmt::format("issue streams: {} iterations one after the other, {} cycles each", own, bounds.issue_mii); });
  if (bound.cycles <= 0) bound = {1, "an empty loop", bound.most_ctas};
  return bound;
}

}  // namespace heddle
