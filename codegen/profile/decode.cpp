// Records become events, and events of the same op in many iterations become medians; a warp's slice with a record that its role cannot
// have written is dropped.
#include "codegen/profile/decode.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "core/base/quantile.h"

namespace heddle::codegen {
namespace {

using Kind = RecordEvent::Kind;
constexpr std::uint32_t kUnwritten = 0xffffffff;
constexpr double kShortestSpan = 5000;  ///< ns of the global timer, whose steps may be as long as 1 us
constexpr std::int64_t kWaited = 60;    ///< cycles: a wait that took longer found the data not there yet
constexpr std::size_t kMostEntries = 4096;

struct Record {
  std::size_t point = 0;
  std::int64_t counter = 0;  ///< of the loop
  std::uint32_t clock = 0;
};

struct WarpRecords {
  std::size_t role = 0;
  int warp = 0;
  std::vector<Record> records;
};

struct BlockRecords {
  std::uint64_t head[kRecordHead] = {};
  std::vector<WarpRecords> warps;
};

std::optional<std::size_t> role_of(const Program& program, int warp) {
  for (std::size_t r = 0; r < program.roles.size(); ++r)
    if (const int first = program.roles[r].first_thread / 32; warp >= first && warp < first + program.roles[r].warps) return r;
  return std::nullopt;
}

/// Slices until their first record that was not written, or that does not come after the one before it in the loop: a slice with room left
/// goes on in the block's next tile. A slice with a record that its role cannot have written is dropped.
std::vector<BlockRecords> split(const RecordPlan& plan, const Program& program, std::span<const std::uint8_t> bytes,
                                std::int64_t& dropped) {
  std::vector<BlockRecords> blocks;
  const std::size_t words = static_cast<std::size_t>(kRecordHead + plan.warps * plan.capacity);
  for (int b = 0; b < plan.blocks && bytes.size() >= 8 * words * static_cast<std::size_t>(b + 1); ++b) {
    const std::uint8_t* at = bytes.data() + 8 * words * static_cast<std::size_t>(b);
    BlockRecords block;
    std::memcpy(block.head, at, sizeof block.head);
    for (int w = 0; w < plan.warps; ++w) {
      const auto role = role_of(program, w);
      if (!role) continue;
      WarpRecords slice{*role, w, {}};
      bool good = true;
      for (int k = 0; k < plan.capacity && good; ++k) {
        std::uint32_t record[2];
        std::memcpy(record, at + 8 * (kRecordHead + w * plan.capacity + k), sizeof record);
        if (record[0] == kUnwritten) break;
        const std::size_t point = record[0] & ((1u << kRecordPointBits) - 1);
        good = point < plan.points.size() && plan.points[point].role == *role;
        const Record next{point, record[0] >> kRecordPointBits, record[1]};
        const auto place = [](const Record& r) { return std::pair(r.counter, r.point); };
        if (good && !slice.records.empty() && place(next) <= place(slice.records.back())) break;
        slice.records.push_back(next);
      }
      if (!good)
        dropped += static_cast<std::int64_t>(slice.records.size());
      else if (!slice.records.empty())
        block.warps.push_back(std::move(slice));
    }
    if (!block.warps.empty()) blocks.push_back(std::move(block));
  }
  return blocks;
}

/// The 32-bit clock goes round every few seconds; a window is much shorter.
std::int64_t after(std::uint32_t clock, std::uint32_t origin) { return static_cast<std::int32_t>(clock - origin); }

struct OpEvents {
  std::map<std::int64_t, std::int64_t> begin;  ///< iteration: time
  std::map<std::int64_t, std::int64_t> end;
};

/// One block: (op, warp) to events, with waits for loads apart.
struct BlockEvents {
  std::map<std::pair<std::size_t, int>, OpEvents> ops;
  struct Wait {
    std::int64_t begin = 0, end = 0;
  };
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<Wait>> waits;  ///< (load, iteration)
  std::map<int, std::size_t> role;                                          ///< of a warp
};

BlockEvents events_of(const RecordPlan& plan, const BlockRecords& block) {
  BlockEvents events;
  const std::uint32_t origin = block.warps.front().records.front().clock;
  for (const WarpRecords& warp : block.warps) {
    events.role[warp.warp] = warp.role;
    std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> waiting;
    for (const Record& record : warp.records) {
      const std::int64_t time = after(record.clock, origin);
      for (const RecordEvent& event : plan.points[record.point].events) {
        const std::int64_t iteration = record.counter + event.iteration;
        // The window, and what of it began earlier or ends later in other roles.
        if (iteration < plan.first_iteration || iteration >= plan.first_iteration + plan.iterations) continue;
        const auto key = std::pair{event.op.index, iteration};
        if (event.kind == Kind::Begin) events.ops[{event.op.index, warp.warp}].begin[iteration] = time;
        if (event.kind == Kind::End) events.ops[{event.op.index, warp.warp}].end[iteration] = time;
        if (event.kind == Kind::WaitBegin) waiting[key] = time;
        if (event.kind == Kind::WaitEnd && waiting.count(key)) events.waits[key].push_back({waiting[key], time});
      }
    }
  }
  return events;
}

struct Samples {
  std::size_t role = 0;
  std::vector<double> starts, durations, bounds;
};

}  // namespace

LoopTimes decode_loop(const RecordPlan& plan, const Program& program, std::span<const std::uint8_t> bytes) {
  LoopTimes times;
  std::int64_t dropped = 0;
  const auto blocks = split(plan, program, bytes, dropped);
  std::map<std::size_t, std::vector<double>> by_role;
  std::vector<double> clocks;
  for (const BlockRecords& block : blocks) {
    bool any = false;
    for (const WarpRecords& warp : block.warps) {
      const Record *begin = nullptr, *end = nullptr;
      for (const Record& record : warp.records)
        for (const RecordEvent& event : plan.points[record.point].events) {
          if (event.kind == Kind::LoopBegin) begin = &record;
          if (event.kind == Kind::LoopEnd && begin) end = &record;
        }
      if (!begin || !end || end->counter <= begin->counter) continue;
      by_role[warp.role].push_back(static_cast<double>(after(end->clock, begin->clock)) /
                                   static_cast<double>(end->counter - begin->counter));
      any = true;
    }
    times.blocks += any;
    const double span = static_cast<double>(block.head[3]) - static_cast<double>(block.head[0]);
    if (block.head[3] > block.head[0] && block.head[4] > block.head[1] && span > kShortestSpan && block.head[4] != ~std::uint64_t{0})
      clocks.push_back(1000 * static_cast<double>(block.head[4] - block.head[1]) / span);
  }
  for (const auto& [role, cycles] : by_role) times.cycles_per_iteration = std::max(times.cycles_per_iteration, median(cycles));
  times.clock_mhz = median(clocks);
  return times;
}

KernelProfile decode_ops(const RecordPlan& plan, const Kernel& kernel, const Problem& problem, const Schedule& schedule,
                         const Program& program, std::span<const std::uint8_t> bytes, std::optional<double>& measured_ii) {
  KernelProfile profile;
  profile.first_iteration = plan.first_iteration;
  profile.iterations = plan.iterations;
  const auto blocks = split(plan, program, bytes, profile.dropped);
  profile.blocks = static_cast<int>(blocks.size());
  std::vector<OpId> ids;
  for (const TileOp& op : kernel.body) ids.push_back(problem.find_op(op.name));
  const auto group_of = [&](std::size_t role) {
    const Role& r = program.roles[role];
    return r.group.valid() ? schedule.groups[r.group.index()].role : r.name;
  };

  // Iterations are laid over the prediction at the first mma; without any at the first op that is recorded in most.
  std::optional<std::size_t> anchor;
  const auto better = [&](std::size_t op) {
    const auto rank = [&](std::size_t o) {
      return std::tuple(kernel.body[o].kind != "mma", problem.op(ids[o]).variable_latency, schedule.start(ids[o]));
    };
    return ids[op].valid() && (!anchor || rank(op) < rank(*anchor));
  };
  for (const RecordPoint& point : plan.points)
    for (const RecordEvent& event : point.events)
      if (event.kind == Kind::Begin && better(event.op.index)) anchor = event.op.index;
  if (!anchor) return profile;

  std::map<std::size_t, Samples> samples;
  std::vector<double> periods;
  for (const BlockRecords& block : blocks) {
    for (const WarpRecords& warp : block.warps) profile.records += static_cast<std::int64_t>(warp.records.size());
    BlockEvents events = events_of(plan, block);
    std::map<std::int64_t, std::int64_t> origin;  // schedule time 0 of each iteration
    for (const auto& [key, op] : events.ops) {
      if (key.first != *anchor || op.begin.empty()) continue;
      for (const auto& [iteration, time] : op.begin) {
        const std::int64_t zero = time - schedule.start(ids[*anchor]);
        const auto [at, fresh] = origin.try_emplace(iteration, zero);
        if (!fresh) at->second = std::min(at->second, zero);
      }
      const auto &first = *op.begin.begin(), &last = *op.begin.rbegin();
      if (last.first > first.first)
        periods.push_back(static_cast<double>(last.second - first.second) / static_cast<double>(last.first - first.first));
    }
    for (auto& [key, op] : events.ops) {
      const auto& [index, warp] = key;
      if (!ids[index].valid()) continue;
      Samples& sample = samples[index];
      sample.role = events.role[warp];
      for (const auto& [iteration, time] : op.begin) {
        if (const auto zero = origin.find(iteration); zero != origin.end())
          sample.starts.push_back(static_cast<double>(time - zero->second));
        if (const auto end = op.end.find(iteration); end != op.end.end() && end->second < time)
          op.end.erase(end);
        else if (end != op.end.end())
          sample.durations.push_back(static_cast<double>(end->second - time));
        if (const auto waits = events.waits.find({index, iteration}); waits != events.waits.end()) {
          // The first reader to get it saw it come, if it had to wait; else the data had been there for who knows how long.
          const auto got =
              std::min_element(waits->second.begin(), waits->second.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
          if (got->end < time) continue;
          (got->end - got->begin > kWaited ? sample.durations : sample.bounds).push_back(static_cast<double>(got->end - time));
          op.end.emplace(iteration, got->end);
        }
      }
    }
    if (!profile.timeline.empty()) continue;
    std::map<std::size_t, int> first_warp;
    for (const WarpRecords& warp : block.warps) first_warp.try_emplace(warp.role, warp.warp);
    for (const auto& [key, op] : events.ops) {
      const std::size_t role = events.role[key.second];
      if (first_warp[role] != key.second || !ids[key.first].valid()) continue;
      for (const auto& [iteration, time] : op.begin) {
        const auto end = op.end.find(iteration);
        profile.timeline.push_back(
            {kernel.body[key.first].name, group_of(role), iteration, time, end == op.end.end() ? time : end->second});
      }
    }
    std::stable_sort(profile.timeline.begin(), profile.timeline.end(),
                     [](const TimelineEntry& a, const TimelineEntry& b) { return a.start < b.start; });
    if (profile.timeline.size() > kMostEntries) profile.timeline.resize(kMostEntries);
    const Cycle zero = profile.timeline.empty() ? 0 : profile.timeline.front().start;
    for (TimelineEntry& entry : profile.timeline) entry.start -= zero, entry.end -= zero;
  }
  for (const auto& [index, sample] : samples) {
    OpTiming op;
    op.op = kernel.body[index].name;
    op.group = group_of(sample.role);
    op.samples = static_cast<std::int64_t>(sample.starts.size());
    op.start = median(sample.starts);
    op.observed_end = !sample.durations.empty();
    const std::vector<double>& durations = op.observed_end ? sample.durations : sample.bounds;
    op.duration = median(durations);
    op.spread = quantile(durations, 0.9) - quantile(durations, 0.1);
    op.predicted_start = static_cast<double>(schedule.start(ids[index]));
    op.predicted_duration = static_cast<double>(problem.op(ids[index]).latency);
    profile.ops.push_back(std::move(op));
  }
  if (!periods.empty()) measured_ii = median(periods);
  return profile;
}

}  // namespace heddle::codegen
