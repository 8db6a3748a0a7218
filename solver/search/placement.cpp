// Constraints as arcs "s(to) >= s(from) + apart", where what an arc demands depends on whether the two ops share a
// group. Rings count as arcs at the greatest depth that memory has allowed so far.
#include "solver/search/placement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "core/base/integer_division.h"
#include "core/check/checker.h"
#include "solver/encoding/closure.h"
#include "solver/encoding/finish_schedule.h"
#include "solver/encoding/homes.h"
#include "solver/encoding/registers.h"

namespace heddle::solver {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr int kSpotsOutOfTime = 32;  // looked at per group
constexpr Cycle kFar = Cycle{1} << 60;

struct Arc {
  std::size_t other;    ///< the op at the far end
  Cycle apart;          ///< within one group
  Cycle crossing;       ///< added between groups
  std::int64_t tokens;  ///< II is subtracted that often; plus the ring's depth
  bool only_crossing;   ///< demands nothing within one group
  std::ptrdiff_t ring;  ///< index of the channel, or -1
};

class Placer {
 public:
  Placer(const Problem& problem, const Constraints& constraints, const PlacementOptions& options);
  std::optional<Schedule> run();

 private:
  struct Spot {
    Cycle at = 0;
    std::size_t group = 0;
    std::int64_t cost = kNever;  ///< of what has to go
    Cycle distance = 0;          ///< from where the op would be best
  };

  bool placed(std::size_t v) const { return group_[v] >= 0; }
  bool together(std::size_t v, std::size_t group) const { return group_[v] == static_cast<std::int64_t>(group); }
  Cycle residue(Cycle x) const { return x - floor_div(x, ii_) * ii_; }
  std::optional<Cycle> demand(const Arc& arc, bool same) const;
  bool overlap(Cycle a, Cycle length_a, Cycle b, Cycle length_b) const;
  std::int64_t cost_of(std::size_t v, Cycle at, std::size_t group, bool in_time, std::int64_t most);
  void consider(std::size_t v, std::size_t group, Spot& best);
  std::vector<std::size_t> order();
  void adopt(const Schedule& start);
  void insert(std::size_t v, Cycle at, std::size_t group);
  void remove(std::size_t v);
  bool settle(std::int64_t& budget);
  bool assign_stages();
  Schedule schedule() const;
  bool repair(const Schedule& found, const Verdict& verdict);
  bool shorten_a_ring(const Schedule& found);
  bool relieve_registers(const Schedule& found);

  const Problem& problem_;
  const Constraints& constraints_;
  const PlacementOptions& options_;
  const Cycle ii_;
  const std::size_t size_;
  const Closure closure_;
  std::mt19937_64 random_;
  std::size_t first_group_, groups_;
  std::vector<std::vector<Arc>> in_, out_;
  std::vector<std::int64_t> depth_;  // [channel]
  std::vector<bool> waits_;          // window 0 and something to wait for
  std::vector<Cycle> start_;
  std::vector<std::int64_t> group_;                                        // -1: not placed
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> on_unit_;  // [unit]: (op, use)
  std::vector<std::vector<std::size_t>> in_group_;
  std::vector<Cycle> stream_load_;
  std::vector<std::int64_t> penalty_;
  std::vector<std::size_t> pool_;  // not placed; the last comes first
  std::vector<Cycle> height_;
  std::vector<std::optional<std::size_t>> home_;  // the group of an op that belongs to a chain through registers
  std::vector<std::size_t> scratch_, evicted_;
  std::vector<Cycle> times_;
  std::vector<std::int64_t> gone_;  // in the present count of costs, if it says stamp_
  std::int64_t stamp_ = 0;
};

Placer::Placer(const Problem& problem, const Constraints& constraints, const PlacementOptions& options)
    : problem_(problem),
      constraints_(constraints),
      options_(options),
      ii_(options.ii),
      size_(problem.ops.size()),
      closure_(problem, options.ii, options.stages, options.limits),
      random_(options.seed * 1000003 + 17) {
  first_group_ = problem.has_producer_group() ? 1 : 0;
  groups_ = static_cast<std::size_t>(std::max(1, problem.max_groups));
  in_.resize(size_);
  out_.resize(size_);
  const auto add = [&](OpId from, OpId to, Arc arc) {
    if (from == to) return;
    arc.other = to.index();
    out_[from.index()].push_back(arc);
    arc.other = from.index();
    in_[to.index()].push_back(arc);
  };
  waits_.assign(size_, false);
  for (const Edge& e : problem.edges) {
    add(e.from, e.to, {0, e.latency, e.handoff, e.distance, false, -1});
    if (problem.op(e.to).window == 0) waits_[e.to.index()] = true;
  }
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    depth_.push_back(channel.max_depth);
    for (const Reader& r : channel.readers)
      add(r.op, channel.writer, {0, r.release, r.signal, -r.distance, channel.only_if_crossing, static_cast<std::ptrdiff_t>(c)});
  }
  start_.assign(size_, 0);
  group_.assign(size_, -1);
  on_unit_.resize(problem.units.size());
  in_group_.resize(groups_);
  stream_load_.assign(groups_, 0);
  penalty_.assign(size_, 1);
  gone_.assign(size_, 0);
}

