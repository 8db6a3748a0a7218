// Groups are matched by the ops that they share, the shift is the most common distance of starts, and then pairs of streams are walked
// through side by side.
#include "core/analysis/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/analysis/signature.h"
#include "core/analysis/turns.h"
#include "core/base/integer_division.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

Cycle first_start(const Schedule& schedule) {
  const auto first =
      std::min_element(schedule.ops.begin(), schedule.ops.end(), [](const Placement& a, const Placement& b) { return a.start < b.start; });
  return first == schedule.ops.end() ? 0 : first->start;
}

/// The most common distance; of several the shortest, and of those the one that the first op has.
Cycle most_common_shift(const Schedule& a, const Schedule& b) {
  std::map<Cycle, std::pair<int, std::size_t>> votes;  // how many, and the first op
  for (std::size_t v = 0; v < a.ops.size(); ++v) ++votes.try_emplace(a.ops[v].start - b.ops[v].start, 0, v).first->second.first;
  Cycle best = 0;
  auto rank = std::tuple(0, Cycle{0}, std::size_t{0});
  for (const auto& [shift, vote] : votes)
    if (const auto candidate = std::tuple(-vote.first, std::abs(shift), vote.second); candidate < rank) {
      rank = candidate;
      best = shift;
    }
  return best;
}

std::vector<OpId> members(const Schedule& schedule, GroupId group) {
  std::vector<OpId> ops;
  for (std::size_t v = 0; v < schedule.ops.size(); ++v)
    if (schedule.ops[v].group == group) ops.push_back(OpId(v));
  return ops;
}

std::string step_text(const Problem& problem, const Stream::Step* step) {
  if (!step) return "nothing more";
  const std::string& name = problem.op(step->op).name;
  return step->lap == 0 ? name : fmt::format("{} of iteration k{:+}", name, step->lap);
}

struct GroupOf {
  const Schedule& schedule;
  GroupId group;
};

/// Where the streams of one pair of groups part; `origin` is the cycle at which the window of A begins.
std::optional<Divergence> part_in_group(const Problem& problem, const GroupOf& of_a, const GroupOf& of_b, Cycle origin) {
  const Schedule &a = of_a.schedule, &b = of_b.schedule;
  const GroupId in_a = of_a.group, in_b = of_b.group;
  const std::vector<OpId> ops_a = members(a, in_a), ops_b = members(b, in_b);
  const auto into_window = [&](OpId op) { return modulo(a.start(op) - origin, a.ii); };
  OpId root;
  for (const OpId op : ops_a) {
    if (b.group(op) != in_b) continue;
    if (!root.valid() || into_window(op) < into_window(root) || (into_window(op) == into_window(root) && first_at_tie(problem, op, root)))
      root = op;
  }
  if (!root.valid()) return std::nullopt;
  const Stream stream_a = stream_from(problem, a, root, ops_a), stream_b = stream_from(problem, b, root, ops_b);
  std::size_t i = 0;
  while (i < stream_a.steps.size() && i < stream_b.steps.size() && stream_a.steps[i] == stream_b.steps[i]) ++i;
  const Stream::Step* next_a = i < stream_a.steps.size() ? &stream_a.steps[i] : nullptr;
  const Stream::Step* next_b = i < stream_b.steps.size() ? &stream_b.steps[i] : nullptr;
  if (!next_a && !next_b) return std::nullopt;
  Divergence d;
  d.group = in_a;
  d.after = stream_a.steps[i - 1].op;  // the root is common
  d.at = origin + into_window(root) + (next_a ? a.start(next_a->op) + next_a->lap * a.ii - a.start(root) : a.ii);
  if (next_a) d.a_next = next_a->op, d.ops.push_back(next_a->op);
  if (next_b) d.b_next = next_b->op;
  if (next_b && d.b_next != d.a_next) d.ops.push_back(next_b->op);
  d.sentence = fmt::format("{}: after {}, A issues {} and B {}", group_name(a, in_a), problem.op(d.after).name, step_text(problem, next_a),
                           step_text(problem, next_b));
  if (next_a && b.group(next_a->op) != in_b)
    d.sentence += fmt::format("; in B {} is in {}", problem.op(next_a->op).name, group_name(b, b.group(next_a->op)));
  if (next_b && a.group(next_b->op) != in_a)
    d.sentence += fmt::format("; in A {} is in {}", problem.op(next_b->op).name, group_name(a, a.group(next_b->op)));
  return d;
}

/// Streams are compared where two groups share an op. An op that is with the producer in one schedule only may be in no such pair.
std::optional<Divergence> part_in_place(const Problem& problem, const Schedule& a, const Schedule& b,
                                        const std::vector<OpDifference>& ops) {
  const auto moved = std::find_if(ops.begin(), ops.end(), [](const OpDifference& op) { return op.group; });
  if (moved == ops.end()) return std::nullopt;
  const GroupId in_a = a.group(moved->op), in_b = b.group(moved->op);
  Divergence d;
  d.group = in_a;
  d.a_next = d.b_next = moved->op;
  d.at = modulo(moved->a_start, a.ii);
  d.ops = {moved->op};
  d.sentence = fmt::format("{} is in {} in A and in {} in B", problem.op(moved->op).name, group_name(a, in_a), group_name(b, in_b));
  return d;
}

std::string slots(int count) { return count == 0 ? "no ring" : count_of(count, "slot"); }

