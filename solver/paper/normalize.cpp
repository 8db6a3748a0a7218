#include "solver/paper/normalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace heddle::solver::paper {
namespace {

using Wide = __int128;

/// One way to round: index by index up (true) or down.
struct Rounding {
  std::vector<Cycle> values;
  std::int64_t sum = 0;
};

/// The problem for one value k of the largest cost: floors and ceilings, and which roundings F allows.
class Scale {
 public:
  Scale(const std::vector<Cycle>& costs, const std::vector<std::int64_t>& counts, Cycle k, bool floor_one)
      : costs_(costs), counts_(counts), k_(k) {
    for (const Cycle c : costs) {
      const Wide product = Wide{c} * k;
      down_.push_back(static_cast<Cycle>(product / costs.back()));
      exact_.push_back(product % costs.back() == 0);
      must_.push_back(floor_one && down_.back() == 0);
    }
  }

  /// The smallest closed set of costs that are rounded up; nothing if F is too small.
  std::optional<std::vector<bool>> least(Wide f) const {
    const std::size_t n = costs_.size();
    std::vector<bool> up(n, false);
    std::vector<std::size_t> pending;
    for (std::size_t i = 0; i < n; ++i) {
      if (must_[i] && exact_[i]) return std::nullopt;  // a zero that may not be zero; cannot happen for positive costs
      if (must_[i] || !fits_largest(i, down_[i], f)) raise(up, pending, i);
    }
    if (!close(up, pending, f)) return std::nullopt;
    return up;
  }

  std::int64_t sum(const std::vector<bool>& up) const {
    Wide total = 0;
    for (std::size_t i = 0; i < up.size(); ++i) total += Wide{down_[i] + (up[i] ? 1 : 0)} * counts_[i];
    return static_cast<std::int64_t>(std::min<Wide>(total, Wide{1} << 60));
  }

  Rounding rounding(const std::vector<bool>& up) const {
    Rounding result;
    for (std::size_t i = 0; i < up.size(); ++i) result.values.push_back(down_[i] + (up[i] ? 1 : 0));
    result.sum = sum(up);
    return result;
  }

  /// A closed superset of `up` with the largest sum <= limit. `steps` bounds the search and is used up by it.
  std::vector<bool> greatest(std::vector<bool> up, Wide f, std::int64_t limit, std::int64_t& steps) const {
    Growth growth{f, limit, up, steps};
    extend(up, 0, growth);
    return std::move(growth.best);
  }

 private:
  bool fits_largest(std::size_t i, Cycle value, Wide f) const {
    const Wide cross = Wide{costs_[i]} * k_ - Wide{costs_.back()} * value;
    return -f <= cross && cross <= f;
  }

  static void raise(std::vector<bool>& up, std::vector<std::size_t>& pending, std::size_t i) {
    if (up[i]) return;
    up[i] = true;
    pending.push_back(i);
  }

  /// Adds what the costs rounded up imply; false when one of them cannot be.
  bool close(std::vector<bool>& up, std::vector<std::size_t>& pending, Wide f) const {
    while (!pending.empty()) {
      const std::size_t i = pending.back();
      pending.pop_back();
      if (exact_[i] || !fits_largest(i, down_[i] + 1, f)) return false;
      for (std::size_t j = 0; j < up.size(); ++j) {
        if (up[j]) continue;
        const Wide cross = Wide{costs_[j]} * (down_[i] + 1) - Wide{costs_[i]} * down_[j];
        if (cross > f || -cross > f) raise(up, pending, j);
      }
    }
    return true;
  }

  struct Growth {
    Wide f;
    std::int64_t limit;
    std::vector<bool> best;
    std::int64_t& steps;
  };
  void extend(const std::vector<bool>& up, std::size_t from, Growth& growth) const {
    auto& [f, limit, best, steps] = growth;
    const std::int64_t now = sum(up);
    if (now > limit) return;
    if (now > sum(best)) best = up;
    std::int64_t room = 0;
    for (std::size_t i = from; i < up.size(); ++i)
      if (!up[i] && !exact_[i]) room += counts_[i];
    for (std::size_t i = from; i < up.size() && sum(best) < std::min(limit, now + room); ++i) {
      if (up[i] || exact_[i]) continue;
      room -= counts_[i];
      if (--steps < 0) return;
      std::vector<bool> more = up;
      std::vector<std::size_t> pending;
      raise(more, pending, i);
      if (close(more, pending, f)) extend(more, i + 1, growth);
      // Without i: the rest is tried by the next turns of the loop.
      if (sum(best) >= now + room) return;
    }
  }

