// Sentences and tables for people.
#include "core/answers/summary.h"

#include <fmt/format.h>

#include "core/analysis/period.h"
#include "core/analysis/usage.h"

namespace heddle {
namespace {

std::string seconds(double value) {
  return value < 1 ? fmt::format("{:.0f} ms", value * 1000) : fmt::format("{:.2f} s", value);
}

/// "proved", or the honest alternative.
std::string standing(Cycle ii, Cycle lower_bound, BoundReason reason) {
  if (reason == BoundReason::Requested) return "II as requested";
  return ii == lower_bound ? "proved" : "not proved";
}

}  // namespace

std::string headline(const SolveOutcome& outcome, const TextStyle& style) {
  const std::string bound = fmt::format("bound {}", outcome.lower_bound);
  if (outcome.schedule) {
    const Cycle ii = outcome.schedule->ii;
    return join_facts({fmt::format("II {}", ii), bound, standing(ii, outcome.lower_bound, outcome.reason)}, style);
  }
  if (outcome.status == Status::Infeasible) {
    const bool one_ii = outcome.reason == BoundReason::Requested;
    return join_facts({one_ii ? "no schedule at this II" : "no schedule exists", "proved"}, style);
  }
  const char* why = outcome.cancelled ? "interrupted" : outcome.timed_out ? "time is up" : "";
  return join_facts({"no schedule found", bound, why}, style);
}

std::string headline(const Schedule& schedule, const TextStyle& style) {
  const std::string ii = fmt::format("II {}", schedule.ii);
  if (!schedule.certificate) return join_facts({ii, claim_text(schedule, "no certificate")}, style);
  const Certificate& c = *schedule.certificate;
  return join_facts({ii, fmt::format("bound {}", c.lower_bound), standing(schedule.ii, c.lower_bound, c.reason)},
                    style);
}

std::string claim_text(const Schedule& schedule, const char* without) {
  if (!schedule.claim) return without;
  const Certificate& c = *schedule.claim;
  if (c.reason != BoundReason::Requested && c.lower_bound == schedule.ii) return "the file says proved";
  return fmt::format("the file says bound {}, not proved", c.lower_bound);
}

std::string picture_title(const Schedule& schedule) { return join_facts({printable(schedule.name), headline(schedule, {})}, {}); }

std::string problem_title(const Problem& problem) {
  std::string params;
  for (const auto& [name, value] : problem.params)
    params += fmt::format("{}{}={}", params.empty() ? "" : ", ", name, value);
  const std::string title = fmt::format("{} on {}", problem.kernel, problem.machine);
  std::string text = params.empty() ? title : fmt::format("{} ({})", title, params);
  for (std::size_t i = 0; i < problem.changes.size(); ++i) text += (i ? ", " : ", changed: ") + problem.changes[i];
  return printable(text);
}

std::string schedule_tables(const Problem& problem, const Schedule& schedule, const TextStyle& style) {
  std::string text = "\ngroups\n";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    std::string ops;
    for (std::size_t v = 0; v < problem.ops.size(); ++v) {
      if (schedule.ops[v].group == GroupId(g)) ops += (ops.empty() ? "" : " ") + problem.ops[v].name;
    }
    const ScheduleGroup& group = schedule.groups[g];
    rows.push_back({std::to_string(g), printable(group.role), std::to_string(group.warps),
                    group.registers ? std::to_string(group.registers) : "", printable(ops)});
  }
  text += text_table({{"id", true}, {"role"}, {"warps", true}, {"registers", true}, {"ops"}}, rows);

  rows.clear();
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    if (schedule.depths[c] == 0) continue;
    rows.push_back({printable(channel.name), to_string(channel.space), std::to_string(schedule.depths[c]),
                    fmt::format("{} {}", channel.size, channel.space == Space::Tmem ? "columns" : "bytes")});
  }
  if (!rows.empty())
    text += "\nchannels\n" + text_table({{"value"}, {"space"}, {"depth", true}, {"slot size", true}}, rows);

  const Usage usage = compute_usage(problem, schedule);
  std::vector<std::string> memory{
      fmt::format("shared memory {} of {} bytes", usage.smem_bytes, problem.limits.smem_bytes)};
  if (problem.limits.tmem_columns > 0)
    memory.push_back(fmt::format("tensor memory {} of {} columns", usage.tmem_columns, problem.limits.tmem_columns));
  memory.push_back(fmt::format("{} of {}", count_of(usage.warps, "warp"), problem.limits.warps_per_cta));
  return text + "\n" + join_facts(memory, style) + "\n";
}