/// The streams agree: a ring or a group may still be of another size.
std::optional<Divergence> part_in_size(const Problem& problem, const Schedule& a, const Schedule& b, const std::vector<GroupId>& groups) {
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    const bool exists_a = channel_exists(channel, a), exists_b = channel_exists(channel, b);
    const int depth_a = exists_a ? a.depths[c] : 0, depth_b = exists_b ? b.depths[c] : 0;
    if (depth_a == depth_b) continue;
    Divergence d;
    d.channel = ChannelId(c);
    d.at = modulo(a.start(channel.writer), a.ii);
    d.ops = {channel.writer};
    for (const Reader& reader : channel.readers)
      if (std::find(d.ops.begin(), d.ops.end(), reader.op) == d.ops.end()) d.ops.push_back(reader.op);
    d.sentence = fmt::format("the same order everywhere; ring {} has {} in A and {} in B", channel.name, slots(depth_a), slots(depth_b));
    return d;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!groups[g].valid() || a.groups[groups[g].index()].warps == b.groups[g].warps) continue;
    Divergence d;
    d.ops = members(a, groups[g]);
    if (d.ops.empty()) continue;
    d.sentence = fmt::format("the same order everywhere; {} has {} warps in A and {} in B", group_name(a, groups[g]),
                             a.groups[groups[g].index()].warps, b.groups[g].warps);
    return d;
  }
  return std::nullopt;
}

}  // namespace

Cycle alignment_shift(const Schedule& a, const Schedule& b, const Alignment& alignment) {
  switch (alignment.at) {
    case Alignment::At::Op:
      if (alignment.op.valid() && alignment.op.index() < a.ops.size()) return a.start(alignment.op) - b.start(alignment.op);
      break;
    case Alignment::At::Most: return most_common_shift(a, b);
    case Alignment::At::IiStart: break;
  }
  return first_start(a) - first_start(b);
}

std::vector<GroupId> match_groups(const Problem& problem, const Schedule& from, const Schedule& to) {
  // Pairs by the number of common ops; of equal ones that with the smallest common op first, which is the same both ways.
  std::map<std::pair<GroupId, GroupId>, std::pair<int, std::size_t>> common;
  for (std::size_t v = 0; v < from.ops.size(); ++v) ++common.try_emplace({from.ops[v].group, to.ops[v].group}, 0, v).first->second.first;
  struct Pair {
    int negative_count;
    std::size_t first;
    GroupId from, to;
    auto operator<=>(const Pair&) const = default;
  };
  std::vector<Pair> pairs;
  for (const auto& [pair, count] : common) pairs.push_back({-count.first, count.second, pair.first, pair.second});
  std::sort(pairs.begin(), pairs.end());
  std::vector<GroupId> matched(from.groups.size());
  std::vector<bool> taken(to.groups.size());
  const auto match = [&](GroupId g, GroupId h) {
    if (matched[g.index()].valid() || taken[h.index()]) return;
    matched[g.index()] = h;
    taken[h.index()] = true;
  };
  if (problem.has_producer_group() && !matched.empty() && !taken.empty()) match(GroupId(0), GroupId(0));
  for (const Pair& pair : pairs) match(pair.from, pair.to);
  return matched;
}

bool Difference::same_times() const {
  return std::none_of(ops.begin(), ops.end(), [](const OpDifference& op) { return op.differs(); });
}

Difference compare_schedules(const Problem& problem, const Schedule& a, const Schedule& b, const Alignment& alignment) {
  Difference difference;
  difference.shift = alignment_shift(a, b, alignment);
  difference.groups = match_groups(problem, b, a);
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const OpId id{v};
    OpDifference op{id, a.start(id), b.start(id)};
    const Cycle aligned = op.b_start + difference.shift;
    op.delta = aligned - op.a_start;
    op.slot = modulo(aligned, b.ii) != modulo(op.a_start, a.ii);
    op.stage = floor_div(aligned, b.ii) != floor_div(op.a_start, a.ii);
    op.group = difference.groups[b.group(id).index()] != a.group(id);
    difference.ops.push_back(op);
  }
  const bool at_op = alignment.at == Alignment::At::Op && alignment.op.valid() && alignment.op.index() < a.ops.size();
  const Cycle origin = at_op ? modulo(a.start(alignment.op), a.ii) : 0;
  for (std::size_t g = 0; g < b.groups.size(); ++g) {
    if (!difference.groups[g].valid()) continue;
    auto parting = part_in_group(problem, {a, difference.groups[g]}, {b, GroupId(g)}, origin);
    if (parting && (!difference.first || parting->at < difference.first->at)) difference.first = std::move(parting);
  }
  difference.turns = a.turns != b.turns && !(kept_turns(problem, a).empty() && kept_turns(problem, b).empty());
  if (!difference.first) difference.first = part_in_place(problem, a, b, difference.ops);
  if (!difference.first) difference.first = part_in_size(problem, a, b, difference.groups);
  return difference;
}

std::vector<OpId> differing_ops(const Problem& problem, const Schedule& a, const Schedule& b) {
  const Cycle shift = most_common_shift(a, b);
  const std::vector<GroupId> groups = match_groups(problem, b, a);
  std::vector<OpId> ops;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (b.ops[v].start + shift != a.ops[v].start || groups[b.ops[v].group.index()] != a.ops[v].group) ops.push_back(OpId(v));
  return ops;
}

Schedule shifted(Schedule schedule, Cycle shift) {
  for (Placement& placement : schedule.ops) placement.start += shift;
  return schedule;
}

}  // namespace heddle
