#include "core/analysis/stream_time.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/analysis/period.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

StreamTime reason_of(const Problem& problem, const EventEdge& event) {
  if (event.kind == EventEdge::Kind::Credit) return StreamTime::Slot;
  if (event.kind == EventEdge::Kind::Unit) return StreamTime::Unit;
  return event.edge.valid() && problem.edge(event.edge).value.valid() ? StreamTime::Data : StreamTime::Order;
}

/// An op of one iteration: `at` is its start.
struct Instance {
  Cycle at = 0;
  OpId op;
  std::int64_t iteration = 0;
};

class Streams {
 public:
  Streams(const Problem& problem, const Schedule& schedule)
      : problem_(problem), schedule_(schedule), events_(event_graph(problem, schedule)), waits_(problem.ops.size()) {
    for (std::size_t e = 0; e < events_.size(); ++e)
      if (events_[e].kind != EventEdge::Kind::Stream && events_[e].from != events_[e].to) waits_[events_[e].to.index()].push_back(e);
  }

  /// Of every group over [begin, end). `add` puts an op's instances among those of its group. `whole`: every iteration has others before
  /// it.
  template <class Add>
  StreamPieces by_group(Add add, Cycle begin, Cycle end, bool whole) {
    StreamPieces all;
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g) {
      std::vector<Instance> instances;
      for (std::size_t v = 0; v < problem_.ops.size(); ++v)
        if (schedule_.group(OpId(v)) == GroupId(g)) add(OpId(v), instances);
      all.push_back(pieces(std::move(instances), begin, end, whole));
    }
    return all;
  }

 private:
  std::vector<StreamPiece> pieces(std::vector<Instance> instances, Cycle begin, Cycle end, bool whole) {
    std::sort(instances.begin(), instances.end(),
              [](const Instance& a, const Instance& b) { return std::tie(a.at, a.op) < std::tie(b.at, b.op); });
    std::vector<StreamPiece> found;
    Cycle clock = instances.empty() ? begin : std::min(begin, instances.front().at);
    const auto add = [&](Cycle until, StreamTime what, OpId op, OpId behind) {
      const StreamPiece piece{std::max(clock, begin), std::min(until, end), what, op, behind};
      clock = std::max(clock, until);
      if (piece.begin < piece.end) found.push_back(piece);
    };
    for (const Instance& instance : instances) {
      if (instance.at > clock) {
        const EventEdge* last = nullptr;
        const Cycle due = due_of(instance, whole, last);
        if (last && due > clock) add(std::min(due, instance.at), reason_of(problem_, *last), instance.op, last->from);
        if (instance.at > clock) add(instance.at, StreamTime::Spare, instance.op, {});
      }
      const Cycle until = sat_add(instance.at, problem_.op(instance.op).window);
      if (until > clock) add(until, StreamTime::Issuing, instance.op, {});
    }
    if (clock < end) add(end, StreamTime::Spare, {}, {});
    return found;
  }

  /// When the last of what it waits for lets it start.
  Cycle due_of(const Instance& instance, bool whole, const EventEdge*& last) const {
    Cycle latest = std::numeric_limits<Cycle>::min();
    for (const std::size_t e : waits_[instance.op.index()]) {
      const EventEdge& event = events_[e];
      if (!whole && instance.iteration - event.tokens < 0) continue;  // nothing there to wait for
      // A slot that is filled for the first time is free.
      if (!whole && event.kind == EventEdge::Kind::Credit && instance.iteration < schedule_.depth(event.channel)) continue;
      const Cycle before =
          sat_add(sat_add(schedule_.start(instance.op), -schedule_.start(event.from)), sat_mul(event.tokens, schedule_.ii));
      const Cycle due = sat_add(instance.at, sat_add(event.weight, -before));
      if (due > latest) latest = due, last = &event;
    }
    return latest;
  }

  const Problem& problem_;
  const Schedule& schedule_;
  std::vector<EventEdge> events_;
  std::vector<std::vector<std::size_t>> waits_;  ///< per op: events that are not its stream's
};

}  // namespace

const char* to_string(StreamTime what) {
  switch (what) {
    case StreamTime::Issuing: return "issuing";
    case StreamTime::Data: return "data";
    case StreamTime::Order: return "order";
    case StreamTime::Unit: return "unit";
    case StreamTime::Slot: return "slot";
    case StreamTime::Spare: return "spare";
  }
  return "spare";
}

StreamPieces steady_streams(const Problem& problem, const Schedule& schedule) {
  const auto add = [&](OpId op, std::vector<Instance>& instances) {
    // The window before says what goes on at its beginning, the one after what is waited for at its end.
    for (const int window : {-1, 0, 1}) instances.push_back({schedule.slot(op) + window * schedule.ii, op, 0});
  };
  return Streams(problem, schedule).by_group(add, 0, schedule.ii, true);
}

StreamPieces run_streams(const Problem& problem, const Schedule& schedule, int iterations, Cycle begin, Cycle end) {
  const auto add = [&](OpId op, std::vector<Instance>& instances) {
    for (int i = 0; i < iterations; ++i) instances.push_back({schedule.start(op) + i * schedule.ii, op, i});
  };
  return Streams(problem, schedule).by_group(add, begin, end, false);
}

std::array<Cycle, kStreamTimes> stream_times(const std::vector<StreamPiece>& pieces, Cycle begin, Cycle end) {
  std::array<Cycle, kStreamTimes> times{};
  for (const StreamPiece& piece : pieces)
    times[static_cast<std::size_t>(piece.what)] += std::max<Cycle>(0, std::min(piece.end, end) - std::max(piece.begin, begin));
  return times;
}

}  // namespace heddle
