// What each warp group's instruction stream does at every cycle of a schedule: it issues, it waits for something, or it stands idle because
// the schedule starts its next op later than it has to. What an op waits for is the constraint of the event graph (core/analysis/period.h)
// that lets it start last; from then on until its start nothing holds it.
#pragma once

#include <array>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

enum class StreamTime {
  Issuing,  ///< inside an issue window
  Data,     ///< a value of another op, hand-off included
  Order,    ///< an order without a value: a barrier
  Unit,     ///< another op's turn on the unit comes first
  Slot,     ///< the ring's slot to be filled has not been released
  Spare     ///< nothing: the schedule leaves it free, or there is nothing left to do
};
inline constexpr std::size_t kStreamTimes = 6;
const char* to_string(StreamTime what);  ///< "issuing", "data", "order", "unit", "slot", "spare"

struct StreamPiece {
  Cycle begin = 0, end = 0;
  StreamTime what = StreamTime::Issuing;
  OpId op;      ///< whose window it is, or which waits; invalid after a group's last op
  OpId behind;  ///< whom `op` waits for; invalid where it issues or nothing holds it
};
/// Of each group, without gaps over the whole time, in order.
using StreamPieces = std::vector<std::vector<StreamPiece>>;

/// One II window of the steady state, [0, II). Pre: the schedule's form is sound.
StreamPieces steady_streams(const Problem& problem, const Schedule& schedule);
/// A run of `iterations` iterations from a cold start, over [begin, end). What lies before the first iteration is there. Pre: as above.
StreamPieces run_streams(const Problem& problem, const Schedule& schedule, int iterations, Cycle begin, Cycle end);

/// Cycles of each kind between two cycles.
std::array<Cycle, kStreamTimes> stream_times(const std::vector<StreamPiece>& pieces, Cycle begin, Cycle end);

}  // namespace heddle
