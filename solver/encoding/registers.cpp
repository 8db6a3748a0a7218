// Copies of x alive at the start of y through reader v that needs it `hold` cycles longer:
//   floor((s(y) - s(x)) / II) - floor((s(y) - s(v) - hold) / II) + distance
// which, with hold = whole * II + rest, is q - 1 + [r(x) <= r(y)] + [r(y) < r(v) + rest] + [r(y) < r(v) + rest - II]
// for q = k(v) - k(x) + distance + whole. "At least j copies" is a literal implied by every way to reach j.

#include "solver/encoding/registers.h"

#include <algorithm>

#include "core/base/integer_division.h"

namespace heddle::solver {
namespace {

std::int64_t round_up(std::int64_t x, std::int64_t granule) { return ceil_div(x, granule) * granule; }

std::int64_t fixed_registers(const Problem& problem) { return problem.limits.register_overhead + problem.resident_registers; }

std::vector<std::int64_t> group_budgets(const Problem& problem, const Schedule& schedule) {
  std::vector<std::int64_t> budgets(schedule.groups.size(), -1);
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    if (!touches_registers(problem, OpId(v))) continue;
    std::int64_t& budget = budgets[schedule.ops[v].group.index()];
    budget = std::max(budget, round_up(registers_at(problem, schedule, OpId(v)), problem.limits.register_granule));
  }
  for (std::int64_t& budget : budgets)
    if (budget < 0) budget = round_up(problem.limits.producer_registers, problem.limits.register_granule);
  return budgets;
}

}  // namespace

bool touches_registers(const Problem& problem, OpId op) {
  for (const Value& v : problem.values)
    if (v.producer == op && v.space == Space::Register) return true;
  for (const Edge& e : problem.edges)
    if (e.to == op && e.value.valid() && problem.value(e.value).space == Space::Register) return true;
  return false;
}

std::int64_t registers_at(const Problem& problem, const Schedule& schedule, OpId at) {
  const Cycle ii = schedule.ii, now = schedule.start(at);
  std::int64_t total = fixed_registers(problem);
  std::vector<Cycle> copies(problem.values.size(), 0);
  for (std::size_t x = 0; x < problem.values.size(); ++x)
    if (schedule.group(problem.values[x].producer) == schedule.group(at)) {
      const Cycle age = now - schedule.start(problem.values[x].producer);
      copies[x] = floor_div(age, ii) - floor_div(age - 1, ii);  // every value lives at least one cycle
    }
  for (const Edge& e : problem.edges) {
    if (!e.value.valid() || problem.value(e.value).registers == 0) continue;
    const bool home = schedule.group(e.from) == schedule.group(at);
    if (!home) {
      if (e.to == at) total += problem.value(e.value).registers;
      continue;
    }
    if (schedule.group(e.to) != schedule.group(at)) continue;
    const Cycle alive = floor_div(now - schedule.start(e.from), ii) - floor_div(now - schedule.start(e.to) - e.hold, ii) + e.distance;
    copies[e.value.index()] = std::max(copies[e.value.index()], alive);
  }
  for (std::size_t x = 0; x < problem.values.size(); ++x) total += copies[x] * problem.values[x].registers;
  return total;
}

void set_register_budgets(const Problem& problem, Schedule& schedule) {
  const std::vector<std::int64_t> budgets = group_budgets(problem, schedule);
  for (std::size_t g = 0; g < budgets.size(); ++g) schedule.groups[g].registers = static_cast<int>(budgets[g]);
}

RegisterFamily::RegisterFamily(Model& model) : model_(model), constrained_(model.op_count(), false) {
  const heddle::Limits& limits = model.problem().limits;
  granule_ = std::max<std::int64_t>(1, limits.register_granule);
  cap_ = limits.registers_per_thread;
  for (const UserConstraint& c : model.constraints())
    if (c.enabled && c.kind == ConstraintKind::MaxRegisters) cap_ = std::min(cap_, c.high);
  cap_ = std::max<std::int64_t>(0, cap_ / granule_ * granule_);
}

