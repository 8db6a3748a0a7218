// The bracket of a schedule's expected period where latencies are not always the same (Op::spread), both ends exact.
//
// For a fixed order, fixed groups and ring depths, starts are max-plus sums of latencies: n iterations take as long as the longest path
// through the unrolled event graph (core/analysis/period.h). So they are convex in the latencies, and a latency that is x longer delays
// nothing by more than x, because a path meets each op of each iteration once. With L a latency as drawn and r any chosen value, one per
// op:
//
//   period at the mean latencies  <=  expected period  <=  period at the chosen values + sum over ops of E[(L - r)+]
//
// (left: Jensen's inequality; right: non-expansiveness; F. Baccelli, G. Cohen, G. J. Olsder, J.-P. Quadrat, "Synchronization and
// Linearity", Wiley 1992, chapters 4 and 7). Neither side asks whether draws depend on each other. The upper end here is the least that
// any choice of values gives, which is the worst of all ways in which draws may hang together (I. Meilijson, A. Nadas, "Convex
// majorization with an application to the length of critical paths", J. Appl. Prob. 16, 1979): a linear program, the dual of a circulation
// of greatest profit.
//
// It holds where the order on streams and units is the schedule's. Where units serve whoever comes first, a shorter latency can make a
// loop slower (R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969), and nothing is claimed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/cycle_ratio.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// A number of cycles, weight / tokens, reduced.
struct ExactCycles {
  std::int64_t weight = 0, tokens = 1;
  double cycles() const { return static_cast<double>(weight) / static_cast<double>(tokens); }
  /// "109.5", "64", "75.57...": exact where four digits are enough for that.
  std::string text() const;
  bool operator==(const ExactCycles&) const = default;
};
bool less(const ExactCycles& a, const ExactCycles& b);
/// number * (100 + percent) / 100
ExactCycles raised(std::int64_t number, int percent);

/// The value up to which a latency counts in full; what is above it counts in the mean.
struct LatencyThreshold {
  std::size_t op = 0;
  ExactCycles cycles, excess;  ///< excess: E[(L - cycles)+]
};

struct PeriodBracket {
  std::string missing;  ///< why there is none, as a sentence without its point; empty: there is one
  ExactCycles low, high;
  ExactCycles at_thresholds;  ///< a period that every latency up to its threshold keeps: high less all excesses
  std::vector<LatencyThreshold> thresholds;
};

/// Some latency is not always the same.
bool latencies_vary(const Problem& problem);

/// Of the loop. Without such latencies both ends are the sustainable period. Pre: as for sustainable_period().
PeriodBracket period_bracket(const Problem& problem, const Schedule& schedule);

/// The same of any event graph: `late` edges wait for the result of the op that they come from, and have in their weight the case that
/// its spread stands at. One spread per node, empty where its latency is constant.
struct VaryingEdge {
  RatioEdge edge;
  bool late = false;
};
PeriodBracket bracket_of(const std::vector<VaryingEdge>& edges, const std::vector<LatencySpread>& spreads);

}  // namespace heddle
