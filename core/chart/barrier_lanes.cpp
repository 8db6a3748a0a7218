// The program's lines (core/analysis/pipeline_program.h) give the times of iteration 0; every other iteration is as many IIs later.
#include "core/chart/barrier_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/analysis/pipeline_program.h"
#include "core/analysis/turns.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle {
namespace {

using Kind = PipelineLine::Kind;
using State = BarrierSpan::State;

constexpr int kMostOccurrences = 4096;  ///< of a lane: more could not be told apart, and files may ask for billions

/// What happens to the slot that iteration 0 fills.
struct SlotLife {
  OpId writer, reader;
  Cycle begin = 0, full = 0, read = 0, end = 0;
  bool committed = false, read_by_any = false;
  UnitRole role = UnitRole::Other;
};

class LaneBuilder {
 public:
  LaneBuilder(const Problem& problem, const Schedule& schedule, const BarrierRange& range)
      : problem_(problem), schedule_(schedule), range_(range), program_(pipeline_program(problem, schedule)) {}

  std::vector<BarrierLane> run() {
    add_rings();
    add_signals();
    if (schedule_.turns)
      for (const Turns& turns : kept_turns(problem_, schedule_)) add_turns(turns);
    return std::move(lanes_);
  }

 private:
  template <class Visit>
  void each_line(Visit visit) const {
    for (const PipelineGroup& group : program_.groups)
      for (const PipelineLine& line : group.lines) visit(line);
  }

  Cycle later(Cycle time, int iterations) const { return sat_add(time, sat_mul(iterations, schedule_.ii)); }
  /// When the arrival of this line is seen.
  Cycle arrival(const PipelineLine& line) const {
    return line.hardware ? sat_add(schedule_.start(line.op), problem_.op(line.op).latency) : line.time;
  }
  UnitRole role_of(OpId op) const {
    const Op& of = problem_.op(op);
    return of.uses.empty() ? UnitRole::Other : problem_.unit(of.uses.front().unit).role;
  }

  void add_rings() {
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      if (schedule_.depths[c] <= 0 || !channel_exists(channel, schedule_)) continue;
      SlotLife life{channel.writer, {}, schedule_.start(channel.writer)};
      life.role = role_of(channel.writer);
      each_line([&](const PipelineLine& line) {
        if (line.channel != ChannelId(c)) return;
        if (line.kind == Kind::Commit) {
          life.full = life.committed ? std::max(life.full, arrival(line)) : arrival(line);
          life.committed = true;
        } else if (line.kind == Kind::Wait) {
          take(life, line);
        } else if (line.kind == Kind::Release) {
          life.end = std::max(life.end, later(arrival(line), line.distance));
        }
      });
      if (!life.committed) continue;
      // A ring that one group fills and reads by itself has no empty barrier: its slot is free when it has been read.
      for (const Reader& reader : channel.readers)
        if (reader_counts(channel, reader, schedule_)) life.end = std::max(life.end, read_end(reader, schedule_));
      BarrierLane lane;
      lane.label = channel.name;
      lane.detail = count_of(schedule_.depths[c], "slot");
      lane.slots = schedule_.depths[c];
      add(std::move(lane), life);
    }
  }

  /// Hand-overs and orders between groups that lie in no ring: one barrier each.
  void add_signals() {
    using Key = std::tuple<OpId, ValueId, Cycle>;
    std::map<Key, SlotLife> signals;
    each_line([&](const PipelineLine& line) {
      if (line.kind != Kind::Commit || line.channel.valid()) return;
      const Cycle at = arrival(line);
      SlotLife life{line.op, {}, at, at, at, at, true};
      life.role = role_of(line.op);
      signals.emplace(Key{line.op, line.value, line.delay}, life);
    });
    each_line([&](const PipelineLine& line) {
      if (line.kind != Kind::Wait || line.channel.valid()) return;
      const auto found = signals.find({line.other, line.value, line.delay});
      if (found == signals.end()) return;
      take(found->second, line);
      found->second.end = std::max(found->second.end, later(line.time, line.distance));
    });
    for (auto& [key, life] : signals) {
      if (!life.read_by_any) continue;
      life.read = life.end;  // taken up and done with
      BarrierLane lane;
      lane.kind = BarrierLane::Kind::Signal;
      lane.label = std::get<1>(key).valid() ? problem_.value(std::get<1>(key)).name : problem_.op(life.writer).name;
      lane.detail = std::get<1>(key).valid() ? "hand-over" : "order";
      lane.slots = static_cast<int>(std::clamp<Cycle>(ceil_div(sat_add(life.end, -life.begin), schedule_.ii), 1, kMostOccurrences));
      add(std::move(lane), life);
    }
  }

