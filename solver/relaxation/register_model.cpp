// Copies of x alive at the start of y through a reader v that needs it `hold` cycles longer:
//   floor((s(y) - s(x)) / II) - floor((s(y) - s(v) - hold) / II) + distance
// "At least j copies" is a literal that follows, for every k, from the first floor >= k and the second <= k + distance - j.
#include "solver/relaxation/register_model.h"

#include <algorithm>
#include <limits>

#include "core/base/integer_division.h"
#include "solver/encoding/registers.h"

namespace heddle::solver {
namespace {

class RegisterBuilder {
 public:
  RegisterBuilder(OrderModel& model, PairLiterals& pairs, const Problem& problem, const RelaxedPart& part, const GroupRegisters& registers)
      : model_(model), pairs_(pairs), problem_(problem), registers_(registers), index_(problem.ops.size(), -1) {
    for (std::size_t i = 0; i < part.ops.size(); ++i) index_[part.ops[i].index()] = static_cast<int>(i);
  }

  void run() {
    cap_warps();
    add_signals();
    cap_crossing();
    for (std::size_t y = 0; y < problem_.ops.size(); ++y)
      if (is_free(OpId(y)) && touches_registers(problem_, OpId(y))) count_at(OpId(y));
  }

 private:
  bool is_free(OpId op) const { return !problem_.op(op).variable_latency; }
  int at(OpId op) const { return index_[op.index()]; }
  void cap_warps();
  void add_signals();
  void cap_crossing();
  void count_at(OpId y);
  void count_copies(ValueId x, OpId y, OrderLoad& load);
  void add(OrderLoad load, std::int64_t limit);

  OrderModel& model_;
  PairLiterals& pairs_;
  const Problem& problem_;
  const GroupRegisters& registers_;
  std::vector<int> index_;
};

void RegisterBuilder::add(OrderLoad load, std::int64_t limit) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (limit < 0) return model_.clauses.push_back({});
  load.limit = static_cast<std::int32_t>(std::min(limit, kMost));
  if (!load.lits.empty()) model_.loads.push_back(std::move(load));
}

void RegisterBuilder::cap_warps() {
  for (std::size_t u = 0; u < problem_.ops.size(); ++u)
    for (std::size_t v = u + 1; v < problem_.ops.size(); ++v)
      if (is_free(OpId(u)) && is_free(OpId(v)) && problem_.ops[u].warps + problem_.ops[v].warps > registers_.warps)
        model_.clauses.push_back({pairs_.same_group(at(OpId(u)), at(OpId(v)))});
}

/// Between groups a slot comes free later, and at all where the ring is of a register value.
void RegisterBuilder::add_signals() {
  for (const Channel& c : problem_.channels)
    for (const Reader& r : c.readers) {
      if (!is_free(c.writer) || !is_free(r.op) || r.op == c.writer || (r.signal == 0 && !c.only_if_crossing)) continue;
      std::vector<OrderLit> clause{pairs_.same_group(at(c.writer), at(r.op))};
      if (!pairs_.put(clause, at(r.op), at(c.writer), r.release + r.signal + (r.distance - c.max_depth) * Cycle{model_.ii}))
        model_.clauses.push_back(std::move(clause));
    }
}

void RegisterBuilder::cap_crossing() {
  OrderLoad load;
  for (const Channel& c : problem_.channels) {
    if (!c.only_if_crossing || c.space != Space::Smem || !is_free(c.writer)) continue;
    const OrderLit crosses = add_plain_literal(model_, -1);
    for (const Reader& r : c.readers)
      if (is_free(r.op) && r.op != c.writer) model_.clauses.push_back({pairs_.same_group(at(c.writer), at(r.op)), crosses});
    load.lits.push_back(crosses);
    load.weights.push_back(static_cast<std::int32_t>(std::min({c.size, registers_.crossing + 1, std::int64_t{1} << 30})));
  }
  add(std::move(load), registers_.crossing);
}

void RegisterBuilder::count_at(OpId y) {
  OrderLoad load;
  std::int64_t left = registers_.available;
  for (std::size_t x = 0; x < problem_.values.size(); ++x) {
    const Value& value = problem_.values[x];
    if (value.registers == 0 || !is_free(value.producer)) continue;
    if (value.producer == y) left -= value.registers;  // its own output is there in any case
    count_copies(ValueId(x), y, load);
  }
  for (const Edge& e : problem_.edges)
    if (e.to == y && e.from != y && e.value.valid() && problem_.value(e.value).registers > 0 && is_free(e.from)) {
      load.lits.push_back(negated(pairs_.same_group(at(e.from), at(y))));
      load.weights.push_back(problem_.value(e.value).registers);
    }
  add(std::move(load), left);
}

void RegisterBuilder::count_copies(ValueId x, OpId y, OrderLoad& load) {
  const Value& value = problem_.value(x);
  const int p = at(value.producer), at_y = at(y);
  const Cycle ii = model_.ii;
  const auto closed = [&](int u, int v) { return Cycle{model_.closed[u * model_.size + v]}; };
  // One copy more than fits is enough to forbid it; the first of y's own output is counted already.
  const int first = p == at_y ? 2 : 1, most = static_cast<int>(registers_.available / value.registers) + 1;
  std::vector<OrderLit> copies(std::max(0, most - first + 1), -1);
  for (const Edge& e : problem_.edges) {
    if (e.value != x || !is_free(e.to)) continue;
    const int v = at(e.to);
    std::vector<OrderLit> where;
    if (p != at_y) where.push_back(negated(pairs_.same_group(p, at_y)));
    if (p != v) where.push_back(negated(pairs_.same_group(p, v)));
    const Cycle low = p == at_y ? 0 : floor_div(closed(p, at_y), ii), high = p == at_y ? 0 : floor_div(-closed(at_y, p), ii);
    for (Cycle k = low; k <= high; ++k)
      for (int j = first; j <= most; ++j) {
        // s(y) - s(x) >= k * II, and not s(y) - s(v) - hold >= (k + distance - j + 1) * II
        std::vector<OrderLit> clause = where;
        const Cycle since = (k + e.distance - j + 1) * ii + e.hold;
        if (p != at_y && pairs_.put(clause, p, at_y, k * ii, false)) continue;
        if (v == at_y ? since <= 0 : pairs_.put(clause, v, at_y, since)) continue;
        OrderLit& copy = copies[j - first];
        if (copy < 0) copy = add_plain_literal(model_, -1);
        clause.push_back(copy);
        model_.clauses.push_back(std::move(clause));
      }
  }
  for (const OrderLit copy : copies) {
    if (copy < 0) continue;
    load.lits.push_back(copy);
    load.weights.push_back(value.registers);
  }
}

}  // namespace

void add_registers(OrderModel& model, PairLiterals& pairs, const Problem& problem, const RelaxedPart& part,
                   const GroupRegisters& registers) {
  RegisterBuilder(model, pairs, problem, part, registers).run();
}

}  // namespace heddle::solver
