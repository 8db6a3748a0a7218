// Both clocks say when an op of an iteration is issued and starts, and since when nothing but rings can have kept it; what follows from
// that for a ring is the same.
#include "core/simulate/ring_fill.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/analysis/stream_order.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

constexpr Cycle kUnseen = std::numeric_limits<Cycle>::max();
constexpr std::int64_t kMostIterations = 4096;  ///< of a ring: more could not be told apart, and files may ask for billions

/// One op of one iteration.
struct Moment {
  Cycle issue = 0, start = 0;
  Cycle late = 0;  ///< how much longer its latency was than the problem says
  Cycle free = 0;  ///< from here on its group has come to it, and its units are free
};

/// Uses that leave a unit no room for each other; which of them came before decides when one can begin.
bool is_exclusive(const Problem& problem, const UnitUse& use) {
  return use.duration > 0 && use.amount > problem.unit(use.unit).capacity - use.amount;
}

/// The clock of the schedule: iteration i is iteration 0, i IIs later.
class OwnClock {
 public:
  OwnClock(const Problem& problem, const Schedule& schedule, std::optional<int> iterations)
      : problem_(problem), schedule_(schedule), iterations_(iterations), rank_(tie_ranks(problem, schedule)) {
    groups_.resize(schedule.groups.size());
    users_.resize(problem.units.size());
    for (std::size_t v = 0; v < problem.ops.size(); ++v) {
      groups_[schedule.ops[v].group.index()].push_back(OpId(v));
      for (const UnitUse& use : problem.ops[v].uses)
        if (is_exclusive(problem, use)) users_[use.unit.index()].push_back({OpId(v), &use});
    }
  }

  std::optional<Moment> find(OpId op, std::int64_t iteration) const {
    if (iterations_ && (iteration < 0 || iteration >= *iterations_)) return std::nullopt;
    const Cycle start = sat_add(schedule_.start(op), sat_mul(iteration, schedule_.ii));
    Cycle free = iterations_ ? 0 : std::numeric_limits<Cycle>::min();
    // The last iteration of another op before this one, and when it is over.
    const auto behind = [&](Cycle apart, bool tie_counts, Cycle over) {
      std::int64_t number = sat_add(iteration, floor_div(apart, schedule_.ii));
      if (!tie_counts && modulo(apart, schedule_.ii) == 0) --number;
      if (iterations_) number = std::min<std::int64_t>(number, *iterations_ - 1);
      if (iterations_ && number < 0) return;
      free = std::max(free, sat_add(over, sat_mul(number, schedule_.ii)));
    };
    for (const OpId other : groups_[schedule_.group(op).index()]) {
      const bool first = std::pair(rank_[other.index()], other) < std::pair(rank_[op.index()], op);
      behind(sat_add(schedule_.start(op), -schedule_.start(other)), first, sat_add(schedule_.start(other), problem_.op(other).window));
    }
    free = std::min(free, start);
    for (const UnitUse& use : problem_.op(op).uses) {
      if (!is_exclusive(problem_, use)) continue;
      for (const auto& [other, its] : users_[use.unit.index()]) {
        const Cycle begins = sat_add(schedule_.start(other), its->offset);
        behind(sat_add(sat_add(schedule_.start(op), use.offset), -begins), false, sat_add(begins, its->duration - use.offset));
      }
    }
    return Moment{start, start, 0, free};
  }

 private:
  const Problem& problem_;
  const Schedule& schedule_;
  std::optional<int> iterations_;
  std::vector<std::size_t> rank_;
  std::vector<std::vector<OpId>> groups_;
  std::vector<std::vector<std::pair<OpId, const UnitUse*>>> users_;  ///< per unit
};

