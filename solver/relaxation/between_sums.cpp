// For each clique of uses that exclude each other a table holds how many copies of one come before another, and sums are read off it.
#include "solver/relaxation/between_sums.h"

#include <algorithm>

namespace heddle::solver {
namespace {
constexpr std::int32_t kNever = 1 << 20;  // an op is not between itself and another
}

BetweenSums::BetweenSums(const RelaxedPart& part, const OrderModel& model) : ii_(model.ii), places_(part.residues.size()) {
  for (const Exclusive& e : part.exclusives) {
    Clique c;
    const int m = c.size = static_cast<int>(e.members.size());
    for (const Exclusive::Member& x : e.members) {
      c.op.push_back(x.op);
      c.offset.push_back(static_cast<std::int32_t>(x.offset));
      c.duration.push_back(static_cast<std::int32_t>(x.duration));
    }
    c.low.assign(m * m, -kNever);
    c.high.assign(m * m, kNever);
    c.residue.assign(m * m, -1);
    c.straight.assign(m * m, 0);
    c.rises.assign(m, 1);
    c.falls.assign(m, 1);
    for (std::size_t r = 0; r < part.residues.size(); ++r) {
      const Residue& x = part.residues[r];
      const int u = static_cast<int>(std::find(c.op.begin(), c.op.end(), x.u) - c.op.begin());
      const int v = static_cast<int>(std::find(c.op.begin(), c.op.end(), x.v) - c.op.begin());
      if (u == m || v == m) continue;
      // Ops may exclude each other elsewhere too, at other offsets: the residue must be of these two uses or tighter.
      const Cycle shift = c.offset[u] - c.offset[v];
      if (x.low < c.duration[u] + shift || x.high > ii_ - c.duration[v] + shift) continue;
      c.residue[u * m + v] = c.residue[v * m + u] = static_cast<int>(r);
      c.straight[u * m + v] = 1;
      places_[r].push_back({static_cast<int>(cliques_.size()), u, v});
    }
    cliques_.push_back(std::move(c));
  }
  for (std::size_t r = 0; r < part.residues.size(); ++r) set(static_cast<int>(r), model.ranges[r].first, model.ranges[r].last, true);
}

void BetweenSums::set(int residue, std::int32_t low, std::int32_t high, bool narrower) {
  for (const Place& p : places_[residue]) {
    Clique& c = cliques_[p.clique];
    c.low[p.v * c.size + p.u] = low;
    c.high[p.v * c.size + p.u] = high;
    // Copies of v before u: those up to the last that is not after u.
    c.low[p.u * c.size + p.v] = -high - 1;
    c.high[p.u * c.size + p.v] = -low - 1;
    if (!narrower) continue;
    c.rises[p.u] = c.rises[p.v] = c.falls[p.u] = c.falls[p.v] = 1;
    c.changed = true;
  }
}

bool BetweenSums::sum_between(const Clique& c, int u, int v, Sum& sum) const {
  const std::int32_t *low = &c.low[v * c.size], *high = &c.high[u * c.size], *duration = c.duration.data();
  const std::int32_t q = low[u];
  std::int32_t between = 0;
  for (int w = 0; w < c.size; ++w) between += low[w] - high[w] > q ? duration[w] : 0;
  if (between == 0 || q == -kNever) return false;
  sum.from = c.op[u];
  sum.to = c.op[v];
  sum.weight = q * ii_ + duration[u] + between + c.offset[u] - c.offset[v];
  return true;
}

void BetweenSums::explain(const Clique& c, int u, int v, Sum& sum) const {
  sum.because.clear();
  const int m = c.size;
  const auto at_least = [&](int a, int b, std::int32_t k) {  // at least k copies of a before b
    if (c.straight[a * m + b])
      sum.because.push_back({c.residue[a * m + b], true, k});
    else
      sum.because.push_back({c.residue[a * m + b], false, -k - 1});
  };
  const std::int32_t *low = &c.low[v * m], *high = &c.high[u * m];
  const std::int32_t q = low[u];
  at_least(u, v, q);
  for (int w = 0; w < m; ++w) {
    if (low[w] - high[w] <= q) continue;
    at_least(w, v, q + high[w] + 1);
    at_least(u, w, -high[w] - 1);  // of w before u at most high
  }
}

}  // namespace heddle::solver
