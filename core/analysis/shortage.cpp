// Every bound is about a single op, a single ring or a plain sum; each follows from the families of core/problem/problem.h without a
// word about starts.
#include "core/analysis/shortage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <queue>
#include <set>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/analysis/registers.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::max();
/// Searches for shortest ways beyond that many steps are left out: one slot is a bound too.
constexpr std::size_t kMostSteps = 20'000'000;

/// Loads are alone in the producer group.
bool always_crosses(const Problem& problem, OpId a, OpId b) { return problem.op(a).variable_latency != problem.op(b).variable_latency; }

struct Limit {
  std::int64_t most = 0;
  std::optional<std::size_t> constraint;
};

/// The machine's, or a user's that is tighter.
Limit limit_of(const Constraints& constraints, ConstraintKind kind, std::int64_t machine) {
  Limit limit{machine, {}};
  for (std::size_t i = 0; i < constraints.size(); ++i)
    if (constraints[i].enabled && constraints[i].kind == kind && constraints[i].high < limit.most) limit = {constraints[i].high, i};
  return limit;
}

/// Fewest iterations from `start` to every op along dependences, over ways without any latency (first) and with some.
std::vector<std::array<std::int64_t, 2>> iterations_from(const Problem& problem, const std::vector<std::vector<std::size_t>>& out,
                                                         std::size_t start) {
  std::vector<std::array<std::int64_t, 2>> least(problem.ops.size(), {kUnreached, kUnreached});
  using Entry = std::tuple<std::int64_t, std::size_t, std::size_t>;  // iterations, op, with latency
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  least[start][0] = 0;
  queue.push({0, start, 0});
  while (!queue.empty()) {
    const auto [far, v, late] = queue.top();
    queue.pop();
    if (far > least[v][late]) continue;
    for (const std::size_t e : out[v]) {
      const Edge& edge = problem.edges[e];
      const std::size_t to = edge.to.index(), then = late || edge.latency > 0 ? 1 : 0;
      if (far + edge.distance >= least[to][then]) continue;
      least[to][then] = far + edge.distance;
      queue.push({least[to][then], to, then});
    }
  }
  return least;
}

std::string listed(const std::vector<std::string>& parts) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(parts.size(), kShown); ++i) text += (i ? ", " : "") + parts[i];
  if (parts.size() > kShown) text += fmt::format(" and {} more", parts.size() - kShown);
  return text;
}

class Finder {
 public:
  Finder(const Problem& problem, const Constraints& constraints)
      : problem_(problem), constraints_(constraints), depths_(least_depths(problem)) {}

  std::vector<Shortage> run() {
    memory(Space::Smem);
    memory(Space::Tmem);
    depths();
    groups();
    registers();
    return std::move(found_);
  }

 private:
  /// "'at most 2000 bytes' allows 2000", or "the machine has 2000".
  std::string allowed(const Limit& limit, const char* machine) const {
    return limit.constraint ? fmt::format("'{}' allows {}", constraints_[*limit.constraint].name, limit.most)
                            : fmt::format("{} {}", machine, limit.most);
  }

