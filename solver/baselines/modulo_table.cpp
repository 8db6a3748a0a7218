// Uses of a unit are intervals modulo II; an op fits where nowhere more of them meet than the unit can bear.
#include "solver/baselines/modulo_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/bounds.h"
#include "core/analysis/channels.h"
#include "core/analysis/cycle_ratio.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "solver/baselines/agents.h"
#include "solver/search/serial.h"

namespace heddle::solver {

ModuloTable::ModuloTable(const Problem& problem, Cycle ii)
    : problem_(problem), ii_(ii), start_(problem.ops.size()), by_unit_(problem.units.size()) {
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    for (const UnitUse& use : problem.ops[v].uses)
      if (use.duration > 0 && use.amount > 0) by_unit_[use.unit.index()].emplace_back(v, &use);
}

bool ModuloTable::overlap(const UnitUse& a, Cycle at_a, const UnitUse& b, Cycle at_b) const {
  const Cycle ahead = modulo(at_b + b.offset - at_a - a.offset, ii_);
  return ahead < a.duration || ii_ - ahead < b.duration;
}

bool ModuloTable::fits(std::size_t op, Cycle at) const {
  struct Active {
    const UnitUse* use;
    Cycle at;
  };
  for (const UnitUse& mine : problem_.ops[op].uses) {
    if (mine.duration <= 0 || mine.amount <= 0) continue;
    const std::int64_t capacity = problem_.unit(mine.unit).capacity;
    std::vector<Active> active{{&mine, at + mine.offset}};
    for (const auto& [v, use] : by_unit_[mine.unit.index()]) {
      if (use == &mine || (v != op && !placed(v))) continue;
      const Cycle where = v == op ? at : start(v);
      if (!overlap(mine, at, *use, where)) continue;
      if (use->amount > capacity - mine.amount) return false;
      active.push_back({use, where + use->offset});
    }
    // Several at once, or the same one for several iterations: the crowd is largest where one of them begins.
    const auto crowd = [&](Cycle moment) {
      std::int64_t amount = 0;
      for (const Active& a : active) {
        const Cycle since = modulo(moment - a.at, ii_);
        if (since < a.use->duration) amount += a.use->amount * ((a.use->duration - 1 - since) / ii_ + 1);
      }
      return amount;
    };
    for (const Active& a : active)
      if (modulo(a.at - at - mine.offset, ii_) < mine.duration && crowd(a.at) > capacity) return false;
  }
  return true;
}

std::optional<Cycle> ModuloTable::free_start(std::size_t op, Cycle from, Cycle to) const {
  const bool up = from <= to;
  std::vector<Cycle> candidates{from};
  const auto add = [&](Cycle when) {
    const Cycle at = up ? from + modulo(when - from, ii_) : from - modulo(from - when, ii_);
    if (up ? at <= to : at >= to) candidates.push_back(at);
  };
  for (const UnitUse& mine : problem_.ops[op].uses)
    for (const auto& [v, use] : by_unit_[mine.unit.index()])
      if (v != op && placed(v))
        add(up ? start(v) + use->offset + use->duration - mine.offset : start(v) + use->offset - mine.duration - mine.offset);
  std::sort(candidates.begin(), candidates.end());
  if (!up) std::reverse(candidates.begin(), candidates.end());
  for (const Cycle at : candidates)
    if (fits(op, at)) return at;
  return std::nullopt;
}

std::vector<std::size_t> ModuloTable::in_the_way(std::size_t op, Cycle at) const {
  std::vector<std::size_t> found;
  for (const UnitUse& mine : problem_.ops[op].uses) {
    if (mine.duration <= 0 || mine.amount <= 0) continue;
    for (const auto& [v, use] : by_unit_[mine.unit.index()])
      if (v != op && placed(v) && overlap(mine, at, *use, start(v)) && std::find(found.begin(), found.end(), v) == found.end())
        found.push_back(v);
  }
  return found;
}

std::optional<Cycle> ModuloTable::earliest(std::size_t op) const {
  std::optional<Cycle> bound;
  for (const Edge& e : problem_.edges)
    if (e.to.index() == op && e.from != e.to && placed(e.from.index())) {
      const Cycle due = start(e.from.index()) + e.latency - e.distance * ii_;
      bound = std::max(bound.value_or(due), due);
    }
  return bound;
}

std::optional<Cycle> ModuloTable::latest(std::size_t op) const {
  std::optional<Cycle> bound;
  for (const Edge& e : problem_.edges)
    if (e.from.index() == op && e.from != e.to && placed(e.to.index())) {
      const Cycle due = start(e.to.index()) - e.latency + e.distance * ii_;
      bound = std::min(bound.value_or(due), due);
    }
  return bound;
}

std::vector<Cycle> ModuloTable::starts() const {
  std::vector<Cycle> starts;
  for (const auto& start : start_) starts.push_back(start.value_or(0));
  return starts;
}

std::optional<Cycle> modulo_min_ii(const Problem& problem) {
  const Bounds bounds = compute_bounds(problem);
  const Cycle least = std::max(bounds.res_mii, bounds.rec_mii);
  if (least >= kNoFiniteII) return std::nullopt;
  return least;
}

Cycle serial_length(const Problem& problem) { return serial_ii(problem); }

std::vector<Cycle> depths_at(const Problem& problem, Cycle ii) {
  std::vector<RatioEdge> edges;
  for (const Edge& e : problem.edges) edges.push_back({e.from.index(), e.to.index(), e.latency, e.distance});
  return longest_paths(edges, ii, std::vector<Cycle>(problem.ops.size(), 0));
}

std::vector<Cycle> heights_at(const Problem& problem, Cycle ii) {
  std::vector<RatioEdge> edges;
  for (const Edge& e : problem.edges) edges.push_back({e.to.index(), e.from.index(), e.latency, e.distance});
  return longest_paths(edges, ii, std::vector<Cycle>(problem.ops.size(), 0));
}

Cycle next_ii(Cycle ii, Cycle least) {
  constexpr Cycle kSingly = 64;  // one by one at first, then by a 64th
  return ii - least < kSingly ? ii + 1 : sat_add(ii, std::max<Cycle>(1, ii / kSingly));
}

namespace {

Schedule with_groups(const Problem& problem, const ModuloSchedule& found, const std::vector<int>& group) {
  Schedule schedule;
  schedule.kernel = problem.kernel;
  schedule.machine = problem.machine;
  schedule.params = problem.params;
  schedule.layouts = choices_of(problem);
  schedule.ii = found.ii;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    schedule.ops.push_back({found.starts[v], GroupId(static_cast<std::size_t>(group[v]))});
  normalize_starts(schedule);
  derive_groups(problem, schedule);
  schedule.depths = minimal_depths(problem, schedule);
  return schedule;
}

}  // namespace

std::optional<Cycle> ii_for_memory(const Problem& problem, const ModuloSchedule& found, const std::vector<int>& group,
                                   std::vector<std::string>& log) {
  const Schedule schedule = with_groups(problem, found, group);
  const bool smem = allocated(problem, schedule, Space::Smem) > problem.limits.smem_bytes;
  const bool tmem = rounded_columns(allocated(problem, schedule, Space::Tmem)) > problem.limits.tmem_columns;
  std::optional<Cycle> least;
  std::string why;
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    const int depth = schedule.depths[c];
    const bool over = channel.space == Space::Tmem ? tmem : smem;
    if (depth < 2 || (!over && depth <= channel.max_depth)) continue;
    const Cycle ii = ceil_div(slot_life(channel, schedule), depth - 1);
    if (ii <= found.ii || (least && ii >= *least)) continue;
    least = ii;
    why = fmt::format("II {}: {} slots of {} do not fit in {} memory; {} slot{} last {} cycles at least, so II rises to {}", found.ii,
                      depth, channel.name, channel.space == Space::Tmem ? "tensor" : "shared", depth - 1, depth == 2 ? "" : "s",
                      slot_life(channel, schedule), ii);
  }
  if (least) log.push_back(why);
  return least;
}

BaselineOutcome partitioned(const BaselineInput& input, const ModuloSchedule& found, const std::vector<int>& group, BaselineStory story) {
  const Problem& problem = input.problem;
  LoopTiming timing = timing_of_order(problem, with_groups(problem, found, group));
  story.log.push_back(fmt::format("modulo schedule at II {} without hand-offs; with warp groups its order sustains {}", found.ii,
                                  timing.deadlock ? "nothing" : std::to_string(timing.schedule.ii)));
  return finished(input, std::move(timing), std::move(story));
}

std::vector<int> groups_by_block(const Problem& problem) {
  const RowBlocks blocks = row_blocks(problem, groups_left(problem));
  const int first = problem.has_producer_group() ? 1 : 0;
  std::vector<int> group;
  for (const int block : blocks.of) group.push_back(block < 0 ? 0 : first + block);
  return group;
}

}  // namespace heddle::solver
