// Lower bounds on II by arithmetic, no solver: ResMII per unit, RecMII as exact maximum cycle ratio, issue load.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/problem/problem.h"

namespace heddle {

/// The bound when no II is possible: one use takes more than its unit has, or a dependence cycle closes in one iteration.
inline constexpr Cycle kNoFiniteII = Cycle{1} << 62;

struct UnitLoad {
  UnitId unit;
  std::int64_t work = 0;  ///< sum of duration * amount
  /// The greatest of ceil(work / capacity) and, for every k, ceil(durations / k) of the uses of which k + 1 cannot coexist.
  Cycle bound = 0;
};

struct Recurrence {
  std::vector<EdgeId> edges;  ///< a cycle, in order
  Cycle latency = 0;
  int distance = 0;
  Cycle bound = 0;  ///< ceil(latency / distance)
};

/// One reason why II is at least `bound`, by itself.
struct BoundFact {
  enum class Kind { Unit, Recurrence, Refill, Issue };
  Kind kind = Kind::Unit;
  Cycle bound = 0;
  std::string sentence;
  UnitId unit;                      ///< Unit
  std::vector<OpId> ops;            ///< on the unit, in the order of the cycle, or of the issue stream
  std::vector<EdgeId> edges;        ///< Recurrence and Refill: the dependences of the cycle
  std::vector<ChannelId> channels;  ///< Refill: the rings of the cycle
};

struct Bounds {
  std::vector<UnitLoad> units;  ///< in unit order
  Cycle res_mii = 1;
  UnitId binding_unit;  ///< invalid when nothing uses a unit
  Cycle rec_mii = 1;    ///< hand-offs not counted: groups are not known yet
  Recurrence critical;  ///< empty when there is no cycle
  /// Dependences together with the refilling of rings at their largest depth; hand-offs not counted.
  Cycle credit_mii = 1;
  /// Issue streams: the producer group's windows fit one stream, the others share the streams left, and every window fits.
  Cycle issue_mii = 1;
  std::vector<BoundFact> facts;  ///< the strongest of every unit, of the recurrences, of refilling, and of issue
  std::string sentence;          ///< one sentence naming what binds: the unit, the recurrence, or the issue streams

  Cycle min_ii() const { return std::max({res_mii, rec_mii, credit_mii, issue_mii}); }
};

/// Pre: every dependence cycle has distance >= 1 (resolve guarantees it).
Bounds compute_bounds(const Problem& problem);

/// Whether a schedule for II is always one for II + 1 (s -> s + floor(s / II)), so that bisection may trust a refutation.
/// Not so when some unit use has an offset: uses at 0 and 3 of one op fit II = 2 but collide at II = 3.
bool monotone_in_ii(const Problem& problem);

}  // namespace heddle
