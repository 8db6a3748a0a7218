// Statistics of a stretch of the timeline: how busy each unit is in it, and what each warp group does meanwhile. Of the schedule as it is
// drawn, exactly; how hardware departs from it only a simulation says.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/analysis/stream_time.h"
#include "core/chart/gantt_model.h"

namespace heddle {

struct UnitStatistics {
  std::string label;
  UnitRole role = UnitRole::Other;
  Cycle busy = 0;    ///< cycles in which it is used at all
  double share = 0;  ///< of what it offers in the range, 0 to 1
};

struct GroupStatistics {
  std::string label;
  std::array<Cycle, kStreamTimes> times{};  ///< their sum is the range's length
};

struct RangeStatistics {
  Cycle begin = 0, end = 0;  ///< what of the asked range lies in the model; both equal where nothing does
  std::vector<UnitStatistics> units;
  std::vector<GroupStatistics> groups;
  Cycle length() const { return end - begin; }
};

/// What each group does over the time that the model shows; an iteration count as the model was built with.
StreamPieces streams_of(const Problem& problem, const Schedule& schedule, const GanttModel& model, int iterations);

/// Pre: the pieces are those of the model.
RangeStatistics range_statistics(const GanttModel& model, const StreamPieces& streams, Cycle begin, Cycle end);

/// "12 %"; "-" for nothing.
std::string share_text(Cycle part, Cycle whole);
/// What a kind of time means, in half a sentence.
const char* about(StreamTime what);

/// As text: a line, a table of units, a table of groups.
std::string range_text(const RangeStatistics& statistics);

}  // namespace heddle
