// Sustainable period: a schedule's order, groups and depths read as a timed event graph (one token per iteration), whose
// self-timed period is its maximum cycle ratio, sum of weights / sum of tokens. Edges: data (latency, hand-off), stream
// order inside each group (issue window), order on each unit between uses that cannot coexist, channel credits. For every
// schedule that passes the checker the period is <= II, because its starts meet every edge at a period of II. (F. Baccelli, G. Cohen,
// G. J. Olsder, J.-P. Quadrat, "Synchronization and Linearity", Wiley 1992.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct EventEdge {
  enum class Kind { Data, Stream, Unit, Credit };
  Kind kind = Kind::Data;
  OpId from{}, to{};
  Cycle weight = 0;
  std::int64_t tokens = 0;  ///< iterations; may be <= 0 on single edges
  std::string what{};       ///< "S0", "consumer A stream", "TC", "ring K (depth 2)"
  ChannelId channel{};      ///< of a credit
  EdgeId edge{};            ///< of data: the problem's edge
  /// Orders of a stream or unit come as rings: neighbouring edges with one number, each from where the one before goes to.
  /// Where an op is left out of a ring (before its first or after its last iteration) the others keep their order, without
  /// the `length` that it would have taken.
  int ring = -1;
  Cycle length = 0;
};

struct Period {
  bool deadlock = false;                ///< a cycle of positive weight without tokens: `cycle` is that cycle
  std::int64_t weight = 0, tokens = 1;  ///< the exact ratio; 0/1 when there is no cycle
  Cycle cycles() const { return tokens > 0 ? (weight + tokens - 1) / tokens : 0; }  ///< rounded up
  std::vector<EventEdge> cycle;                                                     ///< the limiting cycle, in order
  std::string sentence;                                                             ///< "limited by ring K: load K 560 + ..."
};

/// The edge waits for the result of the op that it comes from, which may be late, and not only for its start.
bool waits_for_result(const Problem& problem, const EventEdge& event);

std::vector<EventEdge> event_graph(const Problem& problem, const Schedule& schedule);
Period sustainable_period(const Problem& problem, const Schedule& schedule);

}  // namespace heddle