  void take(SlotLife& life, const PipelineLine& line) const {
    const Cycle at = later(line.time, line.distance);
    if (life.read_by_any && life.read <= at) return;
    life.read = at;
    life.reader = line.op;
    life.read_by_any = true;
  }

  void add(BarrierLane lane, SlotLife life) {
    // A schedule that breaks rules may read before it has written; nothing is drawn backwards.
    life.full = std::max(life.full, life.begin);
    life.end = std::max(life.end, life.full);
    life.read = life.read_by_any ? std::clamp(life.read, life.full, life.end) : life.end;
    lane.role = life.role;
    const Cycle ii = schedule_.ii;
    std::int64_t first = floor_div(sat_add(range_.begin, -life.end), ii), last = ceil_div(sat_add(range_.end, -life.begin), ii);
    if (range_.iterations) first = std::max<std::int64_t>(first, 0), last = std::min<std::int64_t>(last, *range_.iterations - 1);
    last = std::min(last, first + kMostOccurrences);
    for (std::int64_t i = first; i <= last; ++i) {
      const Cycle shift = sat_mul(i, ii);
      BarrierSpan span;
      span.iteration = static_cast<int>(i);
      span.slot = static_cast<int>(modulo(i, lane.slots));
      span.phase = static_cast<int>(modulo(floor_div(i, lane.slots), 2));
      const auto put = [&](State state, Cycle begin, Cycle end, OpId op, OpId whose) {
        span.state = state;
        span.op = op;
        span.group = schedule_.group(whose);
        clip(lane, span, sat_add(begin, shift), sat_add(end, shift));
      };
      const OpId reader = life.reader.valid() ? life.reader : life.writer;
      put(State::Filling, life.begin, life.full, life.writer, life.writer);
      put(State::Full, life.full, life.read, life.writer, reader);
      put(State::Read, life.read, life.end, reader, reader);
    }
    std::sort(lane.spans.begin(), lane.spans.end(),
              [](const BarrierSpan& a, const BarrierSpan& b) { return std::tie(a.slot, a.begin) < std::tie(b.slot, b.begin); });
    lanes_.push_back(std::move(lane));
  }

  void clip(BarrierLane& lane, BarrierSpan span, Cycle begin, Cycle end) const {
    span.begin = std::max(begin, range_.begin);
    span.end = std::min(end, range_.end);
    // A hand-over that is taken up at once has no length, and is there all the same.
    const bool moment = lane.kind == BarrierLane::Kind::Signal && span.state == State::Full && begin == end && span.begin <= span.end;
    if (span.begin < span.end || (moment && begin < range_.end)) lane.spans.push_back(span);
  }

  void add_turns(const Turns& turns) {
    struct Issue {
      Cycle begin, end;
      OpId op;
      std::int64_t iteration;
    };
    const Cycle ii = schedule_.ii;
    std::vector<Issue> issues;
    for (const OpId op : turns.ops) {
      const Cycle start = schedule_.start(op), window = std::max<Cycle>(problem_.op(op).window, 1);
      std::int64_t first = floor_div(sat_add(range_.begin, -start), ii) - 1, last = ceil_div(sat_add(range_.end, -start), ii) + 1;
      if (range_.iterations) first = std::max<std::int64_t>(first, 0), last = std::min<std::int64_t>(last, *range_.iterations - 1);
      last = std::min(last, first + kMostOccurrences);
      for (std::int64_t i = first; i <= last; ++i) {
        const Cycle at = sat_add(start, sat_mul(i, ii));
        issues.push_back({at, sat_add(at, window), op, i});
      }
    }
    std::sort(issues.begin(), issues.end(),
              [](const Issue& a, const Issue& b) { return std::tie(a.begin, a.op) < std::tie(b.begin, b.op); });
    BarrierLane lane;
    lane.kind = BarrierLane::Kind::Turn;
    lane.role = problem_.unit(turns.unit).role;
    lane.label = "turn on " + problem_.unit(turns.unit).name;
    std::vector<GroupId> groups;
    for (const OpId op : turns.ops)
      if (const GroupId group = schedule_.group(op); std::find(groups.begin(), groups.end(), group) == groups.end())
        groups.push_back(group);
    lane.detail = count_of(static_cast<std::int64_t>(groups.size()), "group");
    // A group keeps the turn while it alone issues; it passes it on behind its last product.
    for (std::size_t k = 0; k < issues.size();) {
      BarrierSpan span;
      span.op = issues[k].op;
      span.group = schedule_.group(span.op);
      span.iteration = static_cast<int>(issues[k].iteration);
      const Cycle begin = issues[k].begin;
      Cycle end = begin;
      for (; k < issues.size() && schedule_.group(issues[k].op) == span.group; ++k) end = std::max(end, issues[k].end);
      span.state = State::Held;
      clip(lane, span, begin, k < issues.size() ? std::min(end, issues[k].begin) : end);
      if (k == issues.size()) break;
      span.state = State::Passed;
      span.group = schedule_.group(issues[k].op);
      clip(lane, span, end, issues[k].begin);
    }
    if (!lane.spans.empty()) lanes_.push_back(std::move(lane));
  }

