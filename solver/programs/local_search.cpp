#include "solver/programs/local_search.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/analysis/turns.h"
#include "core/base/random.h"
#include "core/motion/circle.h"
#include "solver/programs/evaluate.h"

namespace heddle::programs {
namespace {

constexpr double kAllowance = 0.02;

/// What is changed; programs follow from it.
struct State {
  std::vector<std::vector<std::size_t>> sequences;  ///< per consumer its ops, by place in its rules, on its circle
  std::vector<std::vector<int>> least_stage;        ///< per consumer and op; dependences may ask for more
  std::vector<OpId> turns;                          ///< mmas of all groups on the tensor cores; empty: no turns
};

class Neighbours {
 public:
  Neighbours(const Assembly& assembly, std::uint64_t seed) : assembly_(assembly), random_(seed) {}

  /// The seed's orders with the fewest stages that they can have.
  State first(const Schedule& seed) const {
    const timing::LoopProgram program = motion::program_of(assembly_.problem(), seed);
    State state;
    for (std::size_t k = 0; k < assembly_.size(); ++k) {
      const GroupRules& rules = assembly_.rules(k);
      std::vector<std::size_t>& sequence = state.sequences.emplace_back();
      const auto& stream = program.streams[seed.group(rules.ops().front()).index()];
      for (const timing::StreamStep& step : stream) {
        const auto op = std::lower_bound(rules.ops().begin(), rules.ops().end(), step.op);
        sequence.push_back(static_cast<std::size_t>(op - rules.ops().begin()));
      }
      const std::size_t first = rules.products().empty() ? 0 : rules.products().front();
      std::rotate(sequence.begin(), std::find(sequence.begin(), sequence.end(), first), sequence.end());
      state.least_stage.emplace_back(rules.ops().size(), 0);
    }
    if (assembly_.takes_turns() && !program.turns.empty()) state.turns = program.turns.front();
    return state;
  }

  State changed(State state) {
    const std::uint64_t kind = random_.next() % 8;
    if (kind == 0 && state.turns.size() > 1) {
      change_turns(state);
    } else if (kind == 1) {
      change_stage(state);
    } else {
      shift(state);
    }
    return state;
  }

  /// Nothing where it breaks a rule.
  std::optional<timing::LoopProgram> program(const State& state) const {
    std::vector<Order> orders;
    std::vector<std::int64_t> uses;
    for (std::size_t k = 0; k < assembly_.size(); ++k) {
      std::optional<Order> order = assembly_.rules(k).order_of(state.sequences[k], state.least_stage[k]);
      if (!order) return std::nullopt;
      uses.push_back(assembly_.rules(k).registers(*order));
      if (!assembly_.rules(k).registers_fit(uses.back())) return std::nullopt;
      orders.push_back(*std::move(order));
    }
    if (!assembly_.registers_fit(uses) || changes_of_hands(state.turns) > kMostTurns) return std::nullopt;
    return assembly_.program(orders, state.turns, assembly_.depths().choices.front());
  }

 private:
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_.next() % count); }

  GroupId group(OpId op) const { return assembly_.groups().group(op); }

  std::size_t changes_of_hands(const std::vector<OpId>& turns) const {
    std::size_t changes = 0;
    for (std::size_t i = 0; i < turns.size(); ++i) changes += group(turns[i]) != group(turns[(i + 1) % turns.size()]);
    return changes;
  }

