// Literals of the order search about two ops: whether they share a warp group, and how far apart they start. Each is made once.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "solver/relaxation/order_model.h"

namespace heddle::solver {

class PairLiterals {
 public:
  /// Pre: the model's groups are made before same_group is asked.
  explicit PairLiterals(OrderModel& model) : model_(model) {}

  OrderLit in_group(int op, std::size_t group) const { return model_.group_lits[op * model_.groups + group]; }
  /// Pre: two ops whose groups are decided.
  OrderLit same_group(int u, int v);
  /// Whether s(v) - s(u) >= apart, where the differences tell.
  std::optional<bool> known(int u, int v, Cycle apart) const;
  /// The literal of s(v) - s(u) >= apart. Pre: not known.
  OrderLit at_least(int u, int v, Cycle apart);
  /// Adds "s(v) - s(u) >= apart", or its contrary, to a clause, unless it is false for good; true when it holds for good.
  bool put(std::vector<OrderLit>& clause, int u, int v, Cycle apart, bool holds = true);

 private:
  OrderModel& model_;
  std::map<std::pair<int, int>, OrderLit> same_;
  std::map<std::tuple<int, int, Cycle>, OrderLit> bounds_;
};

}  // namespace heddle::solver
