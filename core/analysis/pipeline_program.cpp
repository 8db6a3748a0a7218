// Edges become waits and commits, channels become acquires and releases; then everything is put in the order of time.
#include "core/analysis/pipeline_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/analysis/stream_order.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/problem/storage.h"

namespace heddle {
namespace {

constexpr Cycle kMostCounted = Cycle{1} << 30;  ///< windows; files may ask for more

using LineKind = PipelineLine::Kind;

class ProgramBuilder {
 public:
  ProgramBuilder(const Problem& problem, const Schedule& schedule)
      : problem_(problem), schedule_(schedule), rank_(tie_ranks(problem, schedule)) {
    program_.groups.resize(schedule.groups.size());
    program_.releases.assign(problem.channels.size(), 0);
    channel_of_.resize(problem.values.size());
    for (std::size_t c = 0; c < problem.channels.size(); ++c)
      for (const ValueId v : problem.channels[c].values)
        if (schedule.depths[c] > 0) channel_of_[v.index()] = ChannelId(c);
  }

  PipelineProgram run() {
    for (std::size_t v = 0; v < problem_.ops.size(); ++v) add(LineKind::Issue, OpId(v), schedule_.start(OpId(v)));
    for (const Edge& e : problem_.edges) add_dependence(e);
    for (std::size_t c = 0; c < problem_.channels.size(); ++c)
      if (channel_exists(problem_.channels[c], schedule_) && schedule_.depths[c] > 0) add_ring(ChannelId(c));
    add_waits();
    for (PipelineGroup& group : program_.groups) settle(group);
    return std::move(program_);
  }

 private:
  PipelineLine& add(LineKind kind, OpId op, Cycle time) {
    auto& lines = program_.groups[schedule_.group(op).index()].lines;
    lines.emplace_back();
    lines.back().kind = kind;
    lines.back().op = op;
    lines.back().time = time;
    return lines.back();
  }

  bool crosses(OpId a, OpId b) const { return schedule_.group(a) != schedule_.group(b); }
  ChannelId ring_of(ValueId value) const { return value.valid() ? channel_of_[value.index()] : ChannelId{}; }

  /// What must have happened before a line: the earliest line of a group that asks for it does the waiting.
  struct Need {
    OpId at;
    Cycle time = 0;
    int spare = 0;
  };
  /// What is waited for.
  struct Awaited {
    bool retire = false;
    OpId other;
    ValueId value;
    Cycle delay = 0;
    int distance = 0;
  };
  using WaitKey = std::tuple<std::size_t, int, std::size_t, std::size_t, Cycle, int>;

  void need(const Awaited& what, Need wanted) {
    const std::size_t v = what.value.valid() ? what.value.index() : problem_.values.size();
    const WaitKey key{schedule_.group(wanted.at).index(), what.retire, what.other.index(), v, what.delay, what.distance};
    const auto [found, fresh] = needs_.try_emplace(key, wanted);
    if (fresh) return;
    const auto when = [&](const Need& n) { return std::tuple(n.time, n.time == schedule_.start(n.at), rank_[n.at.index()]); };
    if (when(wanted) < when(found->second)) {
      wanted.spare = std::min(wanted.spare, found->second.spare);
      found->second = wanted;
    } else {
      found->second.spare = std::min(wanted.spare, found->second.spare);
    }
  }

  void retire_at(OpId other, int distance, OpId at, Cycle time) {
    need({true, other, ValueId{}, 0, distance}, {at, time, std::max(0, -distance)});
  }

  /// The signal that `e.from` is done, once per value, or per delay where there is only an order.
  void commit(const Edge& e, Cycle delay, bool by_hardware) {
    const Op& from = problem_.op(e.from);
    const bool done = delay >= from.latency;
    if (!committed_.insert({e.from, e.value, delay}).second) return;
    const bool hardware = by_hardware && done;
    const Cycle time = schedule_.start(e.from) + (hardware ? 0 : delay);
    if (!hardware && done && from.asynchronous) retire_at(e.from, 0, e.from, time);
    PipelineLine& line = add(LineKind::Commit, e.from, time);
    line.value = e.value;
    line.channel = ring_of(e.value);
    line.delay = delay;
    line.hardware = hardware;
  }

