#include "core/answers/summary.h"

#include <fmt/format.h>

#include <cmath>

#include "core/analysis/bracket.h"
#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/answers/bracket.h"
#include "core/chart/op_rows.h"
#include "core/chart/text_timeline.h"
#include "core/formats/schedule_json.h"

namespace heddle {

namespace {

std::string seconds(double value) { return value < 1 ? fmt::format("{:.0f} ms", value * 1000) : fmt::format("{:.2f} s", value); }

/// "proved", or the honest alternative.
std::string standing(Cycle ii, Cycle lower_bound, BoundReason reason, std::optional<int> stages) {
  if (reason == BoundReason::Requested) return "II as requested";
  return ii == lower_bound ? "proved" + stages_text(stages) : "not proved";
}

}  // namespace

std::string headline(const SolveOutcome& outcome, const TextStyle& style) {
  const std::string bound = fmt::format("bound {}", outcome.lower_bound);
  if (outcome.schedule) {
    const Cycle ii = outcome.schedule->ii;
    if (const auto& choice = outcome.fastest; choice && choice->least_proved && ii > choice->least_ii)
      return join_facts({fmt::format("II {}", ii), fmt::format("least {}, proved", choice->least_ii) + stages_text(outcome.bound_stages),
                         "chosen for its predicted time"},
                        style);
    const bool open = outcome.status == Status::Feasible && outcome.reason != BoundReason::Requested;
    return join_facts({fmt::format("II {}", ii), bound, standing(ii, outcome.lower_bound, outcome.reason, outcome.bound_stages),
                       open && outcome.cancelled   ? "interrupted"
                       : open && outcome.timed_out ? "time is up"
                                                   : ""},
                      style);
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
  if (!schedule.certificate) return join_facts({ii, claim_text(schedule, "not proved")}, style);
  const Certificate& c = *schedule.certificate;
  return join_facts({ii, fmt::format("bound {}", c.lower_bound), standing(schedule.ii, c.lower_bound, c.reason, c.bound_stages)}, style);
}

std::string_view status_word(std::string_view status) {
  if (status == "optimal") return "proved";
  if (status == "feasible") return "not proved";
  return status == "infeasible" ? "no schedule" : status;
}

std::string stages_text(std::optional<int> stages) { return stages ? " for at most " + count_of(*stages, "stage") : ""; }

std::string claim_text(const Schedule& schedule, const char* without) {
  if (!schedule.claim) return without;
  const Certificate& c = *schedule.claim;
  if (c.reason != BoundReason::Requested && c.lower_bound == schedule.ii) return "the file says proved" + stages_text(c.bound_stages);
  return fmt::format("the file says bound {}, not proved", c.lower_bound);
}

std::string picture_title(const Schedule& schedule) { return join_facts({printable(schedule.name), headline(schedule, {})}, {}); }

std::string problem_title(const Problem& problem) {
  std::string params;
  for (const auto& [name, value] : problem.params) params += fmt::format("{}{}={}", params.empty() ? "" : ", ", name, value);
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
  if (!rows.empty()) text += "\nchannels\n" + text_table({{"value"}, {"space"}, {"depth", true}, {"slot size", true}}, rows);

  const Usage usage = compute_usage(problem, schedule);
  std::vector<std::string> memory{fmt::format("shared memory {} of {} bytes", usage.smem_bytes, problem.limits.smem_bytes)};
  if (problem.limits.tmem_columns > 0)
    memory.push_back(fmt::format("tensor memory {} of {} columns", usage.tmem_columns, problem.limits.tmem_columns));
  memory.push_back(fmt::format("{} of {}", count_of(usage.warps, "warp"), problem.limits.warps_per_cta));
  return text + "\n" + join_facts(memory, style) + "\n";
}

std::string robust_text(const RobustChoice& choice) {
  const auto spread = [](const PeriodSpread& s) {
    return s.mean > 0 ? fmt::format("{:.0f} cycles an iteration in the mean, {:.0f} at the 95th percentile", s.mean, s.high)
                      : std::string("no period");
  };
  std::string text = fmt::format("as hardware runs it, with numbers that are off (predicted): {}", spread(choice.chosen));
  if (choice.orders > 1)
    text += fmt::format("; the first schedule of least II: {}; {} compared", spread(choice.shortest), count_of(choice.orders, "order"));
  else
    text += "; no other order was found";
  return text;
}

std::string fastest_text(const FastestChoice& choice) {
  const auto us = [](double value) { return fmt::format("{:.{}f} us", value, value < 100 ? 2 : value < 1000 ? 1 : 0); };
  std::string text = "predicted: " + us(choice.microseconds);
  if (choice.tflops > 0) text += fmt::format(", {:.0f} TFLOP/s", choice.tflops);
  text += fmt::format(", {:.0f} cycles an iteration", choice.period);
  if (choice.orders < 2) return text + "; no other order was found";
  text += choice.from == "solver" ? fmt::format("; the fastest of {} compared", count_of(choice.orders, "order"))
                                  : fmt::format("; the order of {}, the fastest of {} compared (the solver's first: {})", choice.from,
                                                count_of(choice.orders, "order"), us(choice.first_microseconds));
  return choice.complete ? text : text + ", not all in time";
}

std::string outcome_summary(const Problem& problem, const SolveOutcome& outcome, const TextStyle& style) {
  std::string text = fmt::format("{}\n{}\n", problem_title(problem), headline(outcome, style));
  if (!outcome.explanation.empty()) text += printable(outcome.explanation) + "\n";
  if (outcome.robust) text += wrapped(styled(robust_text(*outcome.robust), style), "", style.width);
  if (outcome.fastest) text += wrapped(styled(fastest_text(*outcome.fastest), style), "", style.width);
  const std::string bounds = join_facts(
      {fmt::format("ResMII {}", outcome.res_mii), fmt::format("RecMII {}", outcome.rec_mii), fmt::format("issue {}", outcome.issue_mii)},
      style);
  if (outcome.schedule) {
    const Schedule& schedule = *outcome.schedule;
    const Period period = sustainable_period(problem, schedule);
    text += join_facts({fmt::format("length {}", schedule_length(problem, schedule)), count_of(stage_count(schedule), "stage"),
                        period.deadlock ? "deadlocks" : fmt::format("sustainable period {}", period.cycles())},
                       style);
    text += "\n";
  }
  text += bounds + "\n";
  if (outcome.schedule && latencies_vary(problem)) text += bracket_text(problem, period_bracket(problem, *outcome.schedule), style.width);
  if (outcome.schedule) {
    text += schedule_tables(problem, *outcome.schedule, style);
    std::vector<std::vector<std::string>> rows;
    for (const ObjectiveValue& o : outcome.objectives)
      rows.push_back({o.name, std::to_string(o.value), o.proved ? "proved" : "not proved"});
    if (!rows.empty()) text += "\nobjectives, in this order\n" + text_table({{"name"}, {"value", true}, {"status"}}, rows);
  }
  const SolveSeconds& s = outcome.seconds;
  text += "\n" +
          join_facts({"total " + seconds(s.total), "encode " + seconds(s.encode), outcome.schedule ? "first " + seconds(s.first) : "",
                      "proof " + seconds(s.proof), outcome.solver},
                     style) +
          "\n";
  return text;
}

std::string bounds_summary(const Problem& problem, const Bounds& bounds, const TextStyle& style) {
  std::string text = problem_title(problem) + "\n";
  text += join_facts(
              {fmt::format("MinII {}", bounds.min_ii()), fmt::format("ResMII {}", bounds.res_mii), fmt::format("RecMII {}", bounds.rec_mii),
               fmt::format("refill {}", bounds.credit_mii), fmt::format("issue {}", bounds.issue_mii)},
              style) +
          "\n";
  text += printable(bounds.sentence) + "\n\nunits\n";
  std::vector<std::vector<std::string>> rows;
  for (const UnitLoad& load : bounds.units) {
    const Unit& unit = problem.unit(load.unit);
    const std::int64_t room = unit.capacity * bounds.min_ii();
    rows.push_back({printable(unit.name), std::to_string(unit.capacity), std::to_string(load.work), std::to_string(load.bound),
                    room > 0 ? fmt::format("{:.0f} %", 100.0 * static_cast<double>(load.work) / static_cast<double>(room)) : "",
                    load.unit == bounds.binding_unit && load.bound == bounds.min_ii() ? "binds" : ""});
  }
  text += text_table({{"unit"}, {"capacity", true}, {"work", true}, {"ResMII", true}, {"use at MinII", true}, {""}}, rows);
  text += "\ncritical recurrence\n";
  if (bounds.critical.edges.empty()) return text + "  none: no op depends on an earlier iteration of itself\n";
  rows.clear();
  for (EdgeId id : bounds.critical.edges) {
    const Edge& edge = problem.edge(id);
    rows.push_back({printable(problem.op(edge.from).name), printable(problem.op(edge.to).name), std::to_string(edge.latency),
                    std::to_string(edge.distance)});
  }
  text += text_table({{"from"}, {"to"}, {"latency", true}, {"distance", true}}, rows);
  text += fmt::format("  latency {} over {}: II >= {}\n", bounds.critical.latency, count_of(bounds.critical.distance, "iteration"),
                      bounds.critical.bound);
  return text;
}

std::string verdict_summary(const Verdict& verdict) {
  if (verdict.valid()) return "valid\n";
  std::string text = "invalid: " + count_of(static_cast<std::int64_t>(verdict.violations.size()), "violation") + "\n";
  for (const Violation& v : verdict.violations) text += fmt::format("  {}: {}\n", v.family, printable(v.message));
  return text;
}

namespace {

Json op_list(const Problem& problem, const std::vector<OpId>& ops) {
  Json list = Json::array();
  for (const OpId op : ops) list.push(problem.op(op).name);
  return list;
}

void set_period(Json& root, const Problem& problem, const Schedule& schedule) {
  const Period period = sustainable_period(problem, schedule);
  root.set("period", period.deadlock ? Json() : Json(period.cycles()));
  root.set("deadlock", period.deadlock).set("period_limit", period.sentence);
}

}  // namespace

Json seconds_json(double seconds) { return std::round(seconds * 1e6) / 1e6; }

Json finite_ii_json(Cycle ii) { return ii >= kNoFiniteII ? Json() : Json(ii); }

Json faults_json(const std::vector<Fault>& faults) {
  Json list = Json::array();
  for (const Fault& f : faults)
    list.push(Json::object().set("file", f.file).set("pointer", f.pointer).set("message", f.message).set("hint", f.hint));
  return list;
}

void set_problem(Json& root, const Problem& problem) {
  root.set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  root.set("changes", names_json(problem.changes)).set("problem_hash", problem_hash(problem));
}

Json outcome_json(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints) {
  Json root = Json::object();
  const Schedule* schedule = outcome.schedule ? &*outcome.schedule : nullptr;
  root.set("status", to_string(outcome.status));
  root.set("ii", schedule ? Json(schedule->ii) : Json()).set("lower_bound", outcome.lower_bound);
  if (outcome.bound_stages) root.set("bound_stages", *outcome.bound_stages);
  root.set("reason", to_string(outcome.reason)).set("explanation", outcome.explanation);
  root.set("res_mii", outcome.res_mii).set("rec_mii", outcome.rec_mii).set("issue_mii", outcome.issue_mii);
  if (schedule) {
    root.set("length", schedule_length(problem, *schedule)).set("stages", stage_count(*schedule));
    set_period(root, problem, *schedule);
    if (latencies_vary(problem)) root.set("expected_period", bracket_json(problem, period_bracket(problem, *schedule)));
  } else {
    for (const char* key : {"length", "stages", "period", "deadlock", "period_limit"}) root.set(key, Json());
  }
  set_problem(root, problem);
  root.set("groups", schedule ? groups_json(problem, *schedule) : Json::array());
  root.set("ops", schedule ? placements_json(problem, *schedule) : Json::array());
  root.set("channels", schedule ? channels_json(problem, *schedule) : Json::array());
  root.set("objectives", objectives_json(outcome.objectives));
  root.set("seconds", Json::object()
                          .set("encode", seconds_json(outcome.seconds.encode))
                          .set("first", seconds_json(outcome.seconds.first))
                          .set("proof", seconds_json(outcome.seconds.proof))
                          .set("total", seconds_json(outcome.seconds.total)));
  root.set("checker", schedule ? verdict_json(problem, check(problem, *schedule, constraints)) : Json());
  root.set("solver", outcome.solver).set("seed", outcome.seed);
  root.set("queries", outcome.queries).set("conflicts", outcome.conflicts);
  if (const auto& fastest = outcome.fastest)
    root.set("predicted", Json::object()
                              .set("microseconds", fastest->microseconds)
                              .set("cycles", fastest->cycles)
                              .set("cycles_per_iteration", fastest->period)
                              .set("tflops", fastest->tflops)
                              .set("order_of", fastest->from)
                              .set("orders", fastest->orders)
                              .set("all_in_time", fastest->complete)
                              .set("first_microseconds", fastest->first_microseconds)
                              .set("least_ii", fastest->least_ii)
                              .set("least_ii_proved", fastest->least_proved));
  if (const auto& robust = outcome.robust) {
    const auto spread = [](const PeriodSpread& s) { return Json::object().set("mean", s.mean).set("percentile_95", s.high); };
    root.set("robust", Json::object()
                           .set("orders", robust->orders)
                           .set("least_ii", robust->least_ii)
                           .set("chosen", spread(robust->chosen))
                           .set("first", spread(robust->shortest)));
  }
  root.set("cancelled", outcome.cancelled)
      .set("timed_out", outcome.timed_out)
      .set("cut_off", outcome.cut_off)
      .set("serial", outcome.serial);
  return root;
}

std::string outcome_text(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints) {
  return outcome_json(problem, outcome, constraints).pretty();
}

Json verdict_json(const Problem& problem, const Verdict& verdict) {
  Json violations = Json::array();
  for (const Violation& v : verdict.violations) {
    Json item = Json::object();
    item.set("family", v.family).set("message", v.message).set("ops", op_list(problem, v.ops));
    item.set("slot", v.slot >= 0 ? Json(v.slot) : Json()).set("amount", v.amount).set("limit", v.limit);
    violations.push(std::move(item));
  }
  return Json::object().set("valid", verdict.valid()).set("violations", std::move(violations));
}

Json standing_json(const Schedule& schedule) {
  const auto& said = schedule.certificate ? schedule.certificate : schedule.claim;
  if (!said) return {};
  return Json::object()
      .set("by", schedule.certificate ? "heddle" : "file")
      .set("status", to_string(said->status))
      .set("lower_bound", said->lower_bound);
}

std::string verdict_text(const Problem& problem, const Schedule& schedule, const Verdict& verdict) {
  Json root = verdict_json(problem, verdict);
  root.set("ii", schedule.ii).set("length", schedule_length(problem, schedule)).set("stages", stage_count(schedule));
  set_period(root, problem, schedule);
  root.set("schedule", schedule.name).set("certificate", standing_json(schedule));
  set_problem(root, problem);
  return root.pretty();
}

std::string bounds_text(const Problem& problem, const Bounds& bounds) {
  Json root = Json::object();
  root.set("min_ii", bounds.min_ii()).set("res_mii", bounds.res_mii).set("rec_mii", bounds.rec_mii);
  root.set("credit_mii", bounds.credit_mii).set("issue_mii", bounds.issue_mii).set("explanation", bounds.sentence);
  root.set("binding_unit", bounds.binding_unit.valid() ? Json(problem.unit(bounds.binding_unit).name) : Json());
  Json units = Json::array();
  for (const UnitLoad& load : bounds.units) {
    const Unit& unit = problem.unit(load.unit);
    units.push(Json::object()
                   .set("name", unit.name)
                   .set("role", to_string(unit.role))
                   .set("capacity", unit.capacity)
                   .set("work", load.work)
                   .set("bound", load.bound));
  }
  root.set("units", std::move(units));
  const Recurrence& critical = bounds.critical;
  Json recurrence;
  if (!critical.edges.empty()) {
    std::vector<OpId> ops;
    for (const EdgeId edge : critical.edges) ops.push_back(problem.edge(edge).from);
    recurrence = Json::object();
    recurrence.set("ops", op_list(problem, ops)).set("latency", critical.latency);
    recurrence.set("distance", critical.distance).set("bound", critical.bound);
  }
  root.set("recurrence", std::move(recurrence));
  root.set("ops", problem.ops.size()).set("edges", problem.edges.size()).set("channels", problem.channels.size());
  set_problem(root, problem);
  return root.pretty();
}

std::string timeline_page(const Problem& problem, const Schedule& schedule, const GanttModel& model, const TextStyle& style) {
  const std::string title = join_facts({problem_title(problem), headline(schedule, style)}, style);
  return fmt::format("{}\n\n{}\n{}", title, text_timeline(model, style), op_table(problem, &schedule));
}

}  // namespace heddle