void RegisterFamily::make_budgets() {
  Backend& backend = model_.backend();
  const Problem& problem = model_.problem();
  const Backend::Unguarded definition(backend);
  const auto levels = static_cast<std::size_t>(cap_ / granule_);
  const auto order = [&](const std::vector<Lit>& at_least) {
    for (std::size_t l = 1; l < at_least.size(); ++l) backend.add_clause({-at_least[l], at_least[l - 1]});
  };
  for (std::size_t l = 0; l < levels; ++l) peak_.push_back(backend.new_lit());
  order(peak_);
  std::vector<WeightedLit> file;
  std::vector<std::vector<Lit>> too_little;
  for (std::size_t g = 0; g < model_.group_count(); ++g) {
    std::vector<Lit> budget;
    for (std::size_t l = 0; l < levels; ++l) {
      budget.push_back(backend.new_lit());
      backend.add_clause({-budget[l], peak_[l]});
    }
    order(budget);
    // A group that touches no registers still gets what every group gets, if it has any op.
    std::vector<Lit> touched{-model_.width_at_least(g, 0)};
    for (std::size_t v = 0; v < model_.op_count(); ++v)
      if (touches_registers(problem, OpId(v))) touched.push_back(model_.in_group(OpId(v), g));
    for (std::size_t l = 0; l < levels && static_cast<std::int64_t>(l) * granule_ < problem.limits.producer_registers; ++l) {
      touched.push_back(budget[l]);
      backend.add_clause(touched);
      touched.pop_back();
    }
    if (problem.limits.producer_registers > cap_) too_little.push_back(touched);
    int below = 0;
    for (std::size_t i = 0; i < model_.widths().size(); ++i) {
      const std::int64_t threads = (model_.widths()[i] - below) * problem.limits.threads_per_warp;
      below = model_.widths()[i];
      const Lit wide = model_.width_at_least(g, i);
      for (Lit level : budget) {
        const Lit both = backend.new_lit();
        backend.add_clause({-wide, -level, both});
        file.push_back({threads * granule_, both});
      }
    }
    budgets_.push_back(std::move(budget));
  }
  model_.name(ConstraintFamily::Registers);
  for (const std::vector<Lit>& clause : too_little) backend.add_clause(clause);
  model_.name(ConstraintFamily::RegisterFile);
  backend.add_at_most(std::move(file), problem.limits.registers_per_sm);
}

void RegisterFamily::require(OpId at) {
  if (!constrained_[at.index()]) constrain(at);
}

Lit RegisterFamily::budget_at_most(std::int64_t registers) {
  if (budgets_.empty()) make_budgets();
  if (registers < 0) return kFalse;
  const std::int64_t level = registers / granule_;  // a budget of level + 1 granules must not be needed
  return level >= static_cast<std::int64_t>(peak_.size()) ? kTrue : -peak_[static_cast<std::size_t>(level)];
}

Lit RegisterFamily::budget_level(OpId at, std::size_t level) {
  Backend& backend = model_.backend();
  for (std::size_t g = 0; g < model_.group_count(); ++g)
    if (model_.in_group(at, g) == kTrue) return budgets_[g][level];
  const Lit granted = backend.new_lit();
  for (std::size_t g = 0; g < model_.group_count(); ++g) backend.add_clause({-model_.in_group(at, g), budgets_[g][level], -granted});
  return granted;
}