  const std::vector<Cycle>& costs_;  ///< ascending; the largest is last
  const std::vector<std::int64_t>& counts_;
  Cycle k_;
  std::vector<Cycle> down_;
  std::vector<bool> exact_, must_;
};

/// Groups of near-equal costs, each replaced by its smallest member.
std::map<Cycle, Cycle> representatives(const std::map<Cycle, std::int64_t>& counted, std::int64_t percent) {
  std::map<Cycle, Cycle> of;
  Cycle first = 0;
  for (const auto& [cost, count] : counted) {
    if (first == 0 || cost * 100 > first * (100 + percent)) first = cost;
    of[cost] = first;
  }
  return of;
}

/// The least F that this k allows within U, if it is below `below`.
std::optional<Wide> least_error(const Scale& scale, std::int64_t u, Wide below) {
  const auto works = [&](Wide f) {
    const auto up = scale.least(f);
    return up && scale.sum(*up) <= u;
  };
  if (below <= 0 || !works(below - 1)) return std::nullopt;
  Wide low = 0, high = below - 1;  // works(high)
  while (low < high) {
    const Wide middle = (low + high) / 2;
    if (works(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return high;
}

constexpr Cycle kScalesBetweenLooks = 256;

}  // namespace

Normalization normalize(const std::vector<Cycle>& costs, const Options& options, const QueryLimits& limits) {
  Normalization result;
  result.of[0] = 0;
  std::map<Cycle, std::int64_t> counted;
  for (const Cycle c : costs)
    if (c > 0) ++counted[c];
  if (counted.empty()) {
    result.possible = true;
    return result;
  }
  const std::map<Cycle, Cycle> of = representatives(counted, options.cluster);
  std::map<Cycle, std::int64_t> clustered;
  for (const auto& [cost, count] : counted) clustered[of.at(cost)] += count;
  std::vector<Cycle> list;
  std::vector<std::int64_t> counts;
  for (const auto& [cost, count] : clustered) {
    list.push_back(cost);
    counts.push_back(options.entries == Entries::Multiset ? count : 1);
  }
  result.largest = counted.rbegin()->first;
  const bool floor_one = options.floor == Floor::One;

  // Every k, every F below the largest cost.
  std::optional<Wide> best;
  const std::int64_t most = options.u / counts.back();
  std::vector<Cycle> scales;
  for (Cycle k = 1; k <= most; ++k) {
    if (k % kScalesBetweenLooks == 0) limits.keep();
    // A larger k leaves no room once even rounding everything down exceeds U.
    const Scale scale(list, counts, k, floor_one);
    if (scale.sum(std::vector<bool>(list.size(), false)) > options.u) break;
    const auto error = least_error(scale, options.u, best ? *best + 1 : Wide{list.back()});
    if (!error) continue;
    if (!best || *error < *best) scales.clear();
    best = error;
    scales.push_back(k);
    if (*best == 0) break;  // exact ratios, at their smallest
  }
  if (!best) {
    result.why = fmt::format("U = {} is too small: {} positive costs of {} values{}", options.u,
                             std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), list.size(),
                             floor_one ? ", each of which must stay positive" : "");
    return result;
  }

  // The tie-break among all solutions with this F.
  Rounding chosen;
  std::int64_t steps = 200'000;
  const bool finest = options.tie_break == TieBreak::MaxSum && *best > 0;
  for (const Cycle k : scales) {
    limits.keep();
    const Scale scale(list, counts, k, floor_one);
    std::vector<bool> up = *scale.least(*best);
    if (finest) up = scale.greatest(up, *best, options.u, steps);
    Rounding rounding = scale.rounding(up);
    const bool better = finest ? rounding.sum > chosen.sum : rounding.sum < chosen.sum;
    if (chosen.values.empty() || better) chosen = std::move(rounding);
  }
  result.tie_broken = steps >= 0;
  result.possible = true;
  result.error = static_cast<std::int64_t>(*best);
  result.sum = chosen.sum;
  std::map<Cycle, Cycle> small;
  for (std::size_t i = 0; i < list.size(); ++i) small[list[i]] = chosen.values[i];
  for (const auto& [cost, count] : counted) {
    const Cycle value = small.at(of.at(cost));
    result.of[cost] = value;
    const int entries = options.entries == Entries::Multiset ? static_cast<int>(count) : 1;
    result.entries += entries;
    if (value == 0) result.zeros += entries;
  }
  return result;
}

PaperGraph normalized(PaperGraph graph, const Normalization& normalization) {
  const Cycle from = normalization.largest, to = from > 0 ? normalization.of.at(from) : 1;
  const auto small = [&](Cycle& cost) {
    const auto found = normalization.of.find(cost);
    cost = found != normalization.of.end() ? found->second : static_cast<Cycle>((Wide{cost} * to * 2 + from) / (Wide{from} * 2));
  };
  for (PaperNode& node : graph.nodes) {
    small(node.cycles);
    small(node.spill);
    for (TableUse& use : node.table) {
      small(use.offset);
      small(use.duration);
      node.cycles = std::max(node.cycles, use.offset + use.duration);
    }
    std::erase_if(node.table, [](const TableUse& use) { return use.duration == 0; });
  }
  for (Arc& arc : graph.arcs) small(arc.delay);
  return graph;
}

}  // namespace heddle::solver::paper
