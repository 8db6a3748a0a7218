// Booleans "op in group" and "same group"; windows and hand-offs as bounds under them.
#include "solver/relaxation/group_model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/base/integer_division.h"

namespace heddle::solver {
namespace {

class GroupBuilder {
 public:
  GroupBuilder(OrderModel& model, const Problem& problem, const RelaxedPart& part) : model_(model), problem_(problem), part_(part) {}

  void run() {
    make_groups();
    const int n = model_.size;
    for (int u = 0; u < n; ++u)
      for (int v = u + 1; v < n; ++v)
        if (is_free(u) && is_free(v)) add_windows(u, v);
    for (int i = 0; i < n; ++i) index_[part_.ops[i]] = i;
    for (const Edge& e : problem_.edges) add_handoff(e);
    index_entries(model_);
  }

 private:
  const Op& op(int i) const { return problem_.op(part_.ops[i]); }
  bool is_free(int i) const { return !op(i).variable_latency; }
  std::int32_t closed(int u, int v) const { return model_.closed[u * model_.size + v]; }
  OrderLit in_group(int i, std::size_t g) const { return model_.group_lits[i * model_.groups + g]; }

  void make_groups();
  void add_windows(int u, int v);
  void add_handoff(const Edge& e);
  OrderLit same_group(int u, int v);
  bool covered(int u, int v) const;
  std::optional<bool> known(int u, int v, Cycle apart) const;
  OrderLit at_least(int u, int v, Cycle apart);

  OrderModel& model_;
  const Problem& problem_;
  const RelaxedPart& part_;
  std::map<OpId, int> index_;
  std::map<std::pair<int, int>, OrderLit> same_;
  std::map<std::tuple<int, int, Cycle>, OrderLit> bounds_;
};

void GroupBuilder::make_groups() {
  model_.groups = problem_.max_groups - (problem_.has_producer_group() ? 1 : 0);
  const std::size_t w = model_.groups;
  model_.group_lits.assign(model_.size * w, -1);
  // Groups are alike: the i-th widest op is in one of the first i. First try: spread them.
  std::vector<int> order;
  for (int i = 0; i < model_.size; ++i)
    if (is_free(i)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return op(a).window > op(b).window; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    std::vector<OrderLit> some;
    for (std::size_t g = 0; g < w; ++g) {
      const OrderLit lit = add_plain_literal(model_, rank % w == g ? 1 : -1);
      model_.group_lits[order[rank] * w + g] = lit;
      if (g > rank)
        model_.clauses.push_back({negated(lit)});
      else
        some.push_back(lit);
      for (std::size_t h = 0; h < g; ++h) model_.clauses.push_back({negated(lit), negated(in_group(order[rank], h))});
    }
    model_.clauses.push_back(some);
  }
  for (std::size_t g = 0; g < w; ++g) {
    OrderLoad load;
    load.limit = model_.ii;
    for (int i : order) {
      if (op(i).window == 0) continue;
      load.lits.push_back(in_group(i, g));
      load.weights.push_back(static_cast<std::int32_t>(std::min<Cycle>(op(i).window, model_.ii + Cycle{1})));
    }
    model_.loads.push_back(std::move(load));
  }
}

OrderLit GroupBuilder::same_group(int u, int v) {
  const auto [at, fresh] = same_.try_emplace({std::min(u, v), std::max(u, v)}, 0);
  if (!fresh) return at->second;
  const OrderLit same = at->second = add_plain_literal(model_, -1);
  for (std::size_t g = 0; g < model_.groups; ++g) {
    const OrderLit a = in_group(u, g), b = in_group(v, g);
    model_.clauses.push_back({negated(a), negated(b), same});
    model_.clauses.push_back({negated(a), b, negated(same)});
    model_.clauses.push_back({a, negated(b), negated(same)});
  }
  return same;
}

/// The two exclude each other at least that much in any case.
bool GroupBuilder::covered(int u, int v) const {
  return std::any_of(part_.residues.begin(), part_.residues.end(), [&](const Residue& r) {
    const bool straight = r.u == u && r.v == v, turned = r.u == v && r.v == u;
    const Cycle low = straight ? r.low : model_.ii - r.high, high = straight ? r.high : model_.ii - r.low;
    return (straight || turned) && low >= op(u).window && high <= model_.ii - op(v).window;
  });
}

std::optional<bool> GroupBuilder::known(int u, int v, Cycle apart) const {
  if (closed(u, v) >= apart) return true;
  if (-closed(v, u) < apart) return false;
  return {};
}

/// Pre: not known.
OrderLit GroupBuilder::at_least(int u, int v, Cycle apart) {
  if (u > v) return negated(at_least(v, u, 1 - apart));
  const auto [at, fresh] = bounds_.try_emplace({u, v, apart}, 0);
  if (fresh) at->second = add_bound_literal(model_, u, v, static_cast<std::int32_t>(apart));
  return at->second;
}

/// In one group: for every k, s(v) - s(u) is at least k * II + the window of u, or at most k * II - the window of v.
void GroupBuilder::add_windows(int u, int v) {
  const Cycle wu = op(u).window, wv = op(v).window, ii = model_.ii;
  if (wu == 0 || wv == 0 || covered(u, v)) return;
  const OrderLit same = same_group(u, v);
  if (wu + wv > ii) {
    model_.clauses.push_back({negated(same)});
    return;
  }
  const Cycle first = floor_div(closed(u, v) - wu, ii) + 1, last = ceil_div(-closed(v, u) + wv, ii) - 1;
  for (Cycle k = first; k <= last; ++k) {
    std::vector<OrderLit> clause{negated(same)};
    bool holds = false;
    for (const auto& [a, b, apart] : {std::tuple(u, v, k * ii + wu), std::tuple(v, u, wv - k * ii)}) {
      const std::optional<bool> fact = known(a, b, apart);
      if (!fact) clause.push_back(at_least(a, b, apart));
      holds |= fact.value_or(false);
    }
    if (!holds) model_.clauses.push_back(std::move(clause));
  }
}

void GroupBuilder::add_handoff(const Edge& e) {
  if (e.handoff == 0 || e.from == e.to || !index_.contains(e.from) || !index_.contains(e.to)) return;
  const int u = index_[e.from], v = index_[e.to];
  if (!is_free(u) || !is_free(v)) return;                // for good in the differences, or never
  if (part_.component[u] != part_.component[v]) return;  // can be moved apart
  const Cycle apart = e.latency + e.handoff - e.distance * Cycle{model_.ii};
  const std::optional<bool> fact = known(u, v, apart);
  if (fact.value_or(false)) return;
  std::vector<OrderLit> clause{same_group(u, v)};
  if (!fact) clause.push_back(at_least(u, v, apart));
  model_.clauses.push_back(std::move(clause));
}

}  // namespace

bool has_group_choice(const Problem& problem) { return problem.max_groups - (problem.has_producer_group() ? 1 : 0) > 1; }

void add_groups(OrderModel& model, const Problem& problem, const RelaxedPart& part) { GroupBuilder(model, problem, part).run(); }

}  // namespace heddle::solver
