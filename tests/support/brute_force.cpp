// Exhaustive search. Per group assignment: longest paths between all pairs, then slots op by op against plain cycle tables
// of units and issue streams, then stages within what the longest paths leave, then least depths and the checker.
#include "tests/support/brute_force.h"

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/analysis/registers.h"
#include "core/analysis/usage_curve.h"
#include "core/check/checker.h"
#include "core/check/families.h"

namespace heddle::test {
namespace {

constexpr Cycle kFar = -(Cycle{1} << 40);  // no path

/// Constraints that a shift of all starts can break.
bool is_absolute(ConstraintKind kind) {
  return kind == ConstraintKind::Pin || kind == ConstraintKind::Range || kind == ConstraintKind::SameStage ||
         kind == ConstraintKind::EarlierStage || kind == ConstraintKind::MaxStages || kind == ConstraintKind::MaxStageSmem;
}

class Search {
 public:
  Search(const Problem& problem, Cycle ii, int stages, const Constraints& constraints, std::int64_t budget)
      : problem_(problem), constraints_(constraints), ii_(ii), stages_(stages), budget_(budget), count_(problem.ops.size()) {
    for (const UserConstraint& c : constraints) {
      absolute_ |= c.enabled && is_absolute(c.kind);
      named_groups_ |= c.enabled && (c.kind == ConstraintKind::InGroup || c.kind == ConstraintKind::NotInGroup);
    }
    schedule_.kernel = problem.kernel;
    schedule_.machine = problem.machine;
    schedule_.ii = ii;
    schedule_.ops.resize(count_);
    schedule_.provenance.author = "brute force";
    slot_.resize(count_);
    stage_.resize(count_);
    // The ops that take most room first: their conflicts cut most.
    for (std::size_t v = 0; v < count_; ++v) order_.push_back(v);
    const auto room = [&](std::size_t v) {
      Cycle sum = problem.ops[v].window;
      for (const UnitUse& use : problem.ops[v].uses) sum += use.work() * use.amount;
      return sum;
    };
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return room(a) > room(b); });
  }

  bool run_all(const std::function<void(const Schedule&)>& visit) {
    visit_ = &visit;
    run();
    return budget_ > 0;
  }

  BruteForce run() {
    BruteForce result;
    if (count_ > 0 && ii_ > 0 && stages_ > 0 && assign_groups(0, 0)) result.schedule = found_;
    result.gave_up = !result.schedule && budget_ <= 0;
    return result;
  }

 private:
  /// `used`: consumer groups in use so far; a new one is always the next.
  bool assign_groups(std::size_t v, std::size_t used) {
    if (v == count_) return prepare_and_place();
    const std::size_t first = problem_.has_producer_group() ? 1 : 0;
    const auto limit = static_cast<std::size_t>(std::max(0, problem_.max_groups));
    if (problem_.ops[v].variable_latency) {
      schedule_.ops[v].group = GroupId(0);
      return limit > 0 && assign_groups(v + 1, used);
    }
    const std::size_t end = named_groups_ ? limit : std::min(limit, first + used + 1);
    for (std::size_t g = first; g < end; ++g) {
      schedule_.ops[v].group = GroupId(g);
      if (assign_groups(v + 1, std::max(used, g - first + 1))) return true;
      if (budget_ <= 0) return false;
    }
    return false;
  }

  bool crosses(OpId a, OpId b) const { return schedule_.group(a) != schedule_.group(b); }

