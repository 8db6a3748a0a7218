#include "core/analysis/channels.h"

#include <algorithm>
#include <limits>

#include "core/analysis/usage_curve.h"
#include "core/base/saturate.h"

namespace heddle {

bool reader_counts(const Channel& channel, const Reader& reader, const Schedule& schedule) {
  return !channel.only_if_crossing || schedule.group(reader.op) != schedule.group(channel.writer);
}

bool channel_exists(const Channel& channel, const Schedule& schedule) {
  return !channel.only_if_crossing ||
         std::any_of(channel.readers.begin(), channel.readers.end(), [&](const Reader& r) { return reader_counts(channel, r, schedule); });
}

Cycle read_end(const Reader& reader, const Schedule& schedule) {
  return sat_add(sat_add(schedule.start(reader.op), sat_mul(reader.distance, schedule.ii)), reader.release);
}

Cycle slot_life(const Channel& channel, const Schedule& schedule) {
  Cycle life = 0;
  for (const Reader& r : channel.readers)
    if (reader_counts(channel, r, schedule)) life = std::max(life, sat_add(read_end(r, schedule), -schedule.start(channel.writer)));
  return life;
}

std::vector<int> minimal_depths(const Problem& problem, const Schedule& schedule) {
  std::vector<int> depths;
  for (const Channel& channel : problem.channels) {
    Cycle need = channel_exists(channel, schedule) ? 1 : 0;
    for (const Reader& r : channel.readers) {
      if (!reader_counts(channel, r, schedule)) continue;
      const bool crosses = schedule.group(r.op) != schedule.group(channel.writer);
      const Cycle free = sat_add(read_end(r, schedule), crosses ? r.signal : 0);
      need = std::max(need, ceil_div(sat_add(free, -schedule.start(channel.writer)), schedule.ii));
    }
    depths.push_back(static_cast<int>(std::min<Cycle>(need, std::numeric_limits<int>::max())));
  }
  return depths;
}

std::int64_t allocated(const Problem& problem, const Schedule& schedule, Space space) {
  std::int64_t sum = space == Space::Tmem ? problem.resident_columns : problem.resident_smem;
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (problem.channels[c].space == space) sum = sat_add(sum, sat_mul(schedule.depths[c], problem.channels[c].size));
  return sum;
}

std::int64_t ring_barriers(const Problem& problem, const Schedule& schedule) {
  std::int64_t count = 0;
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    const bool crosses = std::any_of(channel.readers.begin(), channel.readers.end(),
                                     [&](const Reader& r) { return schedule.group(r.op) != schedule.group(channel.writer); });
    if (channel_exists(channel, schedule) && crosses) count += 2 * schedule.depths[c];
  }
  return count;
}

std::int64_t rounded_columns(std::int64_t columns) {
  if (columns <= 0) return 0;
  std::int64_t rounded = 32;
  while (rounded < columns && rounded < kSaturated) rounded *= 2;
  return rounded;
}

bool memory_fits(const Problem& problem, const Schedule& schedule) {
  return allocated(problem, schedule, Space::Smem) <= problem.limits.smem_bytes &&
         rounded_columns(allocated(problem, schedule, Space::Tmem)) <= problem.limits.tmem_columns;
}

}  // namespace heddle
