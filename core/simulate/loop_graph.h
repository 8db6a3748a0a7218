// The event graph made ready to run: every op's iteration belongs to one step of the loop, no edge points to a later step, and
// inside a step ops come in an order in which no op waits for a later one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/period.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct LoopEdge {
  std::uint32_t from = 0;
  std::uint32_t lag = 0;  ///< steps back
  Cycle weight = 0;
  bool crosses = false;     ///< between strong components
  std::uint32_t event = 0;  ///< of LoopGraph::events
};

struct LoopGraph {
  std::vector<EventEdge> events;
  std::vector<std::uint32_t> ring_before;  ///< per event in a ring: the event before it

  /// In step w the op works on iteration w - shift; the least shift is 0.
  std::vector<std::int64_t> shift;
  std::int64_t most_shift = 0, most_lag = 0;
  std::vector<std::uint32_t> order;   ///< ops of a step
  std::vector<std::uint32_t> blocks;  ///< where in `order` sets of ops begin that must be settled together; and its end
  /// Edges of the ops in `order`: op order[i] has edges[first[i]] to edges[first[i + 1]]; streams first, then edges inside its
  /// component, then others.
  std::vector<std::uint32_t> first, first_wait;  ///< first_wait: the first that is no stream edge
  std::vector<LoopEdge> edges;
  std::vector<std::uint32_t> component;  ///< per op: strong components of the whole graph
  std::uint32_t components = 0;

  std::vector<std::uint32_t> deadlock;  ///< events of a cycle that waits for itself; empty: none
  std::int64_t dropped = 0;             ///< orders on a unit that would have an op wait for what issues after it
};

/// Per event that is part of a ring (EventEdge::ring): the event before it; meaningless for others.
std::vector<std::uint32_t> ring_predecessors(const std::vector<EventEdge>& events);

/// Who is next before an op on a ring where the edge's own source does not exist in a loop of `trips` iterations.
struct RingSource {
  OpId op;  ///< invalid: none
  std::int64_t iteration = 0;
  Cycle weight = 0;  ///< from its start
};
/// `iteration` is that of the source that does not exist.
RingSource nearest_on_ring(const std::vector<EventEdge>& events, const std::vector<std::uint32_t>& ring_before, std::uint32_t edge,
                           std::int64_t iteration, std::int64_t trips);

/// Edges that reach further back than `trips` iterations are left out.
LoopGraph loop_graph(const Problem& problem, const Schedule& schedule, std::int64_t trips);

}  // namespace heddle