std::optional<Cycle> Placer::demand(const Arc& arc, bool same) const {
  if (same && arc.only_crossing) return {};
  const std::int64_t tokens = arc.tokens + (arc.ring >= 0 ? depth_[static_cast<std::size_t>(arc.ring)] : 0);
  return arc.apart + (same ? 0 : arc.crossing) - tokens * ii_;
}

bool Placer::overlap(Cycle a, Cycle length_a, Cycle b, Cycle length_b) const {
  const Cycle ahead = residue(b - a);
  return ahead < length_a || ii_ - ahead < length_b;
}

/// Longest path to an end, or against loops a few rounds of it: what many ops wait for comes first.
std::vector<std::size_t> Placer::order() {
  height_.assign(size_, 0);
  for (std::size_t round = 0; round < size_; ++round) {
    bool changed = false;
    for (std::size_t v = size_; v-- > 0;)
      for (const Arc& arc : out_[v]) {
        if (arc.ring >= 0) continue;
        const Cycle height = height_[arc.other] + arc.apart - arc.tokens * ii_;
        if (height <= height_[v]) continue;
        height_[v] = height;
        changed = true;
      }
    if (!changed) break;
  }
  std::vector<std::size_t> ops(size_);
  std::iota(ops.begin(), ops.end(), std::size_t{0});
  if (options_.in_order)
    std::reverse(ops.begin(), ops.end());
  else
    std::stable_sort(ops.begin(), ops.end(), [&](std::size_t a, std::size_t b) { return height_[a] < height_[b]; });
  return ops;
}

void Placer::insert(std::size_t v, Cycle at, std::size_t group) {
  start_[v] = at;
  group_[v] = static_cast<std::int64_t>(group);
  const Op& op = problem_.ops[v];
  for (std::size_t u = 0; u < op.uses.size(); ++u)
    if (op.uses[u].duration > 0 && op.uses[u].amount > 0) on_unit_[op.uses[u].unit.index()].emplace_back(v, u);
  in_group_[group].push_back(v);
  stream_load_[group] += op.window;
}

void Placer::remove(std::size_t v) {
  const auto group = static_cast<std::size_t>(group_[v]);
  for (const UnitUse& use : problem_.ops[v].uses)
    std::erase_if(on_unit_[use.unit.index()], [&](const auto& entry) { return entry.first == v; });
  std::erase(in_group_[group], v);
  stream_load_[group] -= problem_.ops[v].window;
  group_[v] = -1;
}

