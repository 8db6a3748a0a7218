// A bar on its way to another place: what was picked up, where it would land, where it may go.
#pragma once

#include <optional>

#include "core/base/id.h"

namespace heddle::app {

/// Where an op can start at the present II while something else stands still. All in cycles of the shown schedule.
struct LegalBand {
  std::optional<Cycle> earliest, latest;       ///< everything else free; nothing where it is not known
  bool exact = false;                          ///< else by longest paths: not all inside is legal, and what is outside would
                                               ///< take more stages, if it is legal at all
  Cycle alone_earliest = 0, alone_latest = 0;  ///< all others fixed, the order of everything kept
  bool contains(Cycle start) const { return (!earliest || start >= *earliest) && (!latest || start <= *latest); }
};

/// What the moved edge was pulled to.
struct MoveTick {
  enum class To { Itself, Row, Band, OtherRow, Boundary } to = To::Row;
  Cycle at = 0;  ///< on the chart
};

struct BarMove {
  OpId op;
  int iteration = 0;
  Cycle start = 0, ii = 1;  ///< of the op and its schedule when it was picked up
  double grabbed = 0;       ///< cycle under the mouse then
  LegalBand band;
  Cycle delta = 0;               ///< as it is drawn
  Cycle target = 0;              ///< the start that is asked for: start + delta, in the steady view by whole II more or less
  std::optional<GroupId> group;  ///< where it is, if that is not its own
  std::optional<MoveTick> tick;
  bool asked = false;  ///< for the exact band
  bool lost = false;   ///< the mouse has left the chart: letting go does nothing
  bool changes() const { return !lost && (target != start || group); }
};

}  // namespace heddle::app