  void add_dependence(const Edge& e) {
    const bool by_hardware = completes_on_barrier(problem_, e.from);
    const bool cross = crosses(e.from, e.to);
    if (!cross && !e.waits) return;  // the stream's own order is enough
    const Need at{e.to, schedule_.start(e.to), 0};
    if (!cross && !by_hardware) return retire_at(e.from, e.distance, e.to, at.time);
    const Op& from = problem_.op(e.from);
    // A pure order may ask for less than the whole op.
    const Cycle delay = e.value.valid() ? from.latency : std::min(from.latency, std::max<Cycle>(e.latency, 0));
    commit(e, delay, by_hardware);
    need({false, e.from, e.value, delay, e.distance}, at);
  }

  /// The writer reads the very slot that it then refills: it needs no signal.
  static bool in_place(const Channel& channel, const Reader& r, int depth) { return r.op == channel.writer && r.distance >= depth; }

  /// Readers in other groups, and readers that hardware releases, free slots through the empty barrier; asynchronous
  /// readers in the writer's group only have to be retired.
  void add_ring(ChannelId id) {
    const Channel& channel = problem_.channel(id);
    const int depth = schedule_.depth(id);
    std::map<std::pair<std::size_t, bool>, const Reader*> last;
    for (const Reader& r : channel.readers) {
      if (!reader_counts(channel, r, schedule_) || in_place(channel, r, depth)) continue;
      const bool asynchronous = problem_.op(r.op).asynchronous, hardware = completes_on_barrier(problem_, r.op);
      if (!crosses(r.op, channel.writer) && !hardware) {
        if (asynchronous) retire_at(r.op, depth - r.distance, channel.writer, schedule_.start(channel.writer));
        continue;
      }
      // One release per group and slot: by the last reader, or with the last one of those that hardware watches.
      const auto when = [&](const Reader& x) {
        return hardware ? std::pair(schedule_.start(x.op) + sat_mul(x.distance, schedule_.ii), rank_[x.op.index()])
                        : std::pair(read_end(x, schedule_), rank_[x.op.index()]);
      };
      const Reader*& kept = last[{schedule_.group(r.op).index(), hardware}];
      if (!kept || when(*kept) < when(r)) kept = &r;
    }
    if (last.empty()) return;
    int beyond = 0;
    for (const auto& [key, reader] : last) {
      const bool hardware = key.second;
      const Cycle time = schedule_.start(reader->op) + (hardware ? 0 : reader->release);
      if (!hardware) {
        for (const Reader& r : channel.readers)
          if (reader_counts(channel, r, schedule_) && !in_place(channel, r, depth) && schedule_.group(r.op).index() == key.first &&
              problem_.op(r.op).asynchronous && !completes_on_barrier(problem_, r.op))
            retire_at(r.op, reader->distance - r.distance, reader->op, time);
      }
      PipelineLine& line = add(LineKind::Release, reader->op, time);
      line.channel = id;
      line.distance = reader->distance;
      line.hardware = hardware;
      line.first = reader->distance;
      beyond = std::max(beyond, reader->distance - depth);
    }
    program_.releases[id.index()] = static_cast<int>(last.size());
    PipelineLine& line = add(LineKind::Acquire, channel.writer, schedule_.start(channel.writer));
    line.channel = id;
    line.value = channel.values.front();
    line.spare = beyond;
  }

  /// A line of the same group that waits for the same iteration earlier, and runs whenever this one does.
  bool waited_before(const WaitKey& key, const Need& wanted) const {
    const auto& [group, retire, other, value, delay, distance] = key;
    const auto when = [&](const Need& n, int d) {
      return std::tuple(n.time + sat_mul(d, schedule_.ii), n.time == schedule_.start(n.at), rank_[n.at.index()]);
    };
    for (int d = 0; d < distance; ++d) {
      const auto found = needs_.find({group, retire, other, value, delay, d});
      if (found != needs_.end() && when(found->second, d) < when(wanted, distance)) return true;
    }
    return false;
  }

  /// The writer has refilled the slot before this wait of its own group: its acquire has waited for everything that the slot held, and
  /// the barrier is in a later phase, whose parity says nothing of the one that is meant.
  bool refilled_before(const WaitKey& key, const Need& wanted) const {
    const auto& [group, retire, other, value, delay, distance] = key;
    const ChannelId ring = retire || value == problem_.values.size() ? ChannelId{} : channel_of_[value];
    if (!ring.valid() || program_.releases[ring.index()] == 0) return false;
    const OpId writer = problem_.channel(ring).writer;
    if (writer != OpId(other) || schedule_.group(writer).index() != group) return false;
    const Cycle refill = sat_add(schedule_.start(writer), sat_mul(schedule_.depth(ring) - distance, schedule_.ii));
    return std::tuple(refill, true, rank_[writer.index()]) <
           std::tuple(wanted.time, wanted.time == schedule_.start(wanted.at), rank_[wanted.at.index()]);
  }

