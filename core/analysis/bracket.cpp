// The lower end is one maximum cycle ratio, with weights scaled until the means are whole. The upper end is sought over P: for each, a
// circulation of greatest profit; the least between two lines, for P + profit is convex and piecewise linear in P.
#include "core/analysis/bracket.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/analysis/period.h"

namespace heddle {
namespace {

using Wide = __int128;
constexpr std::int64_t kMostWeight = std::int64_t{1} << 46;  ///< that max_cycle_ratio takes
constexpr int kMostLines = 10'000;                           ///< between which the least P is sought; a handful in practice

Wide gcd(Wide a, Wide b) {
  if (a < 0) a = -a;
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

/// A ratio in lowest terms; `tokens` above 0.
struct WideRatio {
  Wide weight = 0, tokens = 1;
  WideRatio() = default;
  WideRatio(Wide w, Wide t) : weight(w), tokens(t) {
    if (const Wide common = gcd(w, t); common > 1) weight /= common, tokens /= common;
  }
};

bool fits(const WideRatio& r) {
  constexpr Wide most = Wide{1} << 62;
  return r.weight < most && r.weight > -most && r.tokens < most;
}

ExactCycles narrow(const WideRatio& r) { return {static_cast<std::int64_t>(r.weight), static_cast<std::int64_t>(r.tokens)}; }

/// The upper end, with P for the period and x for times, is a linear program:
///
///   least P + sum over ops of E[(L - (x(result) - x(op)))+]  such that  x(to) >= x(from) + weight - P tokens  on every edge
///
/// where late edges begin at the op's result. For a given P the sum is, by duality, the greatest profit of a circulation: every edge takes
/// any flow at a profit of weight - P tokens, and from op to result go as many arcs as there are latencies, each of its share's capacity,
/// with the latency as profit. Arcs are added one by one, each filled along longest paths, so that no cycle of positive profit is ever
/// left. Numbers are whole, of 128 bits; flows are parts per million of an iteration.
class Circulation {
 public:
  Circulation(const std::vector<VaryingEdge>& edges, const std::vector<LatencySpread>& spreads, const WideRatio& period)
      : period_(period), spreads_(spreads), nodes_(2 * spreads.size()) {
    for (const VaryingEdge& e : edges) {
      const LatencySpread& spread = spreads[e.edge.from];
      const bool late = e.late && !spread.empty();
      arcs_.push_back(
          {late ? result(e.edge.from) : e.edge.from, e.edge.to, e.edge.weight - (late ? spread.chosen() : 0), e.edge.tokens, -1});
    }
    for (std::size_t v = 0; v < spreads.size(); ++v)
      for (std::size_t k = spreads[v].cases.size(); k-- > 0;) insert(v, spreads[v].cases[k]);
  }

  /// Of the line P + profit as a function of P, in millionths: its value at 0, and its slope.
  Wide constant() const {
    Wide sum = 0;
    for (const Arc& arc : arcs_) sum += Wide{arc.flow} * arc.weight;
    return sum;
  }
  Wide slope() const {
    Wide sum = kWholeShare;
    for (const Arc& arc : arcs_) sum -= Wide{arc.flow} * arc.tokens;
    return sum;
  }

  /// Times, in `period.tokens`-ths of a cycle, that prove the profit to be the greatest: result minus op is the op's threshold.
  std::vector<Wide> times() const {
    std::vector<Wide> distance(nodes_, 0);
    std::vector<Step> parent;
    relax(distance, parent);
    return distance;
  }
  std::size_t result(std::size_t op) const { return spreads_.size() + op; }

 private:
  struct Arc {
    std::size_t from, to;
    Cycle weight;
    std::int64_t tokens;
    std::int64_t capacity;  ///< below 0: none
    std::int64_t flow = 0;
    bool open() const { return capacity < 0 || flow < capacity; }
  };
  struct Step {
    std::size_t arc = 0;
    bool back = false;
  };

  Wide profit(const Arc& arc) const { return arc.weight * period_.tokens - arc.tokens * period_.weight; }

  /// Longest paths through what is left of the arcs. Nothing lasts longer than `nodes` rounds, for no cycle has a positive profit.
  void relax(std::vector<Wide>& distance, std::vector<Step>& parent) const {
    std::vector<Wide> profits;
    for (const Arc& arc : arcs_) profits.push_back(profit(arc));
    parent.assign(nodes_, {});
    for (std::size_t round = 0; round <= nodes_; ++round) {
      bool moved = false;
      const auto step = [&](std::size_t from, std::size_t to, Wide gain, std::size_t arc, bool back) {
        if (distance[from] == kUnreached || distance[from] + gain <= distance[to]) return;
        distance[to] = distance[from] + gain;
        parent[to] = {arc, back};
        moved = true;
      };
      for (std::size_t a = 0; a < arcs_.size(); ++a) {
        if (arcs_[a].open()) step(arcs_[a].from, arcs_[a].to, profits[a], a, false);
        if (arcs_[a].flow > 0) step(arcs_[a].to, arcs_[a].from, -profits[a], a, true);
      }
      if (!moved) break;
    }
  }

  void insert(std::size_t op, const LatencyCase& latency) {
    // Until it is full or no cycle through it gains anything. Its own capacity stays closed while paths are sought.
    std::int64_t flow = 0;
    while (flow < latency.share) {
      std::vector<Wide> distance(nodes_, kUnreached);
      distance[result(op)] = 0;
      std::vector<Step> parent;
      relax(distance, parent);
      if (distance[op] == kUnreached || distance[op] + latency.cycles * period_.tokens <= 0) break;
      std::int64_t more = latency.share - flow;
      const auto walk = [&](auto&& visit) {
        for (std::size_t v = op; v != result(op);) {
          Arc& arc = arcs_[parent[v].arc];
          visit(arc, parent[v].back);
          v = parent[v].back ? arc.to : arc.from;
        }
      };
      walk([&](const Arc& arc, bool back) {
        if (back) more = std::min(more, arc.flow);
        if (!back && arc.capacity >= 0) more = std::min(more, arc.capacity - arc.flow);
      });
      walk([&](Arc& arc, bool back) { arc.flow += back ? -more : more; });
      flow += more;
    }
    arcs_.push_back({op, result(op), latency.cycles, 0, latency.share, flow});
  }

  static constexpr Wide kUnreached = -(Wide{1} << 126);
  WideRatio period_;
  const std::vector<LatencySpread>& spreads_;
  std::size_t nodes_;
  std::vector<Arc> arcs_;
};

/// The edges with `latency(op)`, times `scale`, in place of the case that each op stands at.
template <class Latency>
std::optional<CycleRatio> ratio_at(const std::vector<VaryingEdge>& edges, const std::vector<LatencySpread>& spreads, std::int64_t scale,
                                   Latency&& latency) {
  std::vector<RatioEdge> scaled;
  for (const VaryingEdge& e : edges) {
    const LatencySpread& spread = spreads[e.edge.from];
    Wide weight = Wide{e.edge.weight} * scale;
    if (e.late && !spread.empty()) weight += Wide{latency(spread)} - Wide{spread.chosen()} * scale;
    if (weight > kMostWeight || weight < -kMostWeight) return std::nullopt;
    scaled.push_back({e.edge.from, e.edge.to, static_cast<std::int64_t>(weight), e.edge.tokens});
  }
  return max_cycle_ratio(spreads.size(), scaled);
}

constexpr const char* kTooLarge = "the latencies are too long to add up their means exactly";

struct Line {
  Wide constant = 0, slope = kWholeShare;
  /// In millionths of 1 / period.tokens cycles.
  Wide at(const WideRatio& period) const { return constant * period.tokens + slope * period.weight; }
};

void find_high(const std::vector<VaryingEdge>& edges, const std::vector<LatencySpread>& spreads, const CycleRatio& without,
               PeriodBracket& bracket) {
  // To the right of everything a latency can be, no arc gains: the line is P itself.
  Line right, left;
  bool has_left = false;
  WideRatio period(without.weight, without.tokens);
  for (int lines = 0; lines < kMostLines; ++lines) {
    const Circulation best(edges, spreads, period);
    const Line line{best.constant(), best.slope()};
    const bool lowest = lines > 0 && line.at(period) == right.at(period) && line.at(period) == left.at(period);
    if (lowest || line.slope == 0 || (!has_left && line.slope > 0)) {
      const WideRatio high(line.at(period), period.tokens * kWholeShare);
      const std::vector<Wide> times = best.times();
      bool small = fits(high) && fits(period);
      for (std::size_t v = 0; v < spreads.size(); ++v) {
        if (spreads[v].empty()) continue;
        // A longer latency than the longest changes nothing.
        const Wide most = spreads[v].cases.back().cycles * period.tokens;
        const Wide threshold = std::min(most, times[best.result(v)] - times[v]);
        Wide excess = 0;
        for (const LatencyCase& c : spreads[v].cases) excess += std::max<Wide>(0, c.cycles * period.tokens - threshold) * c.share;
        const WideRatio cycles(threshold, period.tokens), mean(excess, period.tokens * kWholeShare);
        small &= fits(cycles) && fits(mean);
        if (small) bracket.thresholds.push_back({v, narrow(cycles), narrow(mean)});
      }
      if (!small) {
        bracket.missing = kTooLarge;
        return;
      }
      bracket.high = narrow(high);
      bracket.at_thresholds = narrow(period);
      return;
    }
    (line.slope < 0 ? left : right) = line;
    has_left |= line.slope < 0;
    period = WideRatio(left.constant - right.constant, right.slope - left.slope);
  }
  bracket.missing = "the upper end was not found in " + std::to_string(kMostLines) + " steps";
}

}  // namespace

std::string ExactCycles::text() const {
  const Wide scaled = Wide{weight} * 10'000;
  const bool exact = scaled % tokens == 0;
  // What is not exact has two digits, rounded; the sign is never needed.
  std::string text = exact ? fmt::format("{:.4f}", cycles()) : fmt::format("{:.2f}", cycles());
  while (exact && text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

bool less(const ExactCycles& a, const ExactCycles& b) { return Wide{a.weight} * b.tokens < Wide{b.weight} * a.tokens; }

ExactCycles raised(std::int64_t number, int percent) { return narrow(WideRatio(Wide{number} * (100 + percent), 100)); }

bool latencies_vary(const Problem& problem) {
  return std::any_of(problem.ops.begin(), problem.ops.end(), [](const Op& op) { return !op.spread.empty(); });
}

PeriodBracket bracket_of(const std::vector<VaryingEdge>& edges, const std::vector<LatencySpread>& spreads) {
  PeriodBracket bracket;
  const auto missing = [&](std::string why) {
    bracket.missing = std::move(why);
    return bracket;
  };
  const auto longest = ratio_at(edges, spreads, 1, [](const LatencySpread& s) { return s.cases.back().cycles; });
  if (!longest) return missing(kTooLarge);
  if (longest->impossible) return missing("with the longest latencies the program waits for itself");

  std::int64_t common = kWholeShare;
  for (const LatencySpread& spread : spreads)
    if (!spread.empty()) common = std::gcd(common, spread.mean());
  const std::int64_t scale = kWholeShare / common;
  const auto mean = ratio_at(edges, spreads, scale, [&](const LatencySpread& s) { return s.mean() / common; });
  if (!mean) return missing(kTooLarge);
  bracket.low = narrow(WideRatio(mean->weight, Wide{mean->tokens} * scale));

  // What no latency that varies is part of holds for every period.
  std::vector<RatioEdge> constant;
  for (const VaryingEdge& e : edges)
    if (!e.late || spreads[e.edge.from].empty()) constant.push_back(e.edge);
  find_high(edges, spreads, max_cycle_ratio(spreads.size(), constant), bracket);
  return bracket;
}

PeriodBracket period_bracket(const Problem& problem, const Schedule& schedule) {
  std::vector<VaryingEdge> edges;
  for (const EventEdge& e : event_graph(problem, schedule))
    edges.push_back({{e.from.index(), e.to.index(), e.weight, e.tokens}, waits_for_result(problem, e)});
  std::vector<LatencySpread> spreads;
  for (const Op& op : problem.ops) spreads.push_back(op.spread);
  return bracket_of(edges, spreads);
}

}  // namespace heddle
