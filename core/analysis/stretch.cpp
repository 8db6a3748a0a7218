#include "core/analysis/stretch.h"

#include <algorithm>
#include <numeric>

#include "core/analysis/bounds.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/problem/problem.h"

namespace heddle {
namespace {

/// Gives `easy` the cycles of `hard` where the two have the same shape, and takes down the differences.
struct Raiser {
  std::vector<Cycle> grown;
  bool from_nothing = false;

  void number(OpId op, Cycle easy, Cycle hard) {
    if (hard <= easy) return;
    from_nothing = from_nothing || easy < 1;
    Cycle& most = grown[op.index()];
    most = std::max(most, hard - easy);
  }

  void op(OpId id, Op& easy, const Op& hard) {
    number(id, easy.window, hard.window);
    easy.window = std::max(easy.window, hard.window);
    for (std::size_t i = 0; i < std::min(easy.uses.size(), hard.uses.size()); ++i) {
      number(id, easy.uses[i].duration, hard.uses[i].duration);
      easy.uses[i].duration = std::max(easy.uses[i].duration, hard.uses[i].duration);
    }
  }

  void edge(Edge& easy, const Edge& hard) {
    const Cycle crossing = sat_add(easy.latency, easy.handoff), other = sat_add(hard.latency, hard.handoff);
    number(easy.from, easy.latency, hard.latency);
    number(easy.from, crossing, other);
    number(easy.to, easy.hold, hard.hold);
    easy.latency = std::max(easy.latency, hard.latency);
    easy.handoff = std::max(crossing, other) - easy.latency;
    easy.hold = std::max(easy.hold, hard.hold);
  }

  void reader(Reader& easy, const Reader& hard) {
    const Cycle crossing = sat_add(easy.release, easy.signal), other = sat_add(hard.release, hard.signal);
    number(easy.op, easy.release, hard.release);
    number(easy.op, crossing, other);
    easy.release = std::max(easy.release, hard.release);
    easy.signal = std::max(crossing, other) - easy.release;
  }
};

}  // namespace

std::optional<std::vector<Cycle>> growth(const Problem& easy, const Problem& hard) {
  if (!monotone_in_ii(easy) || !monotone_in_ii(hard)) return std::nullopt;
  if (easy.ops.size() != hard.ops.size() || easy.edges.size() != hard.edges.size() || easy.channels.size() != hard.channels.size())
    return std::nullopt;
  Problem raised = easy;
  Raiser raiser{std::vector<Cycle>(easy.ops.size(), 0)};
  for (std::size_t v = 0; v < easy.ops.size(); ++v) raiser.op(OpId(v), raised.ops[v], hard.ops[v]);
  for (std::size_t e = 0; e < easy.edges.size(); ++e) raiser.edge(raised.edges[e], hard.edges[e]);
  for (std::size_t c = 0; c < easy.channels.size(); ++c)
    for (std::size_t r = 0; r < std::min(easy.channels[c].readers.size(), hard.channels[c].readers.size()); ++r)
      raiser.reader(raised.channels[c].readers[r], hard.channels[c].readers[r]);
  if (raiser.from_nothing || !at_least_as_strict(raised, hard)) return std::nullopt;
  return std::move(raiser.grown);
}

std::optional<Cycle> stretch_bound(const Problem& easy, const Problem& hard) {
  const auto grown = growth(easy, hard);
  if (!grown) return std::nullopt;
  return std::accumulate(grown->begin(), grown->end(), Cycle{0}, sat_add);
}

Schedule stretched(Schedule schedule, const std::vector<Cycle>& growth) {
  const std::vector<Placement> before = schedule.ops;
  const Cycle ii = schedule.ii;
  /// Idle cycles inserted before this cycle, counted from cycle 0; the starts of op v repeat every II.
  const auto inserted = [&](Cycle at) {
    Cycle sum = 0;
    for (std::size_t v = 0; v < before.size(); ++v)
      sum = sat_add(sum, sat_mul(growth[v], ceil_div(at - before[v].start, ii) - ceil_div(-before[v].start, ii)));
    return sum;
  };
  for (Placement& p : schedule.ops) p.start = sat_add(p.start, inserted(p.start));
  schedule.ii = std::accumulate(growth.begin(), growth.end(), ii, sat_add);
  schedule.certificate.reset();
  return schedule;
}

}  // namespace heddle