/// The penalties of the ops that would have to go, which are then in evicted_; stops counting at `most`. `in_time`: no
/// dependence is in the way, only units and streams may be.
std::int64_t Placer::cost_of(std::size_t v, Cycle at, std::size_t group, bool in_time, std::int64_t most) {
  evicted_.clear();
  std::int64_t cost = 0;
  ++stamp_;
  const auto gone = [&](std::size_t w) { return gone_[w] == stamp_; };
  const auto evict = [&](std::size_t w) {
    if (gone(w)) return;
    gone_[w] = stamp_;
    evicted_.push_back(w);
    cost += penalty_[w];
  };
  for (const Arc& arc : in_[v]) {
    if (in_time) break;
    if (!placed(arc.other)) continue;
    const auto apart = demand(arc, together(arc.other, group));
    if (apart && at < start_[arc.other] + *apart) evict(arc.other);
    if (cost >= most) return cost;
  }
  for (const Arc& arc : out_[v]) {
    if (in_time) break;
    if (!placed(arc.other)) continue;
    const auto apart = demand(arc, together(arc.other, group));
    if (apart && start_[arc.other] < at + *apart) evict(arc.other);
    if (cost >= most) return cost;
  }
  for (std::size_t w = 0; w < size_ && !in_time; ++w) {
    if (!placed(w) || w == v) continue;
    if (at < start_[w] + closure_.at(OpId(w), OpId(v)) || start_[w] < at + closure_.at(OpId(v), OpId(w))) evict(w);
    if (cost >= most) return cost;
  }
  const Op& op = problem_.ops[v];
  for (std::size_t w : in_group_[group]) {
    const Cycle window = problem_.ops[w].window;
    if (op.window > 0 && window > 0) {
      if (overlap(at, op.window, start_[w], window)) evict(w);
    } else if (op.window > 1 && waits_[w]) {
      const Cycle inside = residue(start_[w] - at);
      if (inside > 0 && inside < op.window) evict(w);
    } else if (window > 1 && waits_[v]) {
      const Cycle inside = residue(at - start_[w]);
      if (inside > 0 && inside < window) evict(w);
    }
    if (cost >= most) return cost;
  }
  for (const UnitUse& use : op.uses) {
    if (use.duration <= 0 || use.amount <= 0) continue;
    const std::int64_t capacity = problem_.unit(use.unit).capacity;
    const Cycle begin = at + use.offset;
    const auto& others = on_unit_[use.unit.index()];
    scratch_.clear();
    for (std::size_t i = 0; i < others.size(); ++i) {
      const auto& [w, index] = others[i];
      const UnitUse& other = problem_.ops[w].uses[index];
      if (!overlap(begin, use.duration, start_[w] + other.offset, other.duration)) continue;
      if (other.amount + use.amount > capacity)
        evict(w);
      else
        scratch_.push_back(i);
      if (cost >= most) return cost;
    }
    // Several small uses at once: count at the start of each, while it lies inside this use.
    std::int64_t total = use.amount;
    for (std::size_t i : scratch_) total += problem_.ops[others[i].first].uses[others[i].second].amount;
    if (total <= capacity) continue;
    const auto crowd = [&](Cycle moment) {
      std::int64_t amount = use.amount;
      for (std::size_t i : scratch_) {
        const auto& [w, index] = others[i];
        if (gone(w)) continue;
        const UnitUse& other = problem_.ops[w].uses[index];
        if (residue(moment - start_[w] - other.offset) >= other.duration) continue;
        amount += other.amount;
        if (amount > capacity) {
          evict(w);
          amount -= other.amount;
        }
      }
    };
    crowd(begin);
    for (std::size_t i : scratch_) {
      const auto& [w, index] = others[i];
      const Cycle moment = start_[w] + problem_.ops[w].uses[index].offset;
      if (!gone(w) && residue(moment - begin) < use.duration) crowd(moment);
      if (cost >= most) return cost;
    }
  }
  return cost;
}

