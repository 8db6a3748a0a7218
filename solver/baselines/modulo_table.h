// Where ops stand in a modulo schedule under construction, and where another one fits beside them: units only, no warp
// groups. What the classical modulo schedulers (solver/baselines/rau.cpp, swing.cpp) share.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "solver/baselines/baselines.h"

namespace heddle::solver {

class ModuloTable {
 public:
  ModuloTable(const Problem& problem, Cycle ii);

  bool placed(std::size_t op) const { return start_[op].has_value(); }
  Cycle start(std::size_t op) const { return *start_[op]; }
  Cycle ii() const { return ii_; }
  void place(std::size_t op, Cycle at) { start_[op] = at; }
  void remove(std::size_t op) { start_[op].reset(); }

  bool fits(std::size_t op, Cycle at) const;
  /// The first free start in [from, to] counted upward, or downward when to < from.
  std::optional<Cycle> free_start(std::size_t op, Cycle from, Cycle to) const;
  /// Placed ops that share a unit with `op` at this start.
  std::vector<std::size_t> in_the_way(std::size_t op, Cycle at) const;
  /// Bounds from placed neighbours: dependences only, hand-offs unknown.
  std::optional<Cycle> earliest(std::size_t op) const;
  std::optional<Cycle> latest(std::size_t op) const;

  std::vector<Cycle> starts() const;  ///< pre: all placed

 private:
  bool overlap(const UnitUse& a, Cycle at_a, const UnitUse& b, Cycle at_b) const;

  const Problem& problem_;
  Cycle ii_;
  std::vector<std::optional<Cycle>> start_;
  std::vector<std::vector<std::pair<std::size_t, const UnitUse*>>> by_unit_;  ///< (op, use) of all ops
};

/// A modulo schedule of the dependences and units alone.
struct ModuloSchedule {
  Cycle ii = 0;
  std::vector<Cycle> starts;
  std::int64_t ejections = 0;
};

/// max(ResMII, RecMII); nothing when no II is possible.
std::optional<Cycle> modulo_min_ii(const Problem& problem);

/// One op after the other: what a search ends with when its II grew that far.
Cycle serial_length(const Problem& problem);

/// Longest paths to and from every op at this II over latencies: heights (to the end, own latency included) and depths
/// (from the beginning).
std::vector<Cycle> heights_at(const Problem& problem, Cycle ii);
std::vector<Cycle> depths_at(const Problem& problem, Cycle ii);

/// The next II to try after a failure: the next one, in larger steps far above the minimum.
Cycle next_ii(Cycle ii, Cycle least);

/// Where buffers do not fit: the least II > `found.ii` at which one ring has a slot less; nothing when they fit. Groups
/// are given.
std::optional<Cycle> ii_for_memory(const Problem& problem, const ModuloSchedule& found, const std::vector<int>& group,
                                   std::vector<std::string>& log);

/// The order of a modulo schedule with warp groups: native starts, ring depths, log, provenance.
BaselineOutcome partitioned(const BaselineInput& input, const ModuloSchedule& found, const std::vector<int>& group, BaselineStory story);

/// Groups by row block, behind the producer.
std::vector<int> groups_by_block(const Problem& problem);

}  // namespace heddle::solver