/// The clock of a run.
class RunClock {
 public:
  RunClock(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline) {
    const std::vector<std::size_t> rank = tie_ranks(problem, schedule);
    std::vector<const SimulatedOp*> order;
    for (const SimulatedOp& run : timeline) order.push_back(&run);
    // A stream goes in order; what it issues at one cycle it issues in the schedule's order.
    const auto place = [&](const SimulatedOp& run) {
      return std::tuple(run.issue, sat_add(schedule.start(run.op), sat_mul(run.iteration, schedule.ii)), rank[run.op.index()], run.op);
    };
    std::sort(order.begin(), order.end(), [&](const SimulatedOp* a, const SimulatedOp* b) { return place(*a) < place(*b); });
    std::map<GroupId, Cycle> streams;
    struct Use {
      Cycle begin, end;
      Moment* moment;
      Cycle offset;
    };
    std::vector<std::vector<Use>> units(problem.units.size());
    for (const SimulatedOp* run : order) {
      const Op& op = problem.op(run->op);
      Cycle& free = streams[run->group];
      Moment& moment = moments_[{run->op, run->iteration}];
      moment = {run->issue, run->start, run->end - run->start - op.latency, std::min(free, run->issue)};
      free = std::max(free, sat_add(run->issue, op.window));
      for (const UnitUse& use : op.uses)
        if (is_exclusive(problem, use))
          units[use.unit.index()].push_back({run->start + use.offset, run->start + use.offset + use.duration, &moment, use.offset});
      iterations_ = std::max(iterations_, run->iteration + 1);
    }
    for (auto& uses : units) {
      std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.begin < b.begin; });
      Cycle over = std::numeric_limits<Cycle>::min(), next = over;
      for (std::size_t i = 0; i < uses.size(); ++i) {
        if (i > 0 && uses[i].begin != uses[i - 1].begin) over = next;
        if (over > std::numeric_limits<Cycle>::min()) uses[i].moment->free = std::max(uses[i].moment->free, over - uses[i].offset);
        next = std::max(next, uses[i].end);
      }
    }
  }

  std::optional<Moment> find(OpId op, std::int64_t iteration) const {
    const auto found = moments_.find({op, iteration});
    return found == moments_.end() ? std::nullopt : std::optional(found->second);
  }
  std::int64_t iterations() const { return iterations_; }

 private:
  std::map<std::pair<OpId, std::int64_t>, Moment> moments_;
  std::int64_t iterations_ = 0;
};

struct Stretch {
  Cycle begin = 0, end = 0;
};

/// How many of the stretches there are at each time.
UsageCurve counted(const std::vector<Stretch>& stretches, Cycle begin, Cycle end) {
  std::vector<UsageStep> changes;
  for (const Stretch& s : stretches) {
    const Cycle from = std::max(s.begin, begin), to = std::min(s.end, end);
    if (from >= to) continue;
    changes.push_back({from, 1});
    changes.push_back({to, -1});
  }
  std::sort(changes.begin(), changes.end(), [](const UsageStep& a, const UsageStep& b) { return a.at < b.at; });
  UsageCurve curve{{begin, 0}};
  std::int64_t value = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const Cycle at = changes[i].at;
    for (; i < changes.size() && changes[i].at == at; ++i) value += changes[i].value;
    if (at >= end) break;
    if (at == begin)
      curve.front().value = value;
    else if (value != curve.back().value)
      curve.push_back({at, value});
  }
  return curve;
}

template <class Clock>
class Filler {
 public:
  Filler(const Problem& problem, const Schedule& schedule, const Clock& clock, Cycle begin, Cycle end)
      : problem_(problem), schedule_(schedule), clock_(clock), begin_(begin), end_(end) {}

  /// `first` to `last`: the iterations whose entries may be seen.
  RingFill fill(ChannelId id, std::int64_t first, std::int64_t last) const {
    const Channel& channel = problem_.channel(id);
    RingFill ring;
    ring.channel = id;
    ring.begin = begin_;
    ring.end = end_;
    std::vector<Stretch> taken, filled;
    std::vector<const Edge*> reads;
    for (const Edge& edge : problem_.edges)
      if (std::find(channel.values.begin(), channel.values.end(), edge.value) != channel.values.end()) reads.push_back(&edge);
    for (std::int64_t i = first; i <= last; ++i) {
      if (const auto writer = clock_.find(channel.writer, i)) {
        Cycle until = released(channel, i, false);
        if (until == kUnseen)
          if (const auto next = clock_.find(channel.writer, sat_add(i, schedule_.depth(id)))) until = next->start;
        taken.push_back({writer->start, until});
        filled.push_back({std::max(writer->start, usable(*writer, channel.writer)), until});
        // The slot is the one that was filled so many iterations before.
        const auto before = clock_.find(channel.writer, i - schedule_.depth(id));
        const Cycle credit = released(channel, i - schedule_.depth(id), true);
        if (before && credit != kUnseen) {
          Moment there = *writer;
          there.free = std::max(there.free, usable(*before, channel.writer));
          add(ring.full, channel.writer, i, there, credit);
        }
      }
      for (const Edge* edge : reads) {
        const auto from = clock_.find(edge->from, i), to = clock_.find(edge->to, i + edge->distance);
        if (!from || !to) continue;
        const Cycle handoff = schedule_.group(edge->from) != schedule_.group(edge->to) ? edge->handoff : 0;
        add(ring.starving, edge->to, i + edge->distance, *to, sat_add(sat_add(from->start, from->late), sat_add(edge->latency, handoff)));
      }
    }
    ring.taken = counted(taken, begin_, end_);
    ring.filled = counted(filled, begin_, end_);
    for (auto* waits : {&ring.starving, &ring.full})
      std::stable_sort(waits->begin(), waits->end(), [](const RingWait& a, const RingWait& b) { return a.begin < b.begin; });
    return ring;
  }

