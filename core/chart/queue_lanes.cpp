#include "core/chart/queue_lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle {

const char* to_string(QueueMark::State state) { return state == QueueMark::State::Full ? "full" : "starving"; }

std::vector<QueueLane> queue_lanes(const Problem& problem, const Schedule& schedule, const std::vector<RingFill>& rings) {
  std::vector<QueueLane> lanes;
  for (const RingFill& ring : rings) {
    const Channel& channel = problem.channel(ring.channel);
    const Op& writer = problem.op(channel.writer);
    QueueLane lane;
    lane.label = "queue " + channel.name;
    lane.depth = schedule.depth(ring.channel);
    lane.detail = count_of(lane.depth, "slot");
    lane.role = writer.uses.empty() ? UnitRole::Other : problem.unit(writer.uses.front().unit).role;
    lane.channel = ring.channel;
    lane.taken = ring.taken;
    lane.filled = ring.filled;
    for (const RingWait& wait : ring.starving)
      lane.marks.push_back({QueueMark::State::Starving, wait.begin, wait.end, wait.at, wait.iteration});
    for (const RingWait& wait : ring.full) lane.marks.push_back({QueueMark::State::Full, wait.begin, wait.end, wait.at, wait.iteration});
    std::stable_sort(lane.marks.begin(), lane.marks.end(), [](const QueueMark& a, const QueueMark& b) { return a.begin < b.begin; });
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

std::string queue_value(const QueueLane& lane, Cycle at) {
  return fmt::format("{} of {} taken, {} filled", value_at(lane.taken, at), count_of(lane.depth, "slot"), value_at(lane.filled, at));
}

std::string mark_text(const Problem& problem, const Schedule& schedule, const QueueMark& mark, bool steady) {
  const std::string group = role_name(schedule, schedule.group(mark.op).index());
  std::string iteration = std::to_string(mark.iteration);
  if (steady) iteration = mark.iteration == 0 ? "k" : fmt::format("k{:+}", mark.iteration);
  return fmt::format("{}: {} of {} waits for {}, {} to {} ({} cycles), iteration {}", to_string(mark.state), problem.op(mark.op).name,
                     group, mark.state == QueueMark::State::Full ? "a free slot" : "the entry", grouped(mark.begin), grouped(mark.end),
                     grouped(mark.end - mark.begin), iteration);
}

}  // namespace heddle