void Placer::consider(std::size_t v, std::size_t group, Spot& best) {
  const Op& op = problem_.ops[v];
  // Where no dependence is in the way, and (earliest, latest) where the op is wanted: loose bounds do not draw it.
  Cycle low = -kFar, high = kFar;
  std::optional<Cycle> earliest, latest;
  const auto after = [&](Cycle bound, bool wanted) {
    low = std::max(low, bound);
    if (wanted) earliest = std::max(earliest.value_or(bound), bound);
  };
  const auto before = [&](Cycle bound, bool wanted) {
    high = std::min(high, bound);
    if (wanted) latest = std::min(latest.value_or(bound), bound);
  };
  for (const Arc& arc : in_[v])
    if (placed(arc.other))
      if (const auto apart = demand(arc, together(arc.other, group))) after(start_[arc.other] + *apart, arc.ring < 0);
  for (const Arc& arc : out_[v])
    if (placed(arc.other))
      if (const auto apart = demand(arc, together(arc.other, group))) before(start_[arc.other] - *apart, arc.ring < 0);
  for (std::size_t w = 0; w < size_; ++w) {
    if (!placed(w) || w == v) continue;
    const Cycle to = closure_.at(OpId(w), OpId(v)), from = closure_.at(OpId(v), OpId(w));
    after(start_[w] + to, to > -2 * ii_);
    before(start_[w] - from, from > -2 * ii_);
  }
  if (options_.in_order)
    for (std::size_t w : in_group_[group])
      if (w < v) earliest = std::max(earliest.value_or(start_[w]), start_[w]);
  const bool down = !earliest && latest;
  if (!earliest && !latest) earliest = 0;
  times_.clear();
  const auto add = [&](Cycle when) {
    if (down) {
      times_.push_back(*latest - residue(*latest - when));
      return;
    }
    times_.push_back(*earliest + residue(when - *earliest));
    if (latest && *latest < *earliest) times_.push_back(*latest - residue(*latest - when));
  };
  add(down ? *latest : *earliest);
  if (latest) add(*latest);
  for (const UnitUse& use : op.uses)
    if (use.duration > 0 && use.amount > 0)
      for (const auto& [w, index] : on_unit_[use.unit.index()]) {
        const UnitUse& other = problem_.ops[w].uses[index];
        add(start_[w] + other.offset + other.duration - use.offset);
        add(start_[w] + other.offset - use.duration - use.offset);
      }
  if (op.window > 0)
    for (std::size_t w : in_group_[group]) {
      if (problem_.ops[w].window == 0) continue;
      add(start_[w] + problem_.ops[w].window);
      add(start_[w] - op.window);
    }
  const Cycle ideal = down ? *latest : *earliest;
  const auto distance = [&](Cycle t) { return t < ideal ? ideal - t : t - ideal; };
  std::sort(times_.begin(), times_.end(), [&](Cycle a, Cycle b) { return std::pair(distance(a), a) < std::pair(distance(b), b); });
  times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  // A crowded stream is a worse home than one with room.
  const Cycle burden = op.window > 0 ? stream_load_[group] / 8 : 0;
  int out_of_time = 0;
  for (const Cycle at : times_) {
    const bool in_time = at >= low && at <= high;
    if (!in_time && ++out_of_time > kSpotsOutOfTime) continue;
    const Cycle far = distance(at) + burden;
    if (best.cost == 0 && far >= best.distance) break;
    const std::int64_t most = best.cost;
    std::int64_t cost = cost_of(v, at, group, in_time, most == kNever ? kNever : most / 8 + 1);
    if (cost > 0) cost = cost * 8 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(8 * cost));
    if (cost < best.cost || (cost == best.cost && far < best.distance)) best = {at, group, cost, far};
  }
}

bool Placer::settle(std::int64_t& budget) {
  while (!pool_.empty()) {
    if (--budget < 0) return false;
    options_.limits.keep();
    const std::size_t v = pool_.back();
    pool_.pop_back();
    Spot best;
    if (problem_.ops[v].variable_latency) {
      consider(v, 0, best);
    } else {
      bool fresh = false;  // empty groups are alike
      for (std::size_t g = first_group_; g < groups_; ++g) {
        if (home_[v]) {
          if (*home_[v] == g) consider(v, g, best);
          continue;
        }
        if (in_group_[g].empty() && std::exchange(fresh, true)) continue;
        consider(v, g, best);
      }
    }
    if (best.cost == kNever) return false;
    if (best.cost > 0) {
      ++penalty_[v];
      cost_of(v, best.at, best.group, false, kNever);
      const std::vector<std::size_t> leaving = evicted_;
      for (std::size_t w : leaving) {
        remove(w);
        pool_.push_back(w);
      }
    }
    insert(v, best.at, best.group);
  }
  return true;
}

/// Least stages for these residues and groups; false when some cycle does not fit.
bool Placer::assign_stages() {
  std::vector<Cycle> stage(size_, 0);
  std::vector<Cycle> slot(size_);
  for (std::size_t v = 0; v < size_; ++v) slot[v] = residue(start_[v]);
  for (std::size_t round = 0; round <= size_; ++round) {
    bool changed = false;
    for (std::size_t v = 0; v < size_; ++v)
      for (const Arc& arc : out_[v]) {
        const auto apart = demand(arc, group_[v] == group_[arc.other]);
        if (!apart) continue;
        const Cycle needed = stage[v] + ceil_div(slot[v] + *apart - slot[arc.other], ii_);
        if (needed <= stage[arc.other]) continue;
        stage[arc.other] = needed;
        changed = true;
      }
    if (!changed) {
      for (std::size_t v = 0; v < size_; ++v) start_[v] = stage[v] * ii_ + slot[v];
      return true;
    }
  }
  return false;
}

Schedule Placer::schedule() const {
  Schedule result;
  result.ii = ii_;
  result.groups.resize(groups_);
  for (std::size_t v = 0; v < size_; ++v) result.ops.push_back({start_[v], GroupId(static_cast<std::size_t>(group_[v]))});
  normalize_starts(result);
  finish_schedule(problem_, constraints_, result);
  return result;
}

