#include "solver/encoding/model.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "solver/encoding/finish_schedule.h"

namespace heddle::solver {

OpId anchor_of(const Problem& problem) {
  // Ops with many edges make worse anchors: refutations took up to twice as long.
  std::vector<std::int64_t> load(problem.units.size(), 0);
  for (const Op& op : problem.ops)
    for (const UnitUse& use : op.uses) load[use.unit.index()] = sat_add(load[use.unit.index()], sat_mul(use.duration, use.amount));
  OpId anchor;
  std::int64_t best = -1, best_load = -1;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    std::int64_t width = 0, unit_load = 0;
    for (const UnitUse& use : problem.ops[v].uses)
      if (load[use.unit.index()] > unit_load) {
        unit_load = load[use.unit.index()];
        width = sat_mul(use.duration, use.amount);
      }
    if (std::pair(unit_load, width) > std::pair(best_load, best)) {
      best_load = unit_load;
      best = width;
      anchor = OpId(v);
    }
  }
  return anchor;
}

Model::Model(const Problem& problem, const Constraints& constraints, const ModelOptions& options)
    : problem_(problem),
      constraints_(constraints),
      options_(options),
      backend_(options.seed, options.limits),
      closure_(problem, options.ii, options.stages, options.limits) {
  make_stages();
  make_groups();
  make_depths();
  if (options_.switchable) symmetry_ = backend_.new_lit();
  if (closure_.contradiction() && !options_.named) backend_.add_clause({});
}

void Model::make_stages() {
  const IntVar zero = backend_.new_int();
  OpId anchor;
  if (options_.anchored) anchor = options_.anchor.valid() ? options_.anchor : anchor_of(problem_);
  for (std::size_t v = 0; v < op_count(); ++v) {
    if (OpId(v) == anchor) {
      slots_.push_back(zero);
    } else {
      slots_.push_back(backend_.new_int());
      backend_.add_clause({backend_.at_least(slots_[v], zero, 0)});
      backend_.add_clause({backend_.at_least(zero, slots_[v], -(ii() - 1))});
    }
    std::vector<Lit> at_least;
    for (int j = 1; j < stages(); ++j) {
      at_least.push_back(backend_.new_lit());
      if (j > 1) backend_.add_clause({-at_least[j - 1], at_least[j - 2]});
    }
    stage_.push_back(std::move(at_least));
  }
  slots_.push_back(zero);
  stage_.emplace_back(static_cast<std::size_t>(std::max(0, stages() - 1)), kFalse);
}

Lit Model::stage_at_least(OpId op, int j) const {
  if (j <= 0) return kTrue;
  if (j >= stages()) return kFalse;
  return stage_[op.index()][static_cast<std::size_t>(j - 1)];
}

void Model::make_groups() {
  producer_group_ = problem_.has_producer_group();
  // More groups than ops (and the producer's) could only stay empty.
  groups_ = std::min(static_cast<std::size_t>(std::max(1, problem_.max_groups)), op_count() + 1);
  for (const Op& op : problem_.ops) {
    std::vector<Lit> membership(groups_, kFalse);
    const std::size_t first = producer_group_ ? 1 : 0;
    if (op.variable_latency) {
      membership[0] = kTrue;
    } else if (groups_ == first + 1) {
      membership[first] = kTrue;
    } else {
      for (std::size_t g = first; g < groups_; ++g) membership[g] = backend_.new_lit();
      backend_.add_clause(std::span<const Lit>(membership).subspan(first));  // no group left: a contradiction, as it should be
      for (std::size_t g = first; g < groups_; ++g)
        for (std::size_t h = g + 1; h < groups_; ++h) backend_.add_clause({-membership[g], -membership[h]});
    }
    in_group_.push_back(std::move(membership));
  }
  const auto width_of = [](const Op& op) { return op.aligned ? (op.warps + 3) / 4 * 4 : op.warps; };
  // Beside an aligned op a wider one that is none has to be rounded up as well: 5 warps and 4 aligned ones are 8.
  const auto rounds = [&](const Op& wide) {
    return !wide.aligned && wide.warps % 4 != 0 &&
           std::any_of(problem_.ops.begin(), problem_.ops.end(), [&](const Op& op) { return op.aligned && width_of(op) < wide.warps; });
  };
  const auto index_of = [&](int width) {
    return static_cast<std::size_t>(std::lower_bound(widths_.begin(), widths_.end(), width) - widths_.begin());
  };
  for (const Op& op : problem_.ops) {
    widths_.push_back(width_of(op));
    if (rounds(op)) widths_.push_back((op.warps + 3) / 4 * 4);
  }
  std::sort(widths_.begin(), widths_.end());
  widths_.erase(std::unique(widths_.begin(), widths_.end()), widths_.end());
  for (std::size_t g = 0; g < groups_; ++g) {
    std::vector<Lit> at_least;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      at_least.push_back(backend_.new_lit());
      if (i > 0) backend_.add_clause({-at_least[i], at_least[i - 1]});
    }
    for (std::size_t v = 0; v < op_count(); ++v) {
      const Op& op = problem_.ops[v];
      if (in_group_[v][g] == kFalse) continue;
      backend_.add_clause({-in_group_[v][g], at_least[index_of(width_of(op))]});
      if (!op.aligned) continue;
      for (const int width : widths_)
        if (width % 4 != 0 && width > width_of(op))
          backend_.add_clause({-in_group_[v][g], -at_least[index_of(width)], at_least[index_of((width + 3) / 4 * 4)]});
    }
    group_width_.push_back(std::move(at_least));
  }
}