  bool prepare_and_place() {
    std::size_t groups = problem_.has_producer_group() ? 1 : 0;
    for (const Placement& p : schedule_.ops) groups = std::max(groups, p.group.index() + 1);
    schedule_.groups.assign(groups, {});
    std::vector<bool> aligned(groups, false);
    waits_.assign(count_, false);
    for (std::size_t v = 0; v < count_; ++v) {
      ScheduleGroup& group = schedule_.groups[schedule_.ops[v].group.index()];
      group.warps = std::max(group.warps, problem_.ops[v].warps);
      if (problem_.ops[v].aligned) aligned[schedule_.ops[v].group.index()] = true;
    }
    int warps = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      if (aligned[g]) schedule_.groups[g].warps = (schedule_.groups[g].warps + 3) / 4 * 4;
      warps += schedule_.groups[g].warps;
    }
    if (warps > problem_.limits.warps_per_cta) return false;
    for (const Edge& e : problem_.edges)
      if (e.waits || crosses(e.from, e.to)) waits_[e.to.index()] = true;
    if (!close_paths()) return false;
    touched_.assign(groups, false);
    for (const Value& x : problem_.values)
      if (x.space == Space::Register) touched_[schedule_.group(x.producer).index()] = true;
    for (const Edge& e : problem_.edges)
      if (e.value.valid() && problem_.value(e.value).space == Space::Register) touched_[schedule_.group(e.to).index()] = true;
    base_ = foreign_registers(problem_, schedule_);
    for (std::int64_t& sum : base_) sum += problem_.resident_registers + problem_.limits.register_overhead;
    if (!registers_fit(0)) return false;
    units_.assign(problem_.units.size(), std::vector<std::int64_t>(static_cast<std::size_t>(ii_), 0));
    issue_.assign(groups, std::vector<int>(static_cast<std::size_t>(ii_), 0));
    return place_slot(0);
  }

  /// gap_[u][v]: s(v) - s(u) is at least this. False on a positive cycle.
  bool close_paths() {
    const Cycle span = absolute_ ? kFar : -(stages_ * ii_ - 1);
    gap_.assign(count_, std::vector<Cycle>(count_, span));
    for (std::size_t v = 0; v < count_; ++v) gap_[v][v] = 0;
    const auto at_least = [&](OpId from, OpId to, Cycle gap) {
      Cycle& known = gap_[from.index()][to.index()];
      known = std::max(known, gap);
    };
    for (const Edge& e : problem_.edges) at_least(e.from, e.to, e.latency + (crosses(e.from, e.to) ? e.handoff : 0) - e.distance * ii_);
    // A channel can be no deeper than what one slot in each of the others leaves of its memory.
    std::int64_t smem = problem_.limits.smem_bytes - problem_.resident_smem;
    std::int64_t columns = problem_.limits.tmem_columns - problem_.resident_columns;
    for (const Channel& c : problem_.channels)
      if (channel_exists(c, schedule_)) (c.space == Space::Tmem ? columns : smem) -= c.size;
    if (smem < 0 || columns < 0) return false;
    for (const Channel& c : problem_.channels) {
      const std::int64_t left = c.space == Space::Tmem ? columns : smem;
      const Cycle depth = std::min<Cycle>(c.max_depth, c.size > 0 ? 1 + left / c.size : c.max_depth);
      for (const Reader& r : c.readers) {
        if (c.only_if_crossing && !crosses(r.op, c.writer)) continue;
        at_least(r.op, c.writer, r.distance * ii_ + r.release + (crosses(r.op, c.writer) ? r.signal : 0) - depth * ii_);
      }
    }
    for (std::size_t k = 0; k < count_; ++k)
      for (std::size_t u = 0; u < count_; ++u)
        for (std::size_t v = 0; v < count_; ++v)
          if (gap_[u][k] > kFar && gap_[k][v] > kFar) gap_[u][v] = std::max(gap_[u][v], gap_[u][k] + gap_[k][v]);
    for (std::size_t v = 0; v < count_; ++v)
      if (gap_[v][v] > 0) return false;
    return true;
  }

  /// The least stage(v) - stage(u) under the slots chosen.
  Cycle least_stages(std::size_t u, std::size_t v) const { return ceil_div(gap_[u][v] + slot_[u] - slot_[v], ii_); }

  /// Adds (or takes back) an op's unit uses and issue window; whether everything fits.
  bool occupy(std::size_t v, int sign) {
    bool fits = true;
    const auto cell = [&](Cycle at) { return static_cast<std::size_t>(at % ii_); };
    for (const UnitUse& use : problem_.ops[v].uses) {
      for (Cycle t = 0; t < use.duration; ++t) {
        std::int64_t& in_use = units_[use.unit.index()][cell(slot_[v] + use.offset + t)];
        in_use += sign * use.amount;
        fits &= in_use <= problem_.unit(use.unit).capacity;
      }
    }
    for (Cycle t = 0; t < problem_.ops[v].window; ++t) fits &= (issue_[schedule_.ops[v].group.index()][cell(slot_[v] + t)] += sign) <= 1;
    return fits;
  }

  bool starts_inside(std::size_t v, std::size_t o) const {
    if (!waits_[v] || schedule_.ops[v].group != schedule_.ops[o].group) return false;
    const Cycle into = (slot_[v] - slot_[o] + ii_) % ii_;
    return into > 0 && into < problem_.ops[o].window;
  }

  bool place_slot(std::size_t i) {
    if (i == count_) return place_stage(0);
    const std::size_t v = order_[i];
    const Cycle slots = i == 0 && !absolute_ ? 1 : ii_;
    for (slot_[v] = 0; slot_[v] < slots; ++slot_[v]) {
      if (--budget_ <= 0) return false;
      bool possible = true;
      for (std::size_t j = 0; j < i && possible; ++j) {
        const std::size_t u = order_[j];
        possible = least_stages(u, v) + least_stages(v, u) <= 0 && !starts_inside(v, u) && !starts_inside(u, v);
      }
      if (!possible) continue;
      const bool done = occupy(v, +1) && place_slot(i + 1);
      occupy(v, -1);
      if (done) return true;
    }
    return false;
  }

  bool place_stage(std::size_t i) {
    if (!registers_fit(i)) return false;
    if (i == count_) return judge();
    const std::size_t v = order_[i];
    Cycle low = absolute_ ? 0 : -stages_, high = absolute_ ? stages_ - 1 : stages_;
    if (i == 0 && !absolute_) low = high = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t u = order_[j];
      low = std::max(low, stage_[u] + least_stages(u, v));
      high = std::min(high, stage_[u] - least_stages(v, u));
    }
    for (stage_[v] = low; stage_[v] <= high; ++stage_[v]) {
      if (--budget_ <= 0) return false;
      if (place_stage(i + 1)) return true;
    }
    return false;
  }

  /// Register use counted over the first `placed` ops alone: a lower bound that grows with every op placed.
  bool registers_fit(std::size_t placed) {
    placed_.assign(count_, false);
    for (std::size_t i = 0; i < placed; ++i) placed_[order_[i]] = true;
    const Limits& limits = problem_.limits;
    std::int64_t total = 0;
    const auto start = [&](OpId v) { return stage_[v.index()] * ii_ + slot_[v.index()]; };
    alive_.clear();
    for (std::size_t x = 0; x < problem_.values.size(); ++x) {
      const Value& value = problem_.values[x];
      if (value.space != Space::Register || !placed_[value.producer.index()]) continue;
      const Cycle begin = start(value.producer);
      Cycle end = begin + 1;
      for (const Edge& e : problem_.edges)
        if (e.value.valid() && e.value.index() == x && placed_[e.to.index()] && !crosses(e.to, value.producer))
          end = std::max(end, start(e.to) + e.distance * ii_ + e.hold);
      alive_.push_back({schedule_.group(value.producer).index(), value.registers, begin, end});
    }
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g) {
      std::int64_t peak = touched_[g] ? 0 : limits.producer_registers;
      for (std::size_t y = 0; y < count_ && touched_[g]; ++y) {
        if (!placed_[y] || schedule_.ops[y].group.index() != g) continue;
        std::int64_t sum = base_[y];
        for (const Alive& value : alive_)
          if (value.group == g) sum += value.registers * copies_alive(value.begin, value.end, start(OpId(y)), ii_);
        peak = std::max(peak, sum);
      }
      const std::int64_t budget = register_budget(limits, peak);
      if (budget > limits.registers_per_thread) return false;
      total += budget * schedule_.groups[g].warps * limits.threads_per_warp;
    }
    return total <= limits.registers_per_sm;
  }

  /// Most schedules that fail do so here, and need no sentences of the other families.
  bool breaks_a_demand() const {
    std::vector<Violation> found;
    check_user({problem_, schedule_, found}, constraints_);
    return !found.empty();
  }

  bool judge() {
    for (std::size_t v = 0; v < count_; ++v) schedule_.ops[v].start = stage_[v] * ii_ + slot_[v];
    if (!absolute_) normalize_starts(schedule_);
    schedule_.depths = minimal_depths(problem_, schedule_);
    if (allocated(problem_, schedule_, Space::Smem) > problem_.limits.smem_bytes) return false;
    if (breaks_a_demand() || !check(problem_, schedule_, constraints_).valid()) return false;
    found_ = schedule_;
    if (!visit_) return true;
    const std::vector<RegisterUse> use = register_use(problem_, found_);
    for (std::size_t g = 0; g < use.size(); ++g)
      found_.groups[g].registers = static_cast<int>(register_budget(problem_.limits, use[g].peak));
    (*visit_)(found_);
    return false;
  }

  /// A value in registers.
  struct Alive {
    std::size_t group = 0;
    std::int64_t registers = 0;
    Cycle begin = 0, end = 0;
  };

  const Problem& problem_;
  const Constraints& constraints_;
  const Cycle ii_;
  const int stages_;
  std::int64_t budget_;
  const std::size_t count_;
  bool absolute_ = false, named_groups_ = false;
  Schedule schedule_, found_;
  const std::function<void(const Schedule&)>* visit_ = nullptr;
  std::vector<Cycle> slot_, stage_;
  std::vector<std::size_t> order_;
  std::vector<bool> waits_, placed_, touched_;
  std::vector<Alive> alive_;
  std::vector<std::int64_t> base_;
  std::vector<std::vector<Cycle>> gap_;
  std::vector<std::vector<std::int64_t>> units_;
  std::vector<std::vector<int>> issue_;
};

}  // namespace

BruteForce brute_force(const Problem& problem, Cycle ii, int stages, const Constraints& constraints, std::int64_t budget) {
  return Search(problem, ii, stages, constraints, budget).run();
}

bool brute_force_all(const Problem& problem, Cycle ii, int stages, const std::function<void(const Schedule&)>& visit,
                     const Constraints& constraints, std::int64_t budget) {
  return Search(problem, ii, stages, constraints, budget).run_all(visit);
}

BruteForceMinimum brute_force_minimum(const Problem& problem, int stages, Cycle limit, const Constraints& constraints,
                                      std::int64_t budget) {
  BruteForceMinimum result;
  for (Cycle ii = 1; ii <= limit; ++ii) {
    BruteForce at_ii = brute_force(problem, ii, stages, constraints, budget);
    result.gave_up |= at_ii.gave_up;
    if (!at_ii.schedule) continue;
    result.ii = ii;
    result.schedule = std::move(at_ii.schedule);
    break;
  }
  return result;
}

}  // namespace heddle::test
