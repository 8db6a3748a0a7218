// Families decided by starts: dependence, unit, issue, blocking.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/analysis/usage_curve.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/check/families.h"

namespace heddle {

void check_dependences(const Case& c) {
  for (const Edge& e : c.problem.edges) {
    const Cycle handoff = c.same_group(e.from, e.to) ? 0 : e.handoff;
    const Cycle ready = c.schedule.start(e.from) + sat_add(e.latency, handoff);
    const Cycle used = sat_add(c.schedule.start(e.to), sat_mul(e.distance, c.schedule.ii));
    if (used >= ready) continue;
    std::string message = fmt::format("{} starts at {}", c.name(e.to), c.schedule.start(e.to));
    if (e.distance > 0) message += fmt::format(", that is {} after {}", used, count_of(e.distance, "iteration"));
    message += fmt::format(", but {}", c.name(e.from));
    message += e.value.valid() ? fmt::format(" has {} ready only at {}", c.problem.value(e.value).name, ready)
                               : fmt::format(" must come first and is done only at {}", ready);
    message += fmt::format(" (start {} + latency {}", c.schedule.start(e.from), e.latency);
    message += handoff > 0 ? fmt::format(" + hand-off {})", handoff) : ")";
    c.found.push_back({"dependence", message, {e.from, e.to}, c.schedule.slot(e.to), used, ready});
  }
}

namespace {

/// The ops with a use of the unit at this slot, in op order.
std::vector<OpId> users_at(const Case& c, UnitId unit, Cycle slot) {
  std::vector<OpId> users;
  for (std::size_t v = 0; v < c.problem.ops.size(); ++v) {
    const bool active = std::any_of(c.problem.ops[v].uses.begin(), c.problem.ops[v].uses.end(), [&](const UnitUse& use) {
      return use.unit == unit && modulo(slot - c.schedule.ops[v].start - use.offset, c.schedule.ii) < use.duration;
    });
    if (active) users.push_back(OpId(v));
  }
  return users;
}

std::string list_names(const Case& c, const std::vector<OpId>& ops) {
  std::string text;
  for (std::size_t i = 0; i < ops.size(); ++i) text += (i == 0 ? "" : i + 1 == ops.size() ? " and " : ", ") + c.name(ops[i]);
  return text;
}

/// What the ops of an iteration need of a unit in sum, wherever it falls.
void check_sums(const Case& c) {
  for (std::size_t u = 0; u < c.problem.units.size(); ++u) {
    std::int64_t sum = 0;
    bool more = false;  // than what the slots of the unit say already
    std::vector<OpId> users;
    for (std::size_t v = 0; v < c.problem.ops.size(); ++v)
      for (const UnitUse& use : c.problem.ops[v].uses) {
        if (use.unit != UnitId(u)) continue;
        sum = sat_add(sum, sat_mul(use.amount, std::max(use.duration, use.in_sum)));
        more |= use.in_sum > use.duration;
        if (users.empty() || users.back() != OpId(v)) users.push_back(OpId(v));
      }
    const Unit& unit = c.problem.units[u];
    const std::int64_t most = sat_mul(unit.capacity, c.schedule.ii);
    if (more && sum > most)
      c.found.push_back({"unit",
                         fmt::format("{}: {} need {} in sum, II {} gives {}", unit.name, list_names(c, users), sum, c.schedule.ii, most),
                         users, -1, sum, most});
  }
}

}  // namespace

void check_units(const Case& c) {
  std::vector<ModuloUsage> folded(c.problem.units.size(), ModuloUsage(c.schedule.ii));
  for (std::size_t v = 0; v < c.problem.ops.size(); ++v)
    for (const UnitUse& use : c.problem.ops[v].uses)
      folded[use.unit.index()].add(c.schedule.ops[v].start + use.offset, use.duration, use.amount);
  for (std::size_t u = 0; u < folded.size(); ++u) {
    const Unit& unit = c.problem.units[u];
    const UsageCurve profile = folded[u].steps();
    // One violation for each stretch of overload, told at its peak.
    for (std::size_t i = 0; i < profile.size(); ++i) {
      if (profile[i].value <= unit.capacity) continue;
      std::size_t worst = i;
      for (; i < profile.size() && profile[i].value > unit.capacity; ++i)
        if (profile[i].value > profile[worst].value) worst = i;
      const UsageStep& step = profile[worst];
      const auto users = users_at(c, UnitId(u), step.at);
      const std::string who = users.size() == 1 ? c.name(users.front()) + " and its own next iteration" : list_names(c, users);
      c.found.push_back({"unit",
                         fmt::format("{}: {} use {} at slot {}, the capacity is {}", unit.name, who, step.value, step.at, unit.capacity),
                         users, step.at, step.value, unit.capacity});
    }
  }
  check_sums(c);
}

void check_issue(const Case& c) {
  const Cycle ii = c.schedule.ii;
  for (std::size_t a = 0; a < c.problem.ops.size(); ++a) {
    const Op& first = c.problem.ops[a];
    if (first.window > ii) {
      c.found.push_back({"issue",
                         fmt::format("{} keeps its warps busy for {} cycles, longer than II {}", first.name, first.window, ii),
                         {OpId(a)},
                         c.schedule.slot(OpId(a)),
                         first.window,
                         ii});
    }
    for (std::size_t b = 0; b < c.problem.ops.size(); ++b) {
      const Op& second = c.problem.ops[b];
      if (a == b || first.window == 0 || second.window == 0 || !c.same_group(OpId(a), OpId(b))) continue;
      const Cycle later = modulo(c.schedule.start(OpId(b)) - c.schedule.start(OpId(a)), ii);
      // Each overlap is told once, from the op whose window is entered; both windows start together: from the first.
      if (later >= first.window || (later == 0 && b < a)) continue;
      c.found.push_back({"issue",
                         fmt::format("{} starts {} cycles after {} on {}, which is busy issuing it for {}", second.name, later, first.name,
                                     c.group_name(c.schedule.group(OpId(a))), first.window),
                         {OpId(a), OpId(b)},
                         c.schedule.slot(OpId(b)),
                         later,
                         first.window});
    }
  }
}

void check_blocking(const Case& c) {
  std::set<OpId> waiting;
  for (const Edge& e : c.problem.edges)
    if (e.waits || !c.same_group(e.from, e.to)) waiting.insert(e.to);
  for (OpId v : waiting) {
    if (c.problem.op(v).window > 0) continue;  // then its window overlaps too: family issue
    for (std::size_t o = 0; o < c.problem.ops.size(); ++o) {
      const OpId other(o);
      if (other == v || !c.same_group(v, other)) continue;
      const Cycle into = modulo(c.schedule.start(v) - c.schedule.start(other), c.schedule.ii);
      const Cycle window = c.problem.op(other).window;
      // A window longer than II covers the start of the next iteration as well.
      if (into == 0 ? window <= c.schedule.ii : into >= window) continue;
      c.found.push_back({"blocking",
                         fmt::format("{} waits for another warp group or an asynchronous op, {} cycles into the issue window "
                                     "({}) of {} on {}",
                                     c.name(v), into, window, c.name(other), c.group_name(c.schedule.group(v))),
                         {v, other},
                         c.schedule.slot(v),
                         into,
                         window});
    }
  }
}

}  // namespace heddle