void Model::make_depths() {
  for (const Channel& channel : problem_.channels) {
    std::vector<Lit> at_least;
    for (int j = 1; j <= channel.max_depth; ++j) {
      at_least.push_back(j == 1 && !channel.only_if_crossing ? kTrue : backend_.new_lit());
      if (j > 1) backend_.add_clause({-at_least[j - 1], at_least[j - 2]});
    }
    depths_.push_back(std::move(at_least));
  }
}

Lit Model::depth_at_least(ChannelId channel, int j) const {
  if (j <= 0) return kTrue;
  const std::vector<Lit>& at_least = depths_[channel.index()];
  return static_cast<std::size_t>(j) > at_least.size() ? kFalse : at_least[static_cast<std::size_t>(j - 1)];
}

Lit Model::same_group(OpId a, OpId b) {
  if (a == b) return kTrue;
  if (a > b) std::swap(a, b);
  if (never_same_group(problem_.op(a), problem_.op(b))) return kFalse;
  const auto [entry, fresh] = same_group_.try_emplace({a, b}, kFalse);
  if (!fresh) return entry->second;
  for (std::size_t g = 0; g < groups_; ++g)
    if (in_group(a, g) == kTrue && in_group(b, g) == kTrue) return entry->second = kTrue;
  const Backend::Unguarded definition(backend_);
  const Lit same = entry->second = backend_.new_lit();
  for (std::size_t g = 0; g < groups_; ++g) {
    const Lit in_a = in_group(a, g), in_b = in_group(b, g);
    backend_.add_clause({-in_a, -in_b, same});
    backend_.add_clause({-in_a, in_b, -same});
    backend_.add_clause({in_a, -in_b, -same});
  }
  return same;
}

Lit Model::apart_literal(OpId u, OpId v, Cycle cycles) {
  const auto [entry, fresh] = apart_.try_emplace({u, v, cycles}, kTrue);
  if (!fresh) return entry->second;
  const Backend::Unguarded definition(backend_);
  const Lit x = entry->second = backend_.new_lit();
  const int whole = static_cast<int>(floor_div(cycles, ii()));
  const Cycle rest = cycles - whole * ii();
  const Lit later = backend_.at_least(slot(v), slot(u), rest);
  for (int j = 0; j < stages(); ++j) {
    const Lit from = stage_at_least(u, j);
    if (from == kFalse) break;
    backend_.add_clause({-x, -from, stage_at_least(v, j + whole)});
    backend_.add_clause({-x, -from, stage_at_least(v, j + whole + 1), later});
    if (rest >= 2) backend_.add_clause({-x, -from, stage_at_least(v, j + whole + 2), backend_.at_least(slot(v), slot(u), rest - ii())});
  }
  return x;
}

Lit Model::apart(OpId u, OpId v, Cycle cycles) {
  if (u == v) return cycles <= 0 ? kTrue : kFalse;
  if (closure_.at(v, u) > -cycles) return kFalse;
  if (closure_.at(u, v) >= cycles) return kTrue;
  return apart_literal(u, v, cycles);
}