  void add_waits() {
    for (const auto& [key, wanted] : needs_) {
      if (waited_before(key, wanted) || refilled_before(key, wanted)) continue;
      const auto& [group, retire, other, value, delay, distance] = key;
      PipelineLine& line = add(retire ? LineKind::Retire : LineKind::Wait, wanted.at, wanted.time);
      line.other = OpId(other);
      if (value < problem_.values.size()) line.value = ValueId(value);
      if (!retire) line.channel = ring_of(line.value), line.delay = delay;
      line.distance = distance;
      line.first = std::max(0, distance);
      line.spare = wanted.spare;
    }
  }

  void settle(PipelineGroup& group) {
    if (group.lines.empty()) return;
    Cycle first = group.lines.front().time, last = first;
    for (const PipelineLine& line : group.lines) first = std::min(first, line.time), last = std::max(last, line.time);
    const Cycle base = floor_div(first, schedule_.ii);
    const auto count = [](Cycle windows) { return static_cast<int>(std::clamp<Cycle>(windows, -kMostCounted, kMostCounted)); };
    group.first_stage = count(base);
    group.stages = count(floor_div(last, schedule_.ii) - base) + 1;
    for (PipelineLine& line : group.lines) {
      line.stage = count(floor_div(line.time, schedule_.ii) - base);
      line.slot = line.time - floor_div(line.time, schedule_.ii) * schedule_.ii;
    }
    // Signals of ops that began earlier come before the ops that begin at the same cycle.
    const auto key = [&](const PipelineLine& line) {
      const bool own = line.time == schedule_.start(line.op);
      const bool itself = line.kind == LineKind::Retire && line.other == line.op && line.distance == 0;
      const LineKind kind = itself ? LineKind::Issue : line.kind;  // an op of no latency retires after its own issue
      return std::tuple(line.slot, own, rank_[line.op.index()], own ? 0 : line.stage, kind, itself, line.channel, line.value, line.other,
                        line.distance);
    };
    std::stable_sort(group.lines.begin(), group.lines.end(), [&](const PipelineLine& a, const PipelineLine& b) { return key(a) < key(b); });
  }

  const Problem& problem_;
  const Schedule& schedule_;
  const std::vector<std::size_t> rank_;
  std::vector<ChannelId> channel_of_;
  std::map<WaitKey, Need> needs_;
  std::set<std::tuple<OpId, ValueId, Cycle>> committed_;
  PipelineProgram program_;
};

}  // namespace

PipelineProgram pipeline_program(const Problem& problem, const Schedule& schedule) { return ProgramBuilder(problem, schedule).run(); }

std::vector<PipelineWindow> pipeline_windows(const PipelineGroup& group) {
  using Part = PipelineWindow::Part;
  std::vector<PipelineWindow> windows;
  const int stages = group.stages, written = stages > kMostStagesWritten ? 1 : stages;
  const auto add = [&](Part part, int number, auto&& step_of) {
    PipelineWindow window{part, number, {}};
    for (std::size_t i = 0; i < group.lines.size(); ++i) step_of(window, i, group.lines[i]);
    if (!window.steps.empty()) windows.push_back(std::move(window));
  };
  for (int p = 0; p < written - 1; ++p)
    add(Part::Fill, p, [&](PipelineWindow& window, std::size_t i, const PipelineLine& line) {
      const int iteration = p - line.stage;
      if (iteration >= line.first && iteration >= 0) window.steps.push_back({i, iteration, false, line.spare > 0});
    });
  add(Part::Steady, 0, [&](PipelineWindow& window, std::size_t i, const PipelineLine& line) {
    const int least = stages - 1 - line.stage;
    window.steps.push_back({i, -line.stage, least < line.first, line.stage < line.spare});
  });
  for (int e = 0; e < written - 1; ++e)
    add(Part::Drain, e, [&](PipelineWindow& window, std::size_t i, const PipelineLine& line) {
      const int offset = e - line.stage;  // iteration N + offset
      if (offset >= 0 || -offset <= line.spare) return;
      window.steps.push_back({i, offset, stages + offset < line.first, false});
    });
  return windows;
}

}  // namespace heddle
