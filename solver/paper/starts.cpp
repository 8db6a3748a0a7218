// Order encoding: s_v >= t + 1 implies s_v >= t.
#include "solver/paper/starts.h"

#include <algorithm>

namespace heddle::solver::paper {

Starts::Starts(Backend& backend, const PaperGraph& graph, Cycle ii, Cycle length) : backend_(backend), graph_(graph), ii_(ii) {
  for (const PaperNode& node : graph.nodes) {
    const Cycle last = std::min(length - node.cycles, length - 1);
    possible_ = possible_ && last >= 0;
    std::vector<Lit> row;
    for (Cycle t = 1; t <= last; ++t) {
      row.push_back(backend.new_lit());
      if (t > 1) backend.add_clause({-row.back(), row[row.size() - 2]});
    }
    ge_.push_back(std::move(row));
    at_.emplace_back(static_cast<std::size_t>(std::max<Cycle>(last + 1, 0)), 0);
    slot_.emplace_back(static_cast<std::size_t>(ii), 0);
  }
  if (!possible_) backend.add_clause({});
}

Lit Starts::at_least(std::size_t op, Cycle t) const {
  if (t <= 0) return kTrue;
  return t > last(op) ? kFalse : ge_[op][static_cast<std::size_t>(t - 1)];
}

Lit Starts::at(std::size_t op, Cycle t) {
  if (t < 0 || t > last(op)) return kFalse;
  Lit& lit = at_[op][static_cast<std::size_t>(t)];
  if (lit != 0) return lit;
  const Lit from = at_least(op, t), next = at_least(op, t + 1);
  if (from == kTrue) return lit = -next;
  if (next == kFalse) return lit = from;
  lit = backend_.new_lit();
  backend_.add_clause({-lit, from});
  backend_.add_clause({-lit, -next});
  backend_.add_clause({-from, next, lit});
  return lit;
}

Lit Starts::slot(std::size_t op, Cycle slot) {
  Lit& lit = slot_[op][static_cast<std::size_t>(slot)];
  if (lit != 0) return lit;
  if (slot > last(op)) return lit = kFalse;
  if (slot + ii_ > last(op)) return lit = at(op, slot);
  const Lit fresh = backend_.new_lit();
  for (Cycle t = slot; t <= last(op); t += ii_) backend_.add_clause({-at(op, t), fresh});
  return lit = fresh;
}

void Starts::depend(const Arc& arc, Cycle delay, Lit condition) {
  const Cycle shift = delay - arc.distance * ii_;
  if (arc.from == arc.to) {
    if (shift > 0) backend_.add_clause({-condition});
    return;
  }
  // s_from >= t implies s_to >= t + shift; below that start everything is implied already.
  for (Cycle t = std::max<Cycle>(0, 1 - shift); t <= last(arc.from); ++t) {
    backend_.add_clause({-condition, -at_least(arc.from, t), at_least(arc.to, t + shift)});
    if (t + shift > last(arc.to)) break;
  }
}

void Starts::capacity() {
  for (std::size_t unit = 0; unit < graph_.unit_capacity.size(); ++unit) {
    std::vector<std::vector<WeightedLit>> rows(static_cast<std::size_t>(ii_));
    std::vector<std::int64_t> always(static_cast<std::size_t>(ii_), 0);
    for (std::size_t v = 0; v < graph_.nodes.size(); ++v)
      for (const TableUse& use : graph_.nodes[v].table) {
        if (use.unit != unit) continue;
        const Cycle wraps = use.duration / ii_, rest = use.duration % ii_;
        for (Cycle r = 0; r < ii_; ++r) {
          always[static_cast<std::size_t>(r)] += wraps * use.amount;
          if (rest == 0) continue;
          const Lit active = rest == 1 ? slot(v, ((r - use.offset) % ii_ + ii_) % ii_) : backend_.new_lit();
          if (rest > 1)
            for (Cycle c = use.offset; c < use.offset + rest; ++c) backend_.add_clause({-slot(v, ((r - c) % ii_ + ii_) % ii_), active});
          rows[static_cast<std::size_t>(r)].push_back({use.amount, active});
        }
      }
    for (Cycle r = 0; r < ii_; ++r) {
      const auto at = static_cast<std::size_t>(r);
      backend_.add_at_most(std::move(rows[at]), graph_.unit_capacity[unit] - always[at]);
    }
  }
}

std::vector<Cycle> Starts::values() const {
  std::vector<Cycle> starts;
  for (const auto& row : ge_) {
    Cycle start = 0;
    for (const Lit lit : row) start += backend_.value(lit);
    starts.push_back(start);
  }
  return starts;
}

void Starts::exclude(const std::vector<Cycle>& starts) {
  std::vector<Lit> clause;
  for (std::size_t v = 0; v < starts.size(); ++v) clause.push_back(-at(v, starts[v]));
  backend_.add_clause(clause);
}

}  // namespace heddle::solver::paper
