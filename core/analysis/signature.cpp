// Signatures are arithmetic on starts. Differences are told from the reference op that makes most of a stream look the same.
#include "core/analysis/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/base/integer_division.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

using Steps = std::vector<Stream::Step>;

/// The stream of these ops of one group from `first` on.
Steps steps_from(const Problem& problem, const Schedule& schedule, OpId first, const std::vector<OpId>& ops) {
  Steps steps;
  for (const OpId v : ops) steps.push_back({v, v == first ? 0 : -stream_lag(problem, schedule, first, v)});
  // A lap is what brings an op's start into the window that `first` opens.
  const auto at = [&](const Stream::Step& step) { return schedule.start(step.op) + step.lap * schedule.ii; };
  std::sort(steps.begin(), steps.end(), [&](const Stream::Step& a, const Stream::Step& b) {
    if (a.op == first || b.op == first) return a.op == first && b.op != first;
    if (at(a) != at(b)) return at(a) < at(b);
    return a.op != b.op && first_at_tie(problem, a.op, b.op);
  });
  return steps;
}

std::string iterations(std::int64_t later) {
  const std::int64_t count = std::abs(later);
  return fmt::format("{} {} {}", count == 1 ? "one" : std::to_string(count), count == 1 ? "iteration" : "iterations",
                     later > 0 ? "later" : "earlier");
}

std::string names(const Problem& problem, const std::vector<OpId>& ops) {
  std::string text;
  for (const OpId v : ops) text += (text.empty() ? "" : ", ") + problem.op(v).name;
  return text;
}

/// For each element of `to`, whether it belongs to a longest common subsequence with `from`. Both hold the same ops.
std::vector<bool> unmoved(const Steps& from, const Steps& to) {
  const std::size_t n = to.size();
  std::map<OpId, std::size_t> place;
  for (std::size_t i = 0; i < n; ++i) place[from[i].op] = i;
  // The same ops on both sides: the longest increasing subsequence of their places.
  std::vector<std::size_t> length(n, 1), before(n, n);
  std::size_t last = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (place[to[j].op] < place[to[i].op] && length[j] + 1 > length[i]) {
        length[i] = length[j] + 1;
        before[i] = j;
      }
    if (length[i] > length[last]) last = i;
  }
  std::vector<bool> kept(n, false);
  for (std::size_t i = last; i < n; i = before[i]) kept[i] = true;
  return kept;
}

/// What happened to an op of a stream, seen from the op that the comparison starts with.
struct Change {
  std::int64_t later = 0;  ///< iterations
  OpId before, after;      ///< at most one is valid: where the op moved to
  auto operator<=>(const Change&) const = default;
};

struct Comparison {
  OpId first;
  std::vector<std::pair<Change, std::vector<OpId>>> changes;  ///< equal changes together
  std::size_t cost = 0;
};

Comparison compare_from(const Problem& problem, const Schedule& reference, const Schedule& other, OpId first,
                        const std::vector<OpId>& ops) {
  const Steps from = steps_from(problem, reference, first, ops), to = steps_from(problem, other, first, ops);
  const std::vector<bool> kept = unmoved(from, to);
  std::map<OpId, std::pair<std::size_t, std::int64_t>> old;  // place and lap
  for (std::size_t i = 0; i < from.size(); ++i) old[from[i].op] = {i, from[i].lap};
  Comparison result;
  result.first = first;
  for (std::size_t i = 0; i < to.size(); ++i) {
    Change change;
    change.later = old[to[i].op].second - to[i].lap;
    if (!kept[i]) {
      std::size_t next = i + 1, previous = i;
      while (next < to.size() && !kept[next]) ++next;
      while (previous > 0 && !kept[--previous]) {
      }
      if (next < to.size() && old[to[next].op].first < old[to[i].op].first)
        change.before = to[next].op;
      else
        change.after = to[previous].op;
    }
    if (change == Change{}) continue;
    result.cost += (change.later != 0 ? 1 : 0) + (kept[i] ? 0 : 1);
    const auto same = std::find_if(result.changes.begin(), result.changes.end(), [&](const auto& c) { return c.first == change; });
    if (same != result.changes.end())
      same->second.push_back(to[i].op);
    else
      result.changes.push_back({change, {to[i].op}});
  }
  return result;
}

void describe_stream(const Problem& problem, const Schedule& reference, const Schedule& other, GroupId group,
                     std::vector<std::string>& sentences) {
  std::vector<OpId> ops;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (reference.ops[v].group == group && other.ops[v].group == group) ops.push_back(OpId(v));
  if (ops.size() < 2) return;
  Comparison best;
  for (const OpId first : ops) {
    Comparison candidate = compare_from(problem, reference, other, first, ops);
    if (!best.first.valid() || candidate.cost < best.cost) best = std::move(candidate);
    if (best.cost == 0) return;
  }
  for (const auto& [change, moved] : best.changes) {
    std::string text = fmt::format("{}: {}", group_name(other, group), names(problem, moved));
    if (change.later != 0) text += fmt::format(" {} (seen from {})", iterations(change.later), problem.op(best.first).name);
    if (change.later != 0 && (change.before.valid() || change.after.valid())) text += ",";
    if (change.before.valid()) text += " before " + problem.op(change.before).name;
    if (change.after.valid()) text += " after " + problem.op(change.after).name;
    sentences.push_back(std::move(text));
  }
}

}  // namespace

std::string group_name(const Schedule& schedule, GroupId group) {
  const std::string& role = schedule.groups[group.index()].role;
  const auto same = std::count_if(schedule.groups.begin(), schedule.groups.end(), [&](const ScheduleGroup& g) { return g.role == role; });
  return same > 1 && !role.empty() ? fmt::format("{} (group {})", role, group.index()) : role_name(schedule, group.index());
}

