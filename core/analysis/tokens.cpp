#include "core/analysis/tokens.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/channels.h"
#include "core/analysis/pipeline_program.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

constexpr std::int64_t kColumnBytes = 512;  ///< 128 lanes of 32 bits

/// Groups that take a value out of its ring: other groups, and the writer's own where it waits for a barrier.
std::set<GroupId> takers(const Problem& problem, const Schedule& schedule, ValueId value) {
  std::set<GroupId> groups;
  for (const Edge& e : problem.edges)
    if (e.value == value && (e.waits || schedule.group(e.from) != schedule.group(e.to))) groups.insert(schedule.group(e.to));
  return groups;
}

}  // namespace

Tokens tokens_per_iteration(const Problem& problem, const Schedule& schedule) {
  Tokens tokens;
  std::map<std::pair<GroupId, GroupId>, PairTokens> pairs;
  const auto pair = [&](GroupId from, GroupId to) -> PairTokens& {
    PairTokens& found = pairs[{from, to}];
    found.from = from, found.to = to;
    return found;
  };
  const PipelineProgram program = pipeline_program(problem, schedule);
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    if (schedule.depths[c] <= 0 || !channel_exists(channel, schedule)) continue;
    RingTokens ring;
    ring.channel = ChannelId(c);
    ring.writer = schedule.group(channel.writer);
    ring.depth = schedule.depths[c];
    ring.slot_bytes = channel.space == Space::Tmem ? sat_mul(channel.size, kColumnBytes) : channel.size;
    std::set<GroupId> readers;
    std::set<std::pair<GroupId, GroupId>> between;
    for (const ValueId value : channel.values) {
      const std::set<GroupId> to = takers(problem, schedule, value);
      const GroupId from = schedule.group(problem.value(value).producer);
      ++ring.entries;
      ring.bytes = sat_add(ring.bytes, problem.value(value).bytes);
      for (const GroupId group : to) {
        PairTokens& both = pair(from, group);
        ++both.entries;
        both.bytes = sat_add(both.bytes, problem.value(value).bytes);
        readers.insert(group);
        between.insert({from, group});
      }
    }
    for (const Reader& reader : channel.readers)
      if (reader_counts(channel, reader, schedule)) readers.insert(schedule.group(reader.op));
    for (std::size_t g = 0; g < program.groups.size(); ++g)
      for (const PipelineLine& line : program.groups[g].lines) {
        if (line.channel != ring.channel) continue;
        const std::int64_t arrivals = line.hardware ? 1 : schedule.groups[g].warps;
        if (line.kind == PipelineLine::Kind::Commit) {
          ring.full_arrivals += arrivals;
          for (const GroupId to : takers(problem, schedule, line.value)) pair(GroupId(g), to).full_arrivals += arrivals;
        } else if (line.kind == PipelineLine::Kind::Release) {
          ring.empty_arrivals += arrivals;
          pair(ring.writer, GroupId(g)).empty_arrivals += arrivals;
          between.insert({ring.writer, GroupId(g)});
        }
      }
    for (const auto& [from, to] : between) ++pair(from, to).rings;
    ring.readers.assign(readers.begin(), readers.end());
    tokens.rings.push_back(std::move(ring));
  }
  for (auto& [key, tokens_of] : pairs) tokens.pairs.push_back(tokens_of);
  return tokens;
}

}  // namespace heddle
