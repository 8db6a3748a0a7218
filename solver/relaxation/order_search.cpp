#include "solver/relaxation/order_search.h"

#include <algorithm>

#include "core/base/assert.h"

namespace heddle::solver {
namespace {

constexpr std::int64_t kRestartUnit = 60;  // conflicts, times the Luby sequence
constexpr std::int64_t kForgetEvery = 2000, kForgetGrowth = 300;
constexpr std::uint64_t kUnitEntries = 2500;  // of the closure, for one unit of effort
constexpr int kDeepest = 20;                  // of the search for implied literals

/// 1 1 2 1 1 2 4 1 1 2 ..., from i = 1.
std::int64_t luby(std::int64_t i) {
  while (true) {
    std::int64_t k = 1;
    while ((std::int64_t{1} << k) - 1 < i) ++k;
    if ((std::int64_t{1} << k) - 1 == i) return std::int64_t{1} << (k - 1);
    i -= (std::int64_t{1} << (k - 1)) - 1;
  }
}

}  // namespace

OrderSearch::OrderSearch(const RelaxedPart& part, OrderModel model)
    : model_(std::move(model)),
      closure_(model_.closed.empty() ? 0 : model_.size, model_.closed),
      sums_(model_.ranges.empty() ? RelaxedPart{} : part, model_),
      clauses_(model_.bounds.size()),
      heap_(model_.variables()) {
  const std::size_t variables = model_.variables();
  value_.assign(2 * variables, 0);
  phase_.assign(variables, 0);
  level_of_.assign(variables, 0);
  position_.assign(variables, 0);
  reason_.resize(variables);
  replaced_.assign(variables, 0);
  seen_.assign(variables, Seen::No);
  counted_.assign(variables + 1, 0);
  for (const OrderRange& range : model_.ranges) {
    low_.push_back(range.first);
    high_.push_back(range.last);
  }
  shares_.resize(2 * variables);
  loaded_.assign(model_.loads.size(), 0);
  for (std::size_t i = 0; i < model_.loads.size(); ++i)
    for (std::size_t k = 0; k < model_.loads[i].lits.size(); ++k)
      shares_[model_.loads[i].lits[k]].push_back({static_cast<int>(i), model_.loads[i].weights[k]});
  for (const std::vector<OrderLit>& clause : model_.clauses)
    if (clause.size() > 1) clauses_.add(clause, 0);
}

void OrderSearch::assign(OrderLit lit, Reason why) {
  const int v = variable_of(lit), residue = model_.residue_of[v];
  value_[lit] = 1;
  value_[negated(lit)] = -1;
  level_of_[v] = level();
  position_[v] = static_cast<int>(trail_.size());
  reason_[v] = why;
  trail_.push_back(lit);
  if (residue < 0) return;
  const OrderRange& range = model_.ranges[residue];
  const std::int32_t k = range.first + 1 + v - range.variable;
  std::int32_t& bound = is_negated(lit) ? high_[residue] : low_[residue];
  replaced_[v] = bound;
  bound = is_negated(lit) ? std::min(bound, k - 1) : std::max(bound, k);
  if (bound != replaced_[v]) sums_.set(residue, low_[residue], high_[residue], true);
}

void OrderSearch::backtrack(int to) {
  if (level() <= to) return;
  const Level& target = levels_[to];
  for (std::size_t i = trail_.size(); i-- > target.trail;) {
    const OrderLit lit = trail_[i];
    const int v = variable_of(lit), residue = model_.residue_of[v];
    value_[lit] = value_[negated(lit)] = 0;
    phase_[v] = is_negated(lit) ? -1 : 1;
    heap_.push(v);
    if (i < clause_head_)
      for (const Share& share : shares_[lit]) loaded_[share.load] -= share.weight;
    if (residue < 0) continue;
    std::int32_t& bound = is_negated(lit) ? high_[residue] : low_[residue];
    if (bound == replaced_[v]) continue;
    bound = replaced_[v];
    sums_.set(residue, low_[residue], high_[residue], false);
  }
  trail_.resize(target.trail);
  closure_.undo_to(target.closure);
  added_.resize(target.sums);
  clause_head_ = bound_head_ = target.trail;
  levels_.resize(to);
}

/// To a fixpoint, or false and a conflict.
bool OrderSearch::propagate() {
  conflict_.clear();
  while (true) {
    if (!propagate_clauses()) return false;
    if (bound_head_ < trail_.size()) {
      const OrderLit lit = trail_[bound_head_++];
      const OrderBound& b = model_.bounds[lit];
      if (b.from >= 0 && !insert({b.from, b.to, b.weight, lit})) return false;
      continue;
    }
    const std::int64_t before = insertions_;
    if (!add_sums()) return false;
    if (insertions_ == before) return true;
  }
}

bool OrderSearch::propagate_clauses() {
  while (clause_head_ < trail_.size()) {
    const OrderLit next = trail_[clause_head_++];
    if (!propagate_loads(next)) return false;
    const int failed = clauses_.propagate(
        next, [&](OrderLit lit) { return value_[lit]; },
        [&](OrderLit lit, int clause) {
          assign(lit, {Reason::Kind::Clause, clause});
        });
    if (failed < 0) continue;
    clauses_.use(failed);
    for (OrderLit lit : clauses_.lits(failed)) conflict_.push_back(negated(lit));
    return false;
  }
  return true;
}

/// What no longer fits beside the true literals of a load is false.
bool OrderSearch::propagate_loads(OrderLit lit) {
  for (const Share& share : shares_[lit]) loaded_[share.load] += share.weight;
  for (const Share& share : shares_[lit]) {
    const OrderLoad& load = model_.loads[share.load];
    for (std::size_t k = 0; k < load.lits.size(); ++k) {
      const OrderLit other = load.lits[k];
      if (value_[other] < 0 || loaded_[share.load] + (value_[other] > 0 ? 0 : load.weights[k]) <= load.limit) continue;
      if (value_[other] == 0) {
        assign(negated(other), {Reason::Kind::Load, share.load});
        continue;
      }
      for (OrderLit x : load.lits)
        if (value_[x] > 0) conflict_.push_back(x);
      return false;
    }
  }
  return true;
}

bool OrderSearch::insert(const DifferenceClosure::Bound& bound) {
  if (closure_.contradicts(bound)) {
    explain_cause(bound.cause, conflict_);
    explain(closure_.now(bound.to, bound.from), closure_.at(bound.to, bound.from) + bound.weight - 1, conflict_);
    return false;
  }
  ++insertions_;
  closure_.add(bound, [&](const DifferenceClosure::Change& change) { settle(change); });
  return conflict_.empty();
}

/// Sets what a risen entry decides.
void OrderSearch::settle(const DifferenceClosure::Change& change) {
  const int entry = change.from * model_.size + change.to;
  for (std::int32_t i = model_.entry_begin[entry]; i < model_.entry_begin[entry + 1]; ++i) {
    const OrderLit lit = model_.entry_lits[i];
    const std::int32_t threshold = model_.bounds[lit].threshold;
    if (threshold <= change.before || threshold > change.after || value_[lit] > 0) continue;
    if (value_[lit] == 0) {
      assign(lit, {Reason::Kind::Closure, change.moment});
    } else if (conflict_.empty()) {
      conflict_.push_back(negated(lit));
      explain(change.moment, change.after - threshold, conflict_);
    }
  }
}

bool OrderSearch::add_sums() {
  return sums_.each(closure_, [&](const BetweenSums::Sum& sum) {
    added_.push_back({sum.because, static_cast<int>(trail_.size())});
    return insert({sum.from, sum.to, sum.weight, -static_cast<std::int32_t>(added_.size())});
  });
}

void OrderSearch::explain(DifferenceClosure::Moment moment, std::int32_t slack, std::vector<OrderLit>& lits) {
  causes_.clear();
  closure_.explain(moment, slack, root_bounds_, causes_);
  for (std::int32_t cause : causes_) explain_cause(cause, lits);
}

void OrderSearch::explain_cause(std::int32_t cause, std::vector<OrderLit>& lits) const {
  if (cause >= 0) {
    lits.push_back(cause);
    return;
  }
  const AddedSum& sum = added_[-1 - cause];
  for (const BetweenSums::Statement& statement : sum.because)
    if (const OrderLit lit = literal_of(statement, sum.before); lit >= 0) lits.push_back(lit);
}

/// The weakest literal true before that position that says so; -1 where q was like that from the beginning.
OrderLit OrderSearch::literal_of(const BetweenSums::Statement& statement, int before) const {
  const OrderRange& range = model_.ranges[statement.residue];
  const auto holds = [&](int v, bool yes) { return value_[2 * v + (yes ? 0 : 1)] > 0 && position_[v] < before; };
  const int count = range.last - range.first;
  if (statement.at_least) {  // q >= k, or some larger k
    if (statement.k <= range.first) return -1;
    for (int i = statement.k - range.first - 1; i < count; ++i)
      if (holds(range.variable + i, true)) return 2 * (range.variable + i);
  } else {  // not q >= k + 1, or some smaller
    if (statement.k >= range.last) return -1;
    for (int i = statement.k - range.first; i >= 0; --i)
      if (holds(range.variable + i, false)) return 2 * (range.variable + i) + 1;
  }
  HEDDLE_ASSERT(false, "a sum rests on an order that was never set");
  return -1;
}

/// The true literals that imply a true literal.
std::vector<OrderLit> OrderSearch::reasons(OrderLit lit) {
  std::vector<OrderLit> lits;
  const Reason why = reason_[variable_of(lit)];
  if (why.kind == Reason::Kind::Clause) {
    for (OrderLit other : clauses_.lits(why.index))
      if (other != lit) lits.push_back(negated(other));
  } else if (why.kind == Reason::Kind::Closure) {
    explain(why.index, closure_.value_at(why.index) - model_.bounds[lit].threshold, lits);
  } else if (why.kind == Reason::Kind::Load) {
    for (OrderLit other : model_.loads[why.index].lits)
      if (value_[other] > 0 && position_[variable_of(other)] < position_[variable_of(lit)]) lits.push_back(other);
  }
  return lits;
}

/// Whether the rest of the conflict implies this true literal.
bool OrderSearch::implied(OrderLit lit, int depth) {
  const int v = variable_of(lit);
  if (reason_[v].kind == Reason::Kind::Decision || depth > kDeepest) return false;
  Seen verdict = Seen::Implied;
  for (OrderLit reason : reasons(lit)) {
    const int w = variable_of(reason);
    if (level_of_[w] == 0 || seen_[w] == Seen::InConflict || seen_[w] == Seen::Implied) continue;
    if (seen_[w] == Seen::No && implied(reason, depth + 1)) continue;
    verdict = Seen::NotImplied;
    break;
  }
  if (seen_[v] == Seen::No) {
    seen_[v] = verdict;
    touched_.push_back(v);
  }
  return verdict == Seen::Implied;
}

/// Learns from the conflict up to the first unique implication point; returns the level to go back to, or -1 when the
/// conflict needs no decision.
int OrderSearch::analyze() {
  int top = 0;
  for (OrderLit lit : conflict_) top = std::max(top, level_of_[variable_of(lit)]);
  if (top == 0) return -1;
  backtrack(top);
  learnt_.assign(1, 0);
  touched_.clear();
  int open = 0;
  std::size_t at = trail_.size();
  std::vector<OrderLit> because = conflict_;
  while (true) {
    for (OrderLit lit : because) {
      const int v = variable_of(lit);
      if (seen_[v] != Seen::No || level_of_[v] == 0) continue;
      seen_[v] = Seen::InConflict;
      touched_.push_back(v);
      heap_.bump(v);
      if (level_of_[v] == top)
        ++open;
      else
        learnt_.push_back(negated(lit));
    }
    do --at;
    while (seen_[variable_of(trail_[at])] == Seen::No);
    if (--open == 0) break;
    const Reason& why = reason_[variable_of(trail_[at])];
    if (why.kind == Reason::Kind::Clause) clauses_.use(why.index);
    because = reasons(trail_[at]);
  }
  learnt_[0] = negated(trail_[at]);
  std::erase_if(learnt_, [&](OrderLit lit) { return lit != learnt_[0] && implied(negated(lit), 0); });
  for (int v : touched_) seen_[v] = Seen::No;
  int back = 0;
  for (std::size_t i = 1; i < learnt_.size(); ++i)
    if (level_of_[variable_of(learnt_[i])] > back) {
      back = level_of_[variable_of(learnt_[i])];
      std::swap(learnt_[1], learnt_[i]);
    }
  return back;
}

/// Adds the learnt clause after going back: its first literal is now implied.
void OrderSearch::learn() {
  if (learnt_.size() == 1) {
    assign(learnt_[0], {});
    return;
  }
  int spanned = 1;
  for (std::size_t i = 1; i < learnt_.size(); ++i) {
    std::int64_t& counted = counted_[level_of_[variable_of(learnt_[i])]];
    spanned += counted != conflicts_;
    counted = conflicts_;
  }
  assign(learnt_[0], {Reason::Kind::Clause, clauses_.add(learnt_, spanned)});
}

/// Opens a level; false when everything is decided.
bool OrderSearch::decide() {
  while (!heap_.empty()) {
    const int v = heap_.pop();
    if (value_[2 * v] != 0) continue;
    levels_.push_back({trail_.size(), added_.size(), closure_.mark()});
    const std::int8_t phase = phase_[v] != 0 ? phase_[v] : model_.first_try[v];
    bool yes = phase > 0;
    if (phase == 0) {  // towards the middle of what the difference may be
      const OrderBound &up = model_.bounds[2 * v], &down = model_.bounds[2 * v + 1];
      yes = closure_.at(up.from, up.to) - closure_.at(up.to, up.from) >= up.weight - down.weight;
    }
    assign(2 * v + (yes ? 0 : 1), {});
    return true;
  }
  return false;
}

Answer OrderSearch::run(std::uint64_t& effort, const QueryLimits& limits) {
  if (model_.refuted) return Answer::No;
  if (model_.too_large) return Answer::Unknown;
  const std::uint64_t allowed = effort;
  const std::uint64_t each = 1 + static_cast<std::uint64_t>(model_.size) * model_.size / kUnitEntries;
  const auto used = [&] { return insertions_ * each; };
  const auto answer = [&](Answer a) {
    effort = allowed - std::min(allowed, used());
    return a;
  };
  for (const std::vector<OrderLit>& clause : model_.clauses) {
    if (clause.size() > 1) continue;
    if (clause.empty() || value_[clause[0]] < 0) return answer(Answer::No);
    if (value_[clause[0]] == 0) assign(clause[0], {});
  }
  std::int64_t restarts = 0, restart_at = 0, forgets = 0, forget_at = kForgetEvery;
  for (std::uint64_t steps = 0;; ++steps) {
    if (steps % 64 == 0 && (limits.stop.stop_requested() || Clock::now() >= limits.deadline)) return answer(Answer::Unknown);
    if (!propagate()) {
      ++conflicts_;
      const int back = analyze();
      if (back < 0) return answer(Answer::No);
      backtrack(back);
      learn();
      heap_.decay();
      if (conflicts_ >= forget_at) {
        clauses_.forget([&](int clause) {
          const OrderLit first = clauses_.lits(clause)[0];
          const Reason& why = reason_[variable_of(first)];
          return value_[first] > 0 && why.kind == Reason::Kind::Clause && why.index == clause;
        });
        forget_at = conflicts_ + kForgetEvery + kForgetGrowth * ++forgets;
      }
      continue;
    }
    if (level() == 0) root_bounds_ = closure_.mark().bounds;
    if (used() > allowed) return answer(Answer::Unknown);
    if (conflicts_ >= restart_at) {
      restart_at = conflicts_ + kRestartUnit * luby(++restarts);
      if (level() > 0) {
        backtrack(0);
        continue;
      }
    }
    if (!decide()) return answer(Answer::Yes);
  }
}

std::vector<Cycle> OrderSearch::starts() const {
  std::vector<Cycle> starts(model_.size, 0);
  for (int v = 0; v < model_.size; ++v)
    for (int u = 0; u < model_.size; ++u) starts[v] = std::max<Cycle>(starts[v], closure_.at(u, v));
  return starts;
}

std::vector<int> OrderSearch::groups() const {
  std::vector<int> groups(model_.size, -1);
  for (std::size_t i = 0; i < model_.group_lits.size(); ++i)
    if (model_.group_lits[i] >= 0 && value_[model_.group_lits[i]] > 0) groups[i / model_.groups] = static_cast<int>(i % model_.groups);
  return groups;
}

}  // namespace heddle::solver