const char* to_string(Aspect aspect) {
  switch (aspect) {
    case Aspect::Groups: return "groups";
    case Aspect::Order: return "order";
    case Aspect::Stages: return "stages";
    case Aspect::Any: return "any";
  }
  return "any";
}

bool first_at_tie(const Problem& problem, OpId a, OpId b) {
  return std::pair(problem.op(a).window > 0, a) < std::pair(problem.op(b).window > 0, b);
}

std::int64_t stream_lag(const Problem& problem, const Schedule& schedule, OpId u, OpId v) {
  return floor_div(schedule.start(v) - schedule.start(u) - (first_at_tie(problem, v, u) ? 1 : 0), schedule.ii);
}

Stream stream_from(const Problem& problem, const Schedule& schedule, OpId first, const std::vector<OpId>& ops) {
  return {steps_from(problem, schedule, first, ops)};
}

std::vector<Stream> streams_of(const Problem& problem, const Schedule& schedule) {
  std::vector<Stream> streams;
  std::map<GroupId, std::vector<OpId>> members;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) members[schedule.ops[v].group].push_back(OpId(v));
  for (const auto& [group, ops] : members) streams.push_back({steps_from(problem, schedule, ops.front(), ops)});
  std::sort(streams.begin(), streams.end());
  return streams;
}

Signature signature_of(const Problem& problem, const Schedule& schedule, Aspect aspect) {
  Signature signature{streams_of(problem, schedule), {}, {}};
  for (Stream& stream : signature.streams) {
    if (aspect == Aspect::Groups || aspect == Aspect::Stages) std::sort(stream.steps.begin(), stream.steps.end());
    if (aspect != Aspect::Any)
      for (Stream::Step& step : stream.steps) step.lap = 0;
  }
  if (aspect == Aspect::Stages)
    for (const Edge& e : problem.edges)
      if (e.from != e.to && schedule.group(e.from) == schedule.group(e.to))
        signature.lags.push_back(stream_lag(problem, schedule, e.from, e.to));
  if (aspect == Aspect::Stages || aspect == Aspect::Any) signature.depths = minimal_depths(problem, schedule);
  return signature;
}

int signature_distance(const Problem& problem, const Schedule& a, const Schedule& b) {
  int distance = 0;
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    for (std::size_t j = i + 1; j < problem.ops.size(); ++j) {
      const OpId u{i}, v{j};
      const bool together = a.group(u) == a.group(v);
      if (together != (b.group(u) == b.group(v)))
        ++distance;
      else if (together && stream_lag(problem, a, u, v) != stream_lag(problem, b, u, v))
        ++distance;
    }
  const std::vector<int> in_a = minimal_depths(problem, a), in_b = minimal_depths(problem, b);
  for (std::size_t c = 0; c < in_a.size(); ++c) distance += in_a[c] != in_b[c];
  return distance;
}

void align_groups(const Problem& problem, const Schedule& reference, Schedule& schedule) {
  const std::size_t count = schedule.groups.size(), fixed = problem.has_producer_group() ? 1 : 0;
  std::vector<std::tuple<int, std::size_t, std::size_t>> overlaps;  // -ops in common, number here, number there
  for (std::size_t g = fixed; g < count; ++g)
    for (std::size_t h = fixed; h < count; ++h) {
      int common = 0;
      for (std::size_t v = 0; v < problem.ops.size(); ++v)
        common += schedule.ops[v].group == GroupId(g) && reference.ops[v].group == GroupId(h);
      overlaps.emplace_back(-common, g, h);
    }
  std::sort(overlaps.begin(), overlaps.end());
  std::vector<std::size_t> number(count, count);
  std::vector<bool> taken(count, false);
  for (std::size_t g = 0; g < fixed && g < count; ++g) {
    number[g] = g;
    taken[g] = true;
  }
  for (const auto& [common, g, h] : overlaps)
    if (number[g] == count && !taken[h]) {
      number[g] = h;
      taken[h] = true;
    }
  std::vector<ScheduleGroup> groups(count);
  for (std::size_t g = 0; g < count; ++g) groups[number[g]] = schedule.groups[g];
  schedule.groups = std::move(groups);
  for (Placement& p : schedule.ops) p.group = GroupId(number[p.group.index()]);
  derive_groups(problem, schedule);
}

std::vector<std::string> differences(const Problem& problem, const Schedule& reference, const Schedule& other) {
  std::vector<std::string> sentences;
  std::map<std::pair<GroupId, GroupId>, std::vector<OpId>> moved;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (reference.ops[v].group != other.ops[v].group) moved[{reference.ops[v].group, other.ops[v].group}].push_back(OpId(v));
  for (const auto& [way, ops] : moved)
    sentences.push_back(
        fmt::format("{} in {} instead of {}", names(problem, ops), group_name(other, way.second), group_name(reference, way.first)));
  for (std::size_t g = 0; g < other.groups.size(); ++g) describe_stream(problem, reference, other, GroupId(g), sentences);
  const std::vector<int> before = minimal_depths(problem, reference), now = minimal_depths(problem, other);
  for (std::size_t c = 0; c < now.size(); ++c) {
    if (before[c] == now[c]) continue;
    const std::string& name = problem.channels[c].name;
    if (before[c] == 0)
      sentences.push_back(fmt::format("{} crosses groups, through {}", name, count_of(now[c], "slot")));
    else if (now[c] == 0)
      sentences.push_back(fmt::format("{} stays in one group", name));
    else
      sentences.push_back(fmt::format("ring {} has {} instead of {}", name, count_of(now[c], "slot"), before[c]));
  }
  return sentences;
}

}  // namespace heddle