 private:
  Cycle usable(const Moment& moment, OpId op) const { return sat_add(sat_add(moment.start, moment.late), problem_.op(op).latency); }

  /// When the slot that iteration i filled is free again, or its writer knows it; never, where a reader is not in the picture.
  Cycle released(const Channel& channel, std::int64_t i, bool to_writer) const {
    Cycle free = std::numeric_limits<Cycle>::min();
    for (const Reader& reader : channel.readers) {
      if (!reader_counts(channel, reader, schedule_)) continue;
      const auto read = clock_.find(reader.op, i + reader.distance);
      if (!read) return kUnseen;
      Cycle at = sat_add(read->start, reader.release);
      if (problem_.op(reader.op).asynchronous) at = sat_add(at, read->late);
      if (to_writer && schedule_.group(reader.op) != schedule_.group(channel.writer)) at = sat_add(at, reader.signal);
      free = std::max(free, at);
    }
    return free;
  }

  /// The op could go but for this, from when it is free until then, but no longer than it stands.
  void add(std::vector<RingWait>& waits, OpId at, std::int64_t iteration, const Moment& op, Cycle until) const {
    const Cycle from = std::max(op.free, begin_), to = std::min({until, op.issue, end_});
    if (from < to) waits.push_back({from, to, at, iteration});
  }

  const Problem& problem_;
  const Schedule& schedule_;
  const Clock& clock_;
  Cycle begin_, end_;
};

bool is_there(const Problem& problem, const Schedule& schedule, std::size_t c) {
  return schedule.depths[c] > 0 && channel_exists(problem.channels[c], schedule) && !problem.channels[c].readers.empty();
}

}  // namespace

std::vector<RingFill> ring_fill(const Problem& problem, const Schedule& schedule, const FillRange& range) {
  const OwnClock clock(problem, schedule, range.iterations);
  const Filler filler(problem, schedule, clock, range.begin, range.end);
  std::vector<RingFill> rings;
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    if (!is_there(problem, schedule, c)) continue;
    const Channel& channel = problem.channels[c];
    // What of iteration 0 may be seen begins with its writer, or with a reader that has long waited, and ends with its last read.
    const Cycle life = std::max<Cycle>(slot_life(channel, schedule), 0);
    Cycle last_start = schedule.start(channel.writer), first_start = last_start;
    for (const Edge& edge : problem.edges) {
      if (std::find(channel.values.begin(), channel.values.end(), edge.value) == channel.values.end()) continue;
      const Cycle read = sat_add(schedule.start(edge.to), sat_mul(edge.distance, schedule.ii));
      last_start = std::max(last_start, read);
      first_start = std::min(first_start, read);
    }
    const Cycle end = std::max(last_start, sat_add(schedule.start(channel.writer), life));
    std::int64_t first = floor_div(sat_add(range.begin, -end), schedule.ii),
                 last = ceil_div(sat_add(range.end, -first_start), schedule.ii) + 1;
    if (range.iterations) first = std::max<std::int64_t>(first, 0), last = std::min<std::int64_t>(last, *range.iterations - 1);
    last = std::min(last, sat_add(first, kMostIterations));
    rings.push_back(filler.fill(ChannelId(c), first, last));
  }
  return rings;
}

std::vector<RingFill> ring_fill(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline, Cycle begin,
                                Cycle end) {
  const RunClock clock(problem, schedule, timeline);
  const Filler filler(problem, schedule, clock, begin, end);
  std::vector<RingFill> rings;
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (is_there(problem, schedule, c)) rings.push_back(filler.fill(ChannelId(c), 0, clock.iterations() - 1));
  return rings;
}

double share_of_time(const std::vector<RingWait>& waits, Cycle begin, Cycle end) {
  if (begin >= end) return 0;
  Cycle sum = 0, seen = begin;
  for (const RingWait& wait : waits) {
    const Cycle from = std::max(wait.begin, seen), to = std::min(wait.end, end);
    if (from < to) sum += to - from;
    seen = std::max(seen, to);
  }
  return static_cast<double>(sum) / static_cast<double>(end - begin);
}

double mean_value(const UsageCurve& curve, Cycle begin, Cycle end) {
  if (begin >= end) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const Cycle from = std::max(curve[i].at, begin), to = std::min(i + 1 < curve.size() ? curve[i + 1].at : end, end);
    if (from < to) sum += static_cast<double>(to - from) * static_cast<double>(curve[i].value);
  }
  return sum / static_cast<double>(end - begin);
}

}  // namespace heddle
