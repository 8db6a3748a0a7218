// Rings as lanes of time: how many slots are taken and filled, and when somebody stands and waits for the ring. Times are those of the bars
// that they are drawn under: the schedule's own, or a simulated run's (core/simulate/ring_fill.h says what the words mean).
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/ring_fill.h"

namespace heddle {

struct QueueMark {
  enum class State {
    Starving,  ///< a reader could go, and the entry is not there yet
    Full       ///< the writer could go, and nobody has released the slot
  };
  State state = State::Starving;
  Cycle begin = 0, end = 0;
  OpId op;  ///< that waits
  std::int64_t iteration = 0;
};

struct QueueLane {
  std::string label, detail;  ///< "k", "2 slots"
  UnitRole role = UnitRole::Other;
  ChannelId channel;
  int depth = 1;
  UsageCurve taken, filled;      ///< slots
  std::vector<QueueMark> marks;  ///< by begin
};

const char* to_string(QueueMark::State state);  ///< "starving", "full"

/// A lane for every ring, in the same order.
std::vector<QueueLane> queue_lanes(const Problem& problem, const Schedule& schedule, const std::vector<RingFill>& rings);

/// "2 of 3 slots taken, 1 filled"
std::string queue_value(const QueueLane& lane, Cycle at);
/// "starving: QK0 of consumer A waits for it, 120 to 640 (520 cycles), iteration 3". `steady`: iterations are told from k.
std::string mark_text(const Problem& problem, const Schedule& schedule, const QueueMark& mark, bool steady);

}  // namespace heddle