void RegisterFamily::count_copies(ValueId value, OpId at, std::vector<WeightedLit>& terms) {
  const Problem& problem = model_.problem();
  Backend& backend = model_.backend();
  const OpId producer = problem.value(value).producer;
  const int registers = problem.value(value).registers;
  const Lit at_home = model_.same_group(producer, at);
  if (at_home == kFalse) return;

  // One more copy than fits is enough to forbid it; and no reader is further away than its distance, its hold and all stages.
  std::int64_t furthest = 1;
  for (const Edge& e : problem.edges)
    if (e.value == value) furthest = std::max(furthest, e.distance + e.hold / model_.ii() + model_.stages() + 1);
  const int most = static_cast<int>(std::min(cap_ / registers + 1, furthest));
  std::vector<Lit> copies;  // [j-1]: at least j
  for (int j = 1; j <= most; ++j) copies.push_back(producer == at && j == 1 ? kTrue : kFalse);
  const auto literal = [&](int j) -> Lit {
    Lit& lit = copies[static_cast<std::size_t>(j - 1)];
    if (lit == kFalse) lit = backend.new_lit();
    return lit;
  };
  if (producer != at)  // defined at this very cycle: there even if no op reads it
    backend.add_clause({-at_home, -backend.at_least(model_.slot(at), model_.slot(producer), 0),
                        -backend.at_least(model_.slot(producer), model_.slot(at), 0), literal(1)});
  for (const Edge& e : problem.edges) {
    if (e.value != value) continue;
    const Lit reader_home = model_.same_group(producer, e.to);
    if (reader_home == kFalse) continue;
    const Cycle ii = model_.ii();
    const int whole = static_cast<int>(e.hold / ii);
    const Cycle rest = e.hold % ii;
    const int offset = e.distance + whole;
    const Lit started = producer == at ? kTrue : backend.at_least(model_.slot(at), model_.slot(producer), 0);
    const Lit ahead = backend.at_least(model_.slot(e.to), model_.slot(at), 1 - rest);
    const Lit far_ahead = rest == 0 ? kFalse : backend.at_least(model_.slot(e.to), model_.slot(at), ii + 1 - rest);
    const auto imply = [&](int j, int q, std::initializer_list<Lit> because) {
      const Lit enough = model_.stage_difference_at_least(e.to, producer, offset, q);
      if (enough == kFalse) return;
      std::vector<Lit> clause{-at_home, -reader_home, -enough};
      for (Lit lit : because) {
        if (lit == kFalse) return;
        clause.push_back(-lit);
      }
      clause.push_back(literal(j));
      backend.add_clause(clause);
    };
    for (int j = producer == at ? 2 : 1; j <= most; ++j) {
      if (offset + model_.stages() - 1 + 2 < j) break;  // q is at most that, and no more than two brackets add to q - 1 + ...
      imply(j, j + 1, {});
      imply(j, j, {started});
      imply(j, j, {ahead});
      imply(j, j - 1, {started, ahead});
      imply(j, j - 1, {far_ahead});
      imply(j, j - 2, {started, far_ahead});
    }
  }
  for (Lit lit : copies)
    if (lit != kFalse) terms.push_back({registers, lit});
}

void RegisterFamily::constrain(OpId at) {
  if (budgets_.empty()) make_budgets();
  constrained_[at.index()] = true;
  const Problem& problem = model_.problem();
  model_.name(ConstraintFamily::Registers, 0, {at});
  std::vector<WeightedLit> terms;
  for (std::size_t x = 0; x < problem.values.size(); ++x)
    if (problem.values[x].registers > 0) count_copies(ValueId(x), at, terms);
  for (const Edge& e : problem.edges)
    if (e.to == at && e.value.valid() && problem.value(e.value).registers > 0)
      terms.push_back({problem.value(e.value).registers, -model_.same_group(e.from, at)});
  for (std::size_t l = 0; l < peak_.size(); ++l) terms.push_back({granule_, -budget_level(at, l)});
  const std::int64_t available = granule_ * static_cast<std::int64_t>(peak_.size()) - fixed_registers(problem);
  if (available < 0)
    model_.backend().add_clause({});
  else
    model_.backend().add_at_most(std::move(terms), available);
}

bool RegisterFamily::refine(const Schedule& schedule, std::optional<std::int64_t> tighter_cap) {
  const std::int64_t cap = tighter_cap.value_or(cap_);
  const Problem& problem = model_.problem();
  std::vector<OpId> broken;
  const std::vector<std::int64_t> budgets = group_budgets(problem, schedule);
  std::int64_t file = 0;
  for (std::size_t g = 0; g < budgets.size(); ++g) file += budgets[g] * schedule.groups[g].warps * problem.limits.threads_per_warp;
  const bool over_file = file > problem.limits.registers_per_sm;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const OpId op{v};
    if (constrained_[v] || !touches_registers(problem, op)) continue;
    const std::int64_t used = registers_at(problem, schedule, op);
    // Over the file: the peaks, and what comes close, or the next round meets the same wall one op further.
    if (round_up(used, granule_) > cap || (over_file && 4 * round_up(used, granule_) >= 3 * budgets[schedule.group(op).index()]))
      broken.push_back(op);
  }
  const bool over_cap = std::any_of(budgets.begin(), budgets.end(), [&](std::int64_t budget) { return budget > cap; });
  if ((over_file || over_cap) && budgets_.empty()) {  // the least that every group gets may already be too much
    make_budgets();
    for (OpId op : broken) constrain(op);
    return true;
  }
  for (OpId op : broken) constrain(op);
  return !broken.empty();
}

}  // namespace heddle::solver