  const Problem& problem_;
  const Schedule& schedule_;
  const BarrierRange& range_;
  const PipelineProgram program_;
  std::vector<BarrierLane> lanes_;
};

}  // namespace

std::vector<BarrierLane> barrier_lanes(const Problem& problem, const Schedule& schedule, const BarrierRange& range) {
  return LaneBuilder(problem, schedule, range).run();
}

const char* to_string(BarrierSpan::State state) {
  switch (state) {
    case State::Filling: return "filling";
    case State::Full: return "full";
    case State::Read: return "read";
    case State::Held: return "held";
    case State::Passed: return "passed on";
  }
  return "full";
}

BarrierStrip strip_of(const BarrierLane& lane, const BarrierSpan& span) {
  const double slot = 1.0 / lane.slots, top = slot * span.slot;
  if (lane.kind != BarrierLane::Kind::Tensor || lane.columns < 1) return {top, slot, lane.role};
  return {top + slot * span.first_column / lane.columns, slot * span.columns / lane.columns, span.role};
}

namespace {

/// "S0 of iteration 3, columns 0 to 127: QK0 writes it, 0 to 640 (640 cycles); read by read_s0".
std::string tensor_text(const Problem& problem, const BarrierLane& lane, const BarrierSpan& span, const std::string& iteration,
                        const std::string& when) {
  const Value& value = problem.value(span.value);
  const int first = lane.first_column + span.slot * lane.columns + span.first_column;
  std::vector<std::string> readers;
  for (const Edge& edge : problem.edges)
    if (const std::string& name = problem.op(edge.to).name;
        edge.value == span.value && std::find(readers.begin(), readers.end(), name) == readers.end())
      readers.push_back(name);
  std::string read;
  for (const std::string& name : readers) read += (read.empty() ? "" : ", ") + name;
  const std::string& writer = problem.op(value.producer).name;
  const std::string what = span.state == BarrierSpan::State::Filling ? writer + " writes it"
                           : span.state == BarrierSpan::State::Full  ? "written by " + writer + ", not read yet"
                                                                     : "written by " + writer + ", being read";
  return fmt::format("{} of iteration {}, columns {} to {}: {}, {}; {}", value.name, iteration, first, first + span.columns - 1, what, when,
                     read.empty() ? "read after the loop" : "readers: " + read);
}

}  // namespace

std::string span_text(const Problem& problem, const Schedule& schedule, const BarrierLane& lane, const BarrierSpan& span, bool steady) {
  const std::string group = role_name(schedule, span.group.index());
  const std::string& op = problem.op(span.op).name;
  std::string when = fmt::format("at {}", grouped(span.begin));
  if (span.begin != span.end)
    when = fmt::format("{} to {} ({} cycles)", grouped(span.begin), grouped(span.end), grouped(span.end - span.begin));
  std::string iteration = fmt::format("{}", span.iteration);
  if (steady) iteration = span.iteration == 0 ? "k" : fmt::format("k{:+}", span.iteration);
  if (lane.kind == BarrierLane::Kind::Tensor) return tensor_text(problem, lane, span, iteration, when);
  std::string what;
  switch (span.state) {
    case State::Held: return fmt::format("{} has the turn, from {} of iteration {} on: {}", group, op, iteration, when);
    case State::Passed: return fmt::format("passed on to {}, which takes it up later: {}", group, when);
    case State::Filling: what = fmt::format("{} fills it", op); break;
    case State::Full:
      what = lane.kind == BarrierLane::Kind::Ring ? fmt::format("{} has filled it, {} has not taken it up yet", op, group)
             : span.begin == span.end             ? fmt::format("{} signals, {} goes on at once", op, group)
                                                  : fmt::format("{} has signalled, {} has not taken it up yet", op, group);
      break;
    case State::Read: what = fmt::format("{} reads it, from {} on", group, op); break;
  }
  std::string place = fmt::format("slot {} of {}, phase {}", span.slot, lane.slots, span.phase);
  if (steady) {
    const std::string factor = span.iteration == 0 ? iteration : "(" + iteration + ")";
    place = lane.slots == 1 ? fmt::format("slot 0 of 1, phase {}&1", factor)
                            : fmt::format("slot {0}%{1} of {1}, phase ({0}/{1})&1", factor, lane.slots);
  }
  return fmt::format("{}: {}, {}, iteration {}", what, when, place, iteration);
}

}  // namespace heddle
