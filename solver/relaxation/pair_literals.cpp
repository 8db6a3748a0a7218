#include "solver/relaxation/pair_literals.h"

#include <algorithm>

namespace heddle::solver {

OrderLit PairLiterals::same_group(int u, int v) {
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

std::optional<bool> PairLiterals::known(int u, int v, Cycle apart) const {
  const auto closed = [&](int a, int b) { return Cycle{model_.closed[a * model_.size + b]}; };
  if (closed(u, v) >= apart) return true;
  if (-closed(v, u) < apart) return false;
  return {};
}

OrderLit PairLiterals::at_least(int u, int v, Cycle apart) {
  if (u > v) return negated(at_least(v, u, 1 - apart));
  const auto [at, fresh] = bounds_.try_emplace({u, v, apart}, 0);
  if (fresh) at->second = add_bound_literal(model_, u, v, static_cast<std::int32_t>(apart));
  return at->second;
}

bool PairLiterals::put(std::vector<OrderLit>& clause, int u, int v, Cycle apart, bool holds) {
  const std::optional<bool> fact = known(u, v, apart);
  if (fact) return *fact == holds;
  const OrderLit lit = at_least(u, v, apart);
  clause.push_back(holds ? lit : negated(lit));
  return false;
}

}  // namespace heddle::solver
