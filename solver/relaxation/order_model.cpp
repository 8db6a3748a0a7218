// Root level: residues tighten differences and differences tighten residues until neither changes.
#include "solver/relaxation/order_model.h"

#include <algorithm>

#include "core/base/integer_division.h"

namespace heddle::solver {
namespace {

constexpr Cycle kLargest = Cycle{1} << 27;  // any sum of a few entries stays far from 2^31

/// Raises one entry and whatever follows; false when that closes a positive cycle.
bool raise(std::vector<Cycle>& closed, std::size_t n, std::size_t a, std::size_t b, Cycle weight) {
  if (closed[b * n + a] + weight > 0) return false;
  for (std::size_t x = 0; x < n; ++x) {
    const Cycle reach = closed[x * n + a] + weight;
    if (reach <= closed[x * n + b]) continue;
    for (std::size_t y = 0; y < n; ++y) closed[x * n + y] = std::max(closed[x * n + y], reach + closed[b * n + y]);
  }
  return true;
}

struct Values {
  Cycle first, last;
};

Values values_of(const Residue& r, const std::vector<Cycle>& closed, std::size_t n, Cycle ii) {
  const std::size_t u = r.u, v = r.v;
  return {ceil_div(closed[u * n + v] - r.high, ii), floor_div(-closed[v * n + u] - r.low, ii)};
}

bool tighten(std::vector<Cycle>& closed, const std::vector<Residue>& residues, std::size_t n, Cycle ii) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Residue& r : residues) {
      const std::size_t u = r.u, v = r.v;
      const auto [first, last] = values_of(r, closed, n, ii);
      if (first > last) return false;
      const Cycle low = first * ii + r.low, high = last * ii + r.high;
      if (closed[u * n + v] < low) {
        changed = true;
        if (!raise(closed, n, u, v, low)) return false;
      }
      if (closed[v * n + u] < -high) {
        changed = true;
        if (!raise(closed, n, v, u, -high)) return false;
      }
    }
  }
  return true;
}

void make_literals(OrderModel& model, const std::vector<Residue>& residues, const std::vector<Cycle>& closed) {
  for (const Residue& r : residues) {
    const auto [first, last] = values_of(r, closed, model.size, model.ii);
    model.ranges.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(last), model.variables()});
    for (Cycle k = first + 1; k <= last; ++k) {
      const auto yes = static_cast<std::int32_t>(k * model.ii + r.low);
      const auto no = static_cast<std::int32_t>(-((k - 1) * model.ii + r.high));
      model.residue_of.push_back(static_cast<int>(model.ranges.size()) - 1);
      model.first_try.push_back(0);
      model.bounds.push_back({r.u, r.v, yes, 1 - no});
      model.bounds.push_back({r.v, r.u, no, 1 - yes});
    }
  }
}

}  // namespace

OrderModel make_order_model(const RelaxedPart& part, Cycle ii) {
  OrderModel model;
  const std::size_t n = part.ops.size();
  model.size = static_cast<int>(n);
  std::vector<Cycle> closed = part.closed;
  for (std::size_t v = 0; v < n; ++v) model.refuted |= closed[v * n + v] > 0;
  if (model.refuted) return model;
  const auto large = [](Cycle c) { return c > kLargest || c < -kLargest; };
  model.too_large = large(ii) || std::any_of(closed.begin(), closed.end(), large);
  if (model.too_large) return model;
  model.ii = static_cast<std::int32_t>(ii);
  model.refuted = !tighten(closed, part.residues, n, ii);
  if (model.refuted) return model;
  for (Cycle c : closed) model.closed.push_back(static_cast<std::int32_t>(c));
  make_literals(model, part.residues, closed);
  index_entries(model);
  return model;
}

OrderLit add_bound_literal(OrderModel& model, int u, int v, std::int32_t weight) {
  model.bounds.push_back({u, v, weight, weight});
  model.bounds.push_back({v, u, 1 - weight, 1 - weight});
  model.residue_of.push_back(-1);
  model.first_try.push_back(0);
  return 2 * (model.variables() - 1);
}

OrderLit add_plain_literal(OrderModel& model, std::int8_t first_try) {
  model.bounds.insert(model.bounds.end(), 2, OrderBound{});
  model.residue_of.push_back(-1);
  model.first_try.push_back(first_try);
  return 2 * (model.variables() - 1);
}

void index_entries(OrderModel& model) {
  std::vector<std::vector<OrderLit>> by_entry(model.closed.size());
  for (std::size_t lit = 0; lit < model.bounds.size(); ++lit)
    if (model.bounds[lit].from >= 0)
      by_entry[model.bounds[lit].from * model.size + model.bounds[lit].to].push_back(static_cast<OrderLit>(lit));
  model.entry_begin.clear();
  model.entry_lits.clear();
  for (const auto& lits : by_entry) {
    model.entry_begin.push_back(static_cast<std::int32_t>(model.entry_lits.size()));
    model.entry_lits.insert(model.entry_lits.end(), lits.begin(), lits.end());
  }
  model.entry_begin.push_back(static_cast<std::int32_t>(model.entry_lits.size()));
}

}  // namespace heddle::solver
