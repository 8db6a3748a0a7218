#include "core/chart/range_statistics.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle {
namespace {

UnitStatistics unit_in(const GanttLane& lane, Cycle begin, Cycle end, Cycle model_end) {
  UnitStatistics unit{lane.label, lane.role};
  double used = 0;
  for (std::size_t i = 0; i < lane.profile.size(); ++i) {
    const Cycle from = std::max(lane.profile[i].at, begin);
    const Cycle to = std::min(i + 1 < lane.profile.size() ? lane.profile[i + 1].at : model_end, end);
    if (to <= from || lane.profile[i].value <= 0) continue;
    unit.busy += to - from;
    used += static_cast<double>(to - from) * static_cast<double>(lane.profile[i].value);
  }
  if (end > begin) unit.share = used / static_cast<double>(end - begin) / static_cast<double>(std::max<std::int64_t>(1, lane.capacity));
  return unit;
}

std::string percent(double share) { return share > 0.99 && share < 1 ? "99 %" : fmt::format("{:.0f} %", 100 * share); }

}  // namespace

StreamPieces streams_of(const Problem& problem, const Schedule& schedule, const GanttModel& model, int iterations) {
  return model.mode == GanttMode::Steady ? steady_streams(problem, schedule)
                                         : run_streams(problem, schedule, std::max(1, iterations), model.begin, model.end);
}

RangeStatistics range_statistics(const GanttModel& model, const StreamPieces& streams, Cycle begin, Cycle end) {
  RangeStatistics result;
  result.begin = std::clamp(begin, model.begin, model.end);
  result.end = std::clamp(end, result.begin, model.end);
  for (const GanttLane& lane : model.lanes)
    if (lane.measure == LaneMeasure::Unit) result.units.push_back(unit_in(lane, result.begin, result.end, model.end));
  for (std::size_t g = 0; g < model.groups.size() && g < streams.size(); ++g)
    result.groups.push_back({model.groups[g].label, stream_times(streams[g], result.begin, result.end)});
  return result;
}

std::string share_text(Cycle part, Cycle whole) {
  return part == 0 || whole <= 0 ? "-" : percent(static_cast<double>(part) / static_cast<double>(whole));
}

const char* about(StreamTime what) {
  switch (what) {
    case StreamTime::Issuing: return "its warps issue an op";
    case StreamTime::Data: return "it waits for a value of another op";
    case StreamTime::Order: return "it waits for an order without a value: a barrier";
    case StreamTime::Unit: return "another op's turn on the unit comes first";
    case StreamTime::Slot: return "the slot that it fills next has not been released";
    case StreamTime::Spare: return "nothing holds it: the schedule starts its next op later, or it has none left";
  }
  return "";
}

std::string range_text(const RangeStatistics& s) {
  std::string text =
      fmt::format("cycles {} to {}: {}, of the schedule as drawn\n", grouped(s.begin), grouped(s.end), count_of(s.length(), "cycle"));
  if (s.length() == 0) return text;
  std::vector<std::vector<std::string>> rows;
  for (const UnitStatistics& unit : s.units) rows.push_back({printable(unit.label), grouped(unit.busy), percent(unit.share)});
  if (!rows.empty()) text += text_table({{"unit"}, {"busy cycles", true}, {"of its capacity", true}}, rows);
  rows.clear();
  std::vector<TextColumn> columns{{"warp group"}};
  for (std::size_t k = 0; k < kStreamTimes; ++k) columns.push_back({to_string(static_cast<StreamTime>(k)), true});
  for (const GroupStatistics& group : s.groups) {
    rows.push_back({printable(group.label)});
    for (const Cycle cycles : group.times)
      rows.back().push_back(cycles == 0 ? "-" : fmt::format("{} {}", grouped(cycles), share_text(cycles, s.length())));
  }
  return text + text_table(columns, rows);
}

}  // namespace heddle