  /// An op goes elsewhere behind the first.
  void shift(State& state) {
    const std::size_t k = below(state.sequences.size());
    std::vector<std::size_t>& sequence = state.sequences[k];
    if (sequence.size() < 3) return;
    const std::size_t from = 1 + below(sequence.size() - 1), to = 1 + below(sequence.size() - 1);
    const std::size_t op = sequence[from];
    sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(from));
    sequence.insert(sequence.begin() + static_cast<std::ptrdiff_t>(to), op);
    keep_turns_in_order(state, k);
  }

  /// Turns stay where they are; the group's mmas take them in the order of its circle.
  void keep_turns_in_order(State& state, std::size_t k) const {
    const GroupRules& rules = assembly_.rules(k);
    std::vector<OpId> products;
    for (const std::size_t v : state.sequences[k])
      if (std::find(rules.products().begin(), rules.products().end(), v) != rules.products().end()) products.push_back(rules.ops()[v]);
    const auto mine = [&](OpId op) { return group(op) == assembly_.group(k); };
    const auto first = std::find_if(state.turns.begin(), state.turns.end(), mine);
    if (first == state.turns.end()) return;
    std::rotate(products.begin(), std::find(products.begin(), products.end(), *first), products.end());
    auto next = products.begin();
    for (OpId& op : state.turns)
      if (mine(op)) op = *next++;
  }

  void change_stage(State& state) {
    const std::size_t k = below(state.least_stage.size());
    int& stage = state.least_stage[k][below(state.least_stage[k].size())];
    stage = stage == 0 ? 1 : 0;
  }

  /// Neighbours of two groups change places, which joins or splits turns; or of one group the turn begins one mma later.
  void change_turns(State& state) {
    std::vector<OpId>& turns = state.turns;
    const std::size_t at = below(turns.size()), next = (at + 1) % turns.size();
    if (group(turns[at]) != group(turns[next])) return std::swap(turns[at], turns[next]);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < turns.size(); ++i)
      if (group(turns[i]) == group(turns[at])) places.push_back(i);
    for (std::size_t i = 0; i + 1 < places.size(); ++i) std::swap(turns[places[i]], turns[places[i + 1]]);
  }

  const Assembly& assembly_;
  SplitMix64 random_;
};

}  // namespace

bool same_groups(const Schedule& a, const Schedule& b) {
  if (a.ops.size() != b.ops.size()) return false;
  for (std::size_t v = 0; v < a.ops.size(); ++v)
    for (std::size_t w = v + 1; w < a.ops.size(); ++w)
      if ((a.ops[v].group == a.ops[w].group) != (b.ops[v].group == b.ops[w].group)) return false;
  return true;
}

std::int64_t local_search(const Assembly& assembly, const std::vector<Schedule>& seeds, Ranking& ranking, const LocalSearchLimits& limits,
                          const ProgressListener& listener) {
  if (assembly.depths().choices.empty()) return 0;
  std::vector<const Schedule*> beginnings;
  for (const Schedule& seed : seeds)
    if (same_groups(seed, assembly.groups())) beginnings.push_back(&seed);
  std::int64_t programs = 0;
  const std::int64_t each = limits.most_programs / std::max<std::int64_t>(1, static_cast<std::int64_t>(beginnings.size()));
  const auto over = [&] { return limits.stop.stop_requested() || limits.deadline.passed(); };
  Evaluator evaluator(assembly, limits.stop);
  const Ranking all(1, 100);  // every program gets its own period, whatever was found before
  for (std::size_t b = 0; b < beginnings.size() && !over(); ++b) {
    Neighbours neighbours(assembly, mixed_bits(limits.seed + b));
    State state = neighbours.first(*beginnings[b]);
    motion::MotionPeriod now;
    if (const auto program = neighbours.program(state)) {
      const Ranked found = evaluator.evaluated(*program, all);
      now = found.period;
      ranking.add(found);
      ++programs;
    }
    for (std::int64_t i = 1; i < each && !over(); ++i) {
      State next = neighbours.changed(state);
      std::optional<timing::LoopProgram> program = neighbours.program(next);
      if (!program) continue;
      Ranked found = evaluator.evaluated(*std::move(program), all);
      ++programs;
      const double left = 1 - static_cast<double>(i) / static_cast<double>(each);
      const bool stays = now.iterations <= 0 || within(found.period, now, 100 * kAllowance * left);
      if (stays && found.period.iterations > 0) {
        state = std::move(next);
        now = found.period;
      }
      if (!limits.stop.stop_requested()) ranking.add(std::move(found));
      if (listener && programs % 256 == 0)
        listener({"changing orders", programs, limits.most_programs,
                  ranking.empty() ? motion::MotionPeriod() : ranking.kept().front().period, 0});
    }
  }
  return programs;
}

}  // namespace heddle::programs