void Placer::adopt(const Schedule& start) {
  std::vector<std::size_t> ops(size_);
  std::iota(ops.begin(), ops.end(), std::size_t{0});
  std::stable_sort(ops.begin(), ops.end(), [&](std::size_t a, std::size_t b) { return start.ops[a].start < start.ops[b].start; });
  for (std::size_t v : ops) {
    const Placement& p = start.ops[v];
    const Cycle stage = p.start / start.ii, slot = p.start % start.ii * ii_ / start.ii;
    if (p.group.index() < groups_ && cost_of(v, stage * ii_ + slot, p.group.index(), false, 1) == 0)
      insert(v, stage * ii_ + slot, p.group.index());
  }
}

std::optional<Schedule> Placer::run() {
  for (const Op& op : problem_.ops)
    for (const UnitUse& use : op.uses)
      if (use.duration > ii_ || op.window > ii_ || use.amount > problem_.unit(use.unit).capacity) return {};
  home_ = homes_of(problem_, first_group_, groups_);
  const std::vector<std::size_t> ops = order();
  if (closure_.contradiction()) return {};
  if (options_.start) adopt(*options_.start);
  for (std::size_t v : ops)
    if (!placed(v)) pool_.push_back(v);
  std::int64_t budget = options_.budget;
  while (settle(budget)) {
    if (!assign_stages()) return {};
    Schedule found = schedule();
    const Verdict verdict = check(problem_, found, constraints_);
    if (verdict.valid() && stage_count(found) <= options_.stages) return found;
    if (verdict.valid() || !repair(found, verdict)) return {};
    budget -= static_cast<std::int64_t>(size_) / 4;  // judging a whole schedule costs as much as many placements
  }
  return {};
}

bool Placer::repair(const Schedule& found, const Verdict& verdict) {
  for (const Violation& violation : verdict.violations)
    if (violation.family == "registers") return relieve_registers(found);
  return shorten_a_ring(found);
}

/// Registers are short at the start of some op: what began last before it, and it does not need, begins after it from
/// now on.
bool Placer::relieve_registers(const Schedule& found) {
  std::int64_t most = 0;
  std::size_t y = 0;
  for (std::size_t v = 0; v < size_; ++v) {
    const std::int64_t used = registers_at(problem_, found, OpId(v));
    if (used <= most) continue;
    most = used;
    y = v;
  }
  std::optional<std::size_t> latest;
  Cycle begun = 0;
  std::int64_t tokens = 0;
  for (std::size_t x = 0; x < problem_.values.size(); ++x) {
    const std::size_t p = problem_.values[x].producer.index();
    if (problem_.values[x].registers == 0 || p == y || group_[p] != group_[y]) continue;
    const std::int64_t ahead = floor_div(start_[y] - start_[p], ii_);  // the instance that began last before y
    const Cycle since = start_[p] + ahead * ii_;
    bool alive = false;
    for (const Edge& e : problem_.edges)
      alive |= e.value == ValueId(x) && group_[e.to.index()] == group_[p] &&
               start_[e.to.index()] + (e.distance + ahead) * ii_ + e.hold > start_[y];
    if (!alive || closure_.at(OpId(p), OpId(y)) > ahead * ii_ || (latest && since <= begun)) continue;
    latest = p;
    begun = since;
    tokens = ahead;
  }
  if (!latest) return false;
  out_[y].push_back({*latest, 1, 0, tokens, false, -1});
  in_[*latest].push_back({y, 1, 0, tokens, false, -1});
  remove(*latest);
  pool_.push_back(*latest);
  return true;
}

/// Memory is short: the largest ring gets a slot less, and what it held comes out again.
bool Placer::shorten_a_ring(const Schedule& found) {
  std::ptrdiff_t largest = -1;
  std::int64_t size = 0;
  for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
    const std::int64_t total = problem_.channels[c].size * found.depths[c];
    if (found.depths[c] < 2 || total <= size) continue;
    size = total;
    largest = static_cast<std::ptrdiff_t>(c);
  }
  if (largest < 0) return false;
  const auto ring = static_cast<std::size_t>(largest);
  depth_[ring] = found.depths[ring] - 1;
  const std::size_t writer = problem_.channels[ring].writer.index();
  remove(writer);
  pool_.push_back(writer);
  return true;
}

}  // namespace

std::optional<Schedule> place_ops(const Problem& problem, const Constraints& constraints, const PlacementOptions& options) {
  return Placer(problem, constraints, options).run();
}

}  // namespace heddle::solver