std::string outcome_summary(const Problem& problem, const SolveOutcome& outcome, const TextStyle& style) {
  std::string text = fmt::format("{}\n{}\n", problem_title(problem), headline(outcome, style));
  if (!outcome.explanation.empty()) text += printable(outcome.explanation) + "\n";
  const std::string bounds =
      join_facts({fmt::format("ResMII {}", outcome.res_mii), fmt::format("RecMII {}", outcome.rec_mii),
                  fmt::format("issue {}", outcome.issue_mii)},
                 style);
  if (outcome.schedule) {
    const Schedule& schedule = *outcome.schedule;
    const Period period = sustainable_period(problem, schedule);
    text += join_facts(
        {fmt::format("length {}", schedule_length(problem, schedule)), count_of(stage_count(schedule), "stage"),
         period.deadlock ? "deadlocks" : fmt::format("sustainable period {}", period.cycles())},
        style);
    text += "\n";
  }
  text += bounds + "\n";
  if (outcome.schedule) {
    text += schedule_tables(problem, *outcome.schedule, style);
    std::vector<std::vector<std::string>> rows;
    for (const ObjectiveValue& o : outcome.objectives)
      rows.push_back({o.name, std::to_string(o.value), o.proved ? "proved" : "not proved"});
    if (!rows.empty())
      text += "\nobjectives, in this order\n" + text_table({{"name"}, {"value", true}, {"status"}}, rows);
  }
  const SolveSeconds& s = outcome.seconds;
  text += "\n" +
          join_facts({"total " + seconds(s.total), "encode " + seconds(s.encode),
                      outcome.schedule ? "first " + seconds(s.first) : "", "proof " + seconds(s.proof), outcome.solver},
                     style) +
          "\n";
  return text;
}

std::string bounds_summary(const Problem& problem, const Bounds& bounds, const TextStyle& style) {
  std::string text = problem_title(problem) + "\n";
  text += join_facts({fmt::format("MinII {}", bounds.min_ii()), fmt::format("ResMII {}", bounds.res_mii),
                      fmt::format("RecMII {}", bounds.rec_mii), fmt::format("refill {}", bounds.credit_mii),
                      fmt::format("issue {}", bounds.issue_mii)},
                     style) +
          "\n";
  text += printable(bounds.sentence) + "\n\nunits\n";
  std::vector<std::vector<std::string>> rows;
  for (const UnitLoad& load : bounds.units) {
    const Unit& unit = problem.unit(load.unit);
    const std::int64_t room = unit.capacity * bounds.min_ii();
    rows.push_back(
        {printable(unit.name), std::to_string(unit.capacity), std::to_string(load.work), std::to_string(load.bound),
         room > 0 ? fmt::format("{:.0f} %", 100.0 * static_cast<double>(load.work) / static_cast<double>(room)) : "",
         load.unit == bounds.binding_unit && load.bound == bounds.min_ii() ? "binds" : ""});
  }
  text +=
      text_table({{"unit"}, {"capacity", true}, {"work", true}, {"ResMII", true}, {"use at MinII", true}, {""}}, rows);
  text += "\ncritical recurrence\n";
  if (bounds.critical.edges.empty()) return text + "  none: no op depends on an earlier iteration of itself\n";
  rows.clear();
  for (EdgeId id : bounds.critical.edges) {
    const Edge& edge = problem.edge(id);
    rows.push_back({printable(problem.op(edge.from).name), printable(problem.op(edge.to).name),
                    std::to_string(edge.latency), std::to_string(edge.distance)});
  }
  text += text_table({{"from"}, {"to"}, {"latency", true}, {"distance", true}}, rows);
  text += fmt::format("  latency {} over {}: II >= {}\n", bounds.critical.latency,
                      count_of(bounds.critical.distance, "iteration"), bounds.critical.bound);
  return text;
}

std::string verdict_summary(const Verdict& verdict) {
  if (verdict.valid()) return "valid\n";
  std::string text = "invalid: " + count_of(static_cast<std::int64_t>(verdict.violations.size()), "violation") + "\n";
  for (const Violation& v : verdict.violations) text += fmt::format("  {}: {}\n", v.family, printable(v.message));
  return text;
}

}  // namespace heddle