void Model::require_apart(OpId u, OpId v, Cycle cycles, std::span<const Lit> condition) {
  std::vector<Lit> clause;  // empty means: without condition
  for (Lit lit : condition) {
    if (lit == kTrue) return;
    if (lit != kFalse) clause.push_back(lit);
  }
  if (u == v) {
    if (cycles > 0) backend_.add_clause(clause);
    return;
  }
  if (u != origin() && v != origin() && !options_.named) {
    if (closure_.at(v, u) > -cycles) return backend_.add_clause(clause);
    // The closure is made of unconditional constraints, so those must be asserted; conditional ones may be dropped.
    if (!clause.empty() && closure_.at(u, v) >= cycles) return;
  }
  // Beyond the span of K stages nothing can be apart; also keeps stage numbers small.
  if (cycles > ii() * stages()) return backend_.add_clause(clause);
  if (cycles <= -(ii() * stages() - 1)) return;
  clause.push_back(apart_literal(u, v, cycles));
  backend_.add_clause(clause);
}

void Model::require_residue(OpId u, OpId v, Cycle low, Cycle length, std::span<const Lit> condition) {
  for (Lit lit : condition)
    if (lit == kTrue) return;
  if (length >= ii() - 1) return;
  std::vector<Lit> clause(condition.begin(), condition.end());
  low = low - floor_div(low, ii()) * ii();
  const Cycle high = low + length;
  if (length < 0 || (u == v && !(low == 0 || high >= ii()))) return backend_.add_clause(clause);
  if (u == v) return;
  // x = r(v) - r(u) lies in (-II, II); its allowed values are [low, high] shifted by multiples of II.
  const auto add = [&](Lit a, Lit b) {
    std::vector<Lit> lits = clause;
    lits.push_back(a);
    lits.push_back(b);
    backend_.add_clause(lits);
  };
  const auto at_least = [&](Cycle c) { return backend_.at_least(slot(v), slot(u), c); };
  const auto at_most = [&](Cycle c) { return backend_.at_least(slot(u), slot(v), -c); };
  if (high < ii()) {  // x in [low - II, high - II] or [low, high]
    add(at_most(high), kFalse);
    add(at_least(low - ii()), kFalse);
    add(at_least(low), at_most(high - ii()));
  } else {  // x <= high - 2 II, or [low - II, high - II], or x >= low
    add(at_least(low), at_most(high - ii()));
    add(at_least(low - ii()), at_most(high - 2 * ii()));
  }
}

Lit Model::stage_difference_at_least(OpId a, OpId b, int offset, int j) {
  const int needed = j - offset;  // k(a) - k(b) >= needed
  if (a == b) return needed <= 0 ? kTrue : kFalse;
  if (needed > stages() - 1) return kFalse;
  if (needed <= -(stages() - 1)) return kTrue;
  const auto [entry, fresh] = stage_difference_.try_emplace({a, b, needed}, kTrue);
  if (!fresh) return entry->second;
  const Backend::Unguarded definition(backend_);
  const Lit q = entry->second = backend_.new_lit();
  for (int i = 0; i < stages(); ++i)  // k(a) >= i and k(b) <= i - needed
    backend_.add_clause({-stage_at_least(a, i), stage_at_least(b, i - needed + 1), q});
  return q;
}

void Model::start_name(ConstraintName name) {
  const Lit guard = backend_.new_lit();
  names_.emplace_back(guard, std::move(name));
  backend_.set_guard(guard);
}

Schedule Model::extract() const {
  Schedule schedule;
  schedule.ii = ii();
  for (std::size_t v = 0; v < op_count(); ++v) {
    const OpId op{v};
    int stage = 0;
    while (stage + 1 < stages() && backend_.value(stage_at_least(op, stage + 1))) ++stage;
    Placement placement;
    placement.start = backend_.value(slot(op), slot(origin())) + stage * ii();
    for (std::size_t g = 0; g < groups_; ++g)
      if (in_group(op, g) != kFalse && backend_.value(in_group(op, g))) placement.group = GroupId(g);
    HEDDLE_ASSERT(placement.group.valid(), "every op is in a group");
    schedule.ops.push_back(placement);
  }
  finish_schedule(problem_, constraints_, schedule);
  return schedule;
}

}  // namespace heddle::solver
