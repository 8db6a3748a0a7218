// The unknowns are Booleans "op in group" and "same group"; windows and hand-offs are bounds under them.
#include "solver/relaxation/group_model.h"

#include <algorithm>
#include <map>

#include "core/base/integer_division.h"
#include "solver/encoding/homes.h"
#include "solver/relaxation/pair_literals.h"

namespace heddle::solver {
namespace {

class GroupBuilder {
 public:
  GroupBuilder(OrderModel& model, const Problem& problem, const RelaxedPart& part, const GroupRegisters* registers)
      : model_(model), problem_(problem), part_(part), registers_(registers), pairs_(model) {}

  void run() {
    make_groups();
    const int n = model_.size;
    for (int u = 0; u < n; ++u)
      for (int v = u + 1; v < n; ++v)
        if (is_free(u) && is_free(v)) add_windows(u, v);
    for (int i = 0; i < n; ++i) index_[part_.ops[i]] = i;
    for (const Edge& e : problem_.edges) add_handoff(e);
    if (registers_) add_registers(model_, pairs_, problem_, part_, *registers_);
    index_entries(model_);
  }

 private:
  const Op& op(int i) const { return problem_.op(part_.ops[i]); }
  bool is_free(int i) const { return !op(i).variable_latency; }
  std::int32_t closed(int u, int v) const { return model_.closed[u * model_.size + v]; }

  void make_groups();
  void add_windows(int u, int v);
  void add_handoff(const Edge& e);
  bool covered(int u, int v) const;

  OrderModel& model_;
  const Problem& problem_;
  const RelaxedPart& part_;
  const GroupRegisters* registers_;
  PairLiterals pairs_;
  std::map<OpId, int> index_;
};

void GroupBuilder::make_groups() {
  model_.groups = problem_.max_groups - (problem_.has_producer_group() ? 1 : 0);
  const std::size_t w = model_.groups;
  model_.group_lits.assign(model_.size * w, -1);
  // Groups are alike: the i-th widest op is in one of the first i. First try: spread them, or where registers count, each at home.
  std::vector<std::optional<std::size_t>> home(problem_.ops.size());
  if (registers_) home = homes_of(problem_, 0, w);
  std::vector<int> order;
  for (int i = 0; i < model_.size; ++i)
    if (is_free(i)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return op(a).window > op(b).window; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    std::vector<OrderLit> some;
    const std::size_t first = home[part_.ops[order[rank]].index()].value_or(rank % w);
    for (std::size_t g = 0; g < w; ++g) {
      const OrderLit lit = add_plain_literal(model_, first == g ? 1 : -1);
      model_.group_lits[order[rank] * w + g] = lit;
      if (g > rank)
        model_.clauses.push_back({negated(lit)});
      else
        some.push_back(lit);
      for (std::size_t h = 0; h < g; ++h) model_.clauses.push_back({negated(lit), negated(pairs_.in_group(order[rank], h))});
    }
    model_.clauses.push_back(some);
  }
  for (std::size_t g = 0; g < w; ++g) {
    OrderLoad load;
    load.limit = model_.ii;
    for (int i : order) {
      if (op(i).window == 0) continue;
      load.lits.push_back(pairs_.in_group(i, g));
      load.weights.push_back(static_cast<std::int32_t>(std::min<Cycle>(op(i).window, model_.ii + Cycle{1})));
    }
    model_.loads.push_back(std::move(load));
  }
}

/// The two exclude each other at least that much in any case.
bool GroupBuilder::covered(int u, int v) const {
  return std::any_of(part_.residues.begin(), part_.residues.end(), [&](const Residue& r) {
    const bool straight = r.u == u && r.v == v, turned = r.u == v && r.v == u;
    const Cycle low = straight ? r.low : model_.ii - r.high, high = straight ? r.high : model_.ii - r.low;
    return (straight || turned) && low >= op(u).window && high <= model_.ii - op(v).window;
  });
}

/// In one group: for every k, s(v) - s(u) is at least k * II + the window of u, or at most k * II - the window of v.
void GroupBuilder::add_windows(int u, int v) {
  const Cycle wu = op(u).window, wv = op(v).window, ii = model_.ii;
  if (wu == 0 || wv == 0 || covered(u, v)) return;
  const OrderLit same = pairs_.same_group(u, v);
  if (wu + wv > ii) {
    model_.clauses.push_back({negated(same)});
    return;
  }
  const Cycle first = floor_div(closed(u, v) - wu, ii) + 1, last = ceil_div(-closed(v, u) + wv, ii) - 1;
  for (Cycle k = first; k <= last; ++k) {
    std::vector<OrderLit> clause{negated(same)};
    const bool after = pairs_.put(clause, u, v, k * ii + wu), before = pairs_.put(clause, v, u, wv - k * ii);
    if (!after && !before) model_.clauses.push_back(std::move(clause));
  }
}

void GroupBuilder::add_handoff(const Edge& e) {
  if (e.handoff == 0 || e.from == e.to || !index_.contains(e.from) || !index_.contains(e.to)) return;
  const int u = index_[e.from], v = index_[e.to];
  if (!is_free(u) || !is_free(v)) return;                // for good in the differences, or never
  if (part_.component[u] != part_.component[v]) return;  // can be moved apart
  const Cycle apart = e.latency + e.handoff - e.distance * Cycle{model_.ii};
  if (pairs_.known(u, v, apart).value_or(false)) return;
  std::vector<OrderLit> clause{pairs_.same_group(u, v)};
  pairs_.put(clause, u, v, apart);
  model_.clauses.push_back(std::move(clause));
}

}  // namespace

bool has_group_choice(const Problem& problem) { return problem.max_groups - (problem.has_producer_group() ? 1 : 0) > 1; }

void add_groups(OrderModel& model, const Problem& problem, const RelaxedPart& part, const GroupRegisters* registers) {
  GroupBuilder(model, problem, part, registers).run();
}

}  // namespace heddle::solver