  void memory(Space space) {
    const bool tmem = space == Space::Tmem;
    const std::int64_t resident = tmem ? problem_.resident_columns : problem_.resident_smem;
    Shortage s;
    s.kind = tmem ? Shortage::Kind::Tmem : Shortage::Kind::Smem;
    s.needed = resident;
    std::vector<std::pair<std::int64_t, std::size_t>> rings;
    for (std::size_t c = 0; c < depths_.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      if (channel.space != space || depths_[c] == 0) continue;
      rings.emplace_back(sat_mul(depths_[c], channel.size), c);
      s.needed = sat_add(s.needed, rings.back().first);
    }
    if (tmem) s.needed = rounded_columns(s.needed);
    const Limit limit = limit_of(constraints_, tmem ? ConstraintKind::MaxTmem : ConstraintKind::MaxSmem,
                                 tmem ? problem_.limits.tmem_columns : problem_.limits.smem_bytes);
    if (s.needed <= limit.most) return;
    std::stable_sort(rings.begin(), rings.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> parts;
    for (const auto& [size, c] : rings) {
      s.channels.push_back(ChannelId(c));
      s.ops.push_back(problem_.channels[c].writer);
      parts.push_back(depths_[c] == 1 ? fmt::format("{} {}", problem_.channels[c].name, size)
                                      : fmt::format("{} {} in {} slots", problem_.channels[c].name, size, depths_[c]));
    }
    if (resident > 0) parts.insert(parts.begin(), fmt::format("{} that stay", resident));
    s.sentence = fmt::format("{} {} needed at any II, one slot of every ring at least ({}); {}", s.needed,
                             tmem ? "columns of tensor memory, allocated as a power of two, are" : "bytes of shared memory are",
                             listed(parts), allowed(limit, "the machine has"));
    add(std::move(s), limit);
  }

  void depths() {
    for (std::size_t c = 0; c < depths_.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      Limit limit{channel.max_depth, {}};
      for (std::size_t i = 0; i < constraints_.size(); ++i) {
        const UserConstraint& u = constraints_[i];
        if (u.enabled && u.kind == ConstraintKind::MaxDepth && u.channel == channel.name && u.high < limit.most) limit = {u.high, i};
      }
      if (depths_[c] <= limit.most) continue;
      Shortage s;
      s.kind = Shortage::Kind::Depth;
      s.needed = depths_[c];
      s.ops = {channel.writer};
      s.channels = {ChannelId(c)};
      s.sentence =
          fmt::format("the ring of {} needs {} at any II; {}", channel.name, count_of(s.needed, "slot"), allowed(limit, "its most are"));
      add(std::move(s), limit);
    }
  }

  /// The producer group is one, all the others are at least one more.
  void groups() {
    std::array<std::int64_t, 2> widths{0, 0};
    std::array<OpId, 2> widest;
    for (std::size_t v = 0; v < problem_.ops.size(); ++v) {
      const Op& op = problem_.ops[v];
      const std::size_t side = op.variable_latency ? 0 : 1;
      const std::int64_t width = op.aligned ? ceil_div(op.warps, 4) * 4 : op.warps;
      if (widest[side].valid() && width <= widths[side]) continue;
      widths[side] = width;
      widest[side] = OpId(v);
    }
    const auto add_up = [&](Shortage::Kind kind, std::int64_t needed, const Limit& limit, std::string sentence) {
      if (needed <= limit.most) return;
      Shortage s;
      s.kind = kind;
      s.needed = needed;
      for (const OpId op : widest)
        if (op.valid()) s.ops.push_back(op);
      s.sentence = std::move(sentence);
      add(std::move(s), limit);
    };
    std::vector<std::string> parts;
    for (std::size_t side = 0; side < 2; ++side)
      if (widest[side].valid()) parts.push_back(fmt::format("{} {}", problem_.op(widest[side]).name, widths[side]));
    const Limit warps = limit_of(constraints_, ConstraintKind::MaxWarps, problem_.limits.warps_per_cta);
    const std::int64_t needed = sat_add(widths[0], widths[1]);
    add_up(Shortage::Kind::Warps, needed, warps,
           fmt::format("{} warps are needed for the widest ops ({}); {}", needed, listed(parts), allowed(warps, "a CTA has")));
    const Limit most = limit_of(constraints_, ConstraintKind::MaxGroups, problem_.max_groups);
    const std::int64_t sides = widest[0].valid() + widest[1].valid();
    add_up(Shortage::Kind::Groups, sides, most,
           fmt::format("{} warp group{} needed{}; {}", sides, sides == 1 ? " is" : "s are", sides > 1 ? ", for loads and for the rest" : "",
                       allowed(most, "at most there may be")));
  }

  /// Registers per thread at the start of this op, whoever else is in its group: what stays, its results, and those of its operands
  /// that cannot have died or given their registers away by then. Nothing where it touches none.
  std::optional<std::int64_t> at_start_of(OpId y, const std::vector<std::vector<std::size_t>>& in,
                                          const std::vector<std::vector<std::size_t>>& made) const {
    std::int64_t sum = sat_add(problem_.resident_registers, problem_.limits.register_overhead);
    bool touched = false;
    for (const std::size_t x : made[y.index()]) {
      touched = true;
      sum = sat_add(sum, problem_.values[x].registers);
    }
    std::set<std::tuple<ValueId, int>> foreign;
    std::set<ValueId> home;
    for (const std::size_t e : in[y.index()]) {
      const Edge& edge = problem_.edges[e];
      if (!edge.value.valid() || problem_.value(edge.value).space != Space::Register) continue;
      touched = true;
      const OpId maker = problem_.value(edge.value).producer;
      if (maker == y) continue;
      // In another group every operand is a copy; in the same one it is alive unless this op takes its registers over.
      const bool alive = always_crosses(problem_, maker, y) ? foreign.insert({edge.value, edge.distance}).second
                                                            : edge.hold > 0 && edge.latency >= 0 && home.insert(edge.value).second;
      if (alive) sum = sat_add(sum, problem_.value(edge.value).registers);
    }
    return touched ? std::optional(sum) : std::nullopt;
  }

  void registers() {
    const Limits& limits = problem_.limits;
    std::vector<std::vector<std::size_t>> in(problem_.ops.size()), made(problem_.ops.size());
    for (std::size_t e = 0; e < problem_.edges.size(); ++e) in[problem_.edges[e].to.index()].push_back(e);
    for (std::size_t x = 0; x < problem_.values.size(); ++x)
      if (problem_.values[x].space == Space::Register && problem_.values[x].producer.valid())
        made[problem_.values[x].producer.index()].push_back(x);
    std::int64_t most = -1;
    OpId at;
    // Registers of whole groups: of the producer group, and of the group of the op that takes most.
    std::array<std::int64_t, 2> file{0, 0};
    std::array<OpId, 2> takes;
    std::int64_t threads = 0;
    bool producer_touched = false;
    for (std::size_t v = 0; v < problem_.ops.size(); ++v) {
      const Op& op = problem_.ops[v];
      const std::int64_t own = sat_mul(op.aligned ? ceil_div(op.warps, 4) * 4 : op.warps, limits.threads_per_warp);
      if (op.variable_latency) threads = std::max(threads, own);
      const auto need = at_start_of(OpId(v), in, made);
      if (!need) continue;
      producer_touched |= op.variable_latency;
      if (*need > most) {
        most = *need;
        at = OpId(v);
      }
      const std::size_t side = op.variable_latency ? 0 : 1;
      const std::int64_t all = sat_mul(register_budget(limits, *need), own);
      if (takes[side].valid() && all <= file[side]) continue;
      file[side] = all;
      takes[side] = OpId(v);
    }
    if (at.valid()) {
      const Limit limit = limit_of(constraints_, ConstraintKind::MaxRegisters, limits.registers_per_thread);
      const std::int64_t budget = register_budget(limits, most);
      if (budget > limit.most) {
        Shortage s;
        s.kind = Shortage::Kind::Registers;
        s.needed = budget;
        s.ops = {at};
        s.sentence = fmt::format("{} registers per thread are needed where {} starts, at any II{}; {}", most, problem_.op(at).name,
                                 budget != most ? fmt::format(" (given out as {})", budget) : "", allowed(limit, "a thread has"));
        add(std::move(s), limit);
      }
    }
    if (problem_.has_producer_group() && !producer_touched) file[0] = sat_mul(register_budget(limits, limits.producer_registers), threads);
    const std::int64_t needed = sat_add(file[0], file[1]);
    if (needed <= limits.registers_per_sm) return;
    Shortage s;
    s.kind = Shortage::Kind::RegisterFile;
    s.needed = needed;
    std::vector<std::string> parts;
    if (file[0] > 0) parts.push_back(fmt::format("the producer group {}", file[0]));
    if (takes[1].valid()) {
      s.ops = {takes[1]};
      parts.push_back(fmt::format("the group of {} {}", problem_.op(takes[1]).name, file[1]));
    }
    const Limit limit{limits.registers_per_sm, {}};
    s.sentence = fmt::format("{} registers are needed at any II ({}); {}", needed, listed(parts), allowed(limit, "the register file has"));
    add(std::move(s), limit);
  }

  void add(Shortage shortage, const Limit& limit) {
    shortage.limit = limit.most;
    shortage.constraint = limit.constraint;
    found_.push_back(std::move(shortage));
  }

  const Problem& problem_;
  const Constraints& constraints_;
  const std::vector<std::int64_t> depths_;
  std::vector<Shortage> found_;
};

}  // namespace

/// A slot is refilled depth iterations later, and not before its reader has read it d iterations later: where the reader follows the
/// writer within p iterations, depth * II >= (d - p) * II + the latencies on the way + release.
std::vector<std::int64_t> least_depths(const Problem& problem) {
  std::vector<std::vector<std::size_t>> out(problem.ops.size());
  for (std::size_t e = 0; e < problem.edges.size(); ++e)
    if (problem.edges[e].latency >= 0 && problem.edges[e].distance >= 0) out[problem.edges[e].from.index()].push_back(e);
  std::size_t steps = kMostSteps;
  std::vector<std::int64_t> depths;
  for (const Channel& channel : problem.channels) {
    const auto counts = [&](const Reader& r) { return !channel.only_if_crossing || always_crosses(problem, channel.writer, r.op); };
    const bool exists = !channel.only_if_crossing || std::any_of(channel.readers.begin(), channel.readers.end(), counts);
    std::int64_t depth = exists ? 1 : 0;
    const std::size_t cost = problem.ops.size() + problem.edges.size();
    if (exists && cost <= steps) {
      steps -= cost;
      const auto least = iterations_from(problem, out, channel.writer.index());
      for (const Reader& r : channel.readers) {
        if (!counts(r) || r.release < 0) continue;
        for (const std::size_t late : {0, 1}) {
          const std::int64_t p = least[r.op.index()][late];
          if (p != kUnreached) depth = std::max(depth, r.distance - p + (late || r.release > 0 ? 1 : 0));
        }
      }
    }
    depths.push_back(depth);
  }
  return depths;
}

std::vector<Shortage> find_shortages(const Problem& problem, const Constraints& constraints) { return Finder(problem, constraints).run(); }

std::string sentence_of(const std::vector<Shortage>& shortages) {
  std::string text = "nothing fits, whatever the II: ";
  for (std::size_t i = 0; i < shortages.size(); ++i) text += (i ? "; " : "") + shortages[i].sentence;
  return text;
}

}  // namespace heddle
