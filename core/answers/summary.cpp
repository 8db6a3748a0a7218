#include "core/answers/summary.h"

#include <fmt/format.h>

#include <cmath>

#include "core/analysis/bracket.h"
#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/answers/answer_members.h"
#include "core/answers/bracket.h"
#include "core/answers/chosen_layouts.h"
#include "core/answers/within.h"
#include "core/chart/op_rows.h"
#include "core/chart/text_timeline.h"

namespace heddle {

namespace {

/// "proved", or the honest alternative.
std::string standing(Cycle ii, Cycle lower_bound, BoundReason reason, std::optional<int> stages) {
  if (reason == BoundReason::Requested) return "II as requested";
  return ii == lower_bound ? "proved" + stages_text(stages) : "not proved";
}

/// The period and its standing; nothing where none is certified.
std::vector<std::string> period_facts(const Schedule& schedule) {
  const auto& certificate = schedule.certificate;
  if (!certificate || !certificate->period) return {};
  return {fmt::format("period {}", period_cycles(*certificate->period)), standing_text(*certificate->period)};
}

/// "II 2048, proved", "II 2064 (least 2048, proved)", "II 2064 (bound 2048, not proved)"
std::string ii_beside(Cycle ii, Cycle bound, bool bound_is_least, std::optional<int> stages) {
  if (ii == bound) return fmt::format("II {}, proved{}", ii, stages_text(stages));
  return bound_is_least ? fmt::format("II {} (least {}, proved{})", ii, bound, stages_text(stages))
                        : fmt::format("II {} (bound {}, not proved)", ii, bound);
}

}  // namespace

std::string wall_time(double seconds) { return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1000) : fmt::format("{:.2f} s", seconds); }

std::string ends_text(const std::vector<std::int64_t>& values) {
  if (values.empty()) return "";
  return values.size() == 1 ? std::to_string(values.front()) : fmt::format("{}-{}", values.front(), values.back());
}

std::string microseconds_text(double microseconds) {
  return fmt::format("{:.{}f} us", microseconds, microseconds < 100 ? 2 : microseconds < 1000 ? 1 : 0);
}

std::string headline(const SolveOutcome& outcome, const TextStyle& style) {
  const std::string bound = fmt::format("bound {}", outcome.lower_bound);
  if (outcome.schedule) {
    const Cycle ii = outcome.schedule->ii;
    if (std::vector<std::string> facts = period_facts(*outcome.schedule); !facts.empty()) {
      const auto& choice = outcome.fastest;
      if (choice) facts.push_back(microseconds_text(choice->microseconds));
      if (choice && choice->tflops > 0) facts.push_back(fmt::format("{:.0f} TFLOP/s", choice->tflops));
      const bool least = choice && choice->least_proved;
      facts.push_back(ii_beside(ii, least ? choice->least_ii : outcome.lower_bound, least, outcome.bound_stages));
      facts.push_back(outcome.cancelled ? "interrupted" : outcome.timed_out && !least ? "time is up" : "");
      return join_facts(facts, style);
    }
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
  if (std::vector<std::string> facts = period_facts(schedule); !facts.empty()) {
    facts.push_back(ii_beside(schedule.ii, c.lower_bound, false, c.bound_stages));
    return join_facts(facts, style);
  }
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
  std::string text = "predicted: " + microseconds_text(choice.microseconds);
  if (choice.tflops > 0) text += fmt::format(", {:.0f} TFLOP/s", choice.tflops);
  text += fmt::format(", {:.0f} cycles an iteration", choice.period);
  if (choice.orders < 2) return text + "; no other order was found";
  text +=
      choice.from == "solver"
          ? fmt::format("; the first of {} compared", count_of(choice.orders, "order"))
          : fmt::format("; the order of {}, the first of {} compared (the solver's own: {})", choice.from, count_of(choice.orders, "order"),
                        choice.first_microseconds > 0 ? microseconds_text(choice.first_microseconds) : "not to be predicted");
  return choice.complete ? text : text + ", not all in time";
}

namespace {

/// What its certificate says of its period; empty: nothing.
std::string period_line(const Schedule& schedule, const TextStyle& style) {
  const auto& certificate = schedule.certificate;
  if (!certificate || !certificate->period) return {};
  return wrapped(styled(period_sentence(*certificate->period, schedule.ii), style), "", style.width);
}

}  // namespace

std::string outcome_summary(const Problem& problem, const SolveOutcome& outcome, const TextStyle& style) {
  std::string text = fmt::format("{}\n{}\n", problem_title(problem), headline(outcome, style));
  if (!outcome.explanation.empty()) text += printable(outcome.explanation) + "\n";
  if (outcome.robust) text += wrapped(styled(robust_text(*outcome.robust), style), "", style.width);
  if (outcome.fastest) text += wrapped(styled(fastest_text(*outcome.fastest), style), "", style.width);
  if (outcome.schedule) text += period_line(*outcome.schedule, style);
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
          join_facts({"total " + wall_time(s.total), "encode " + wall_time(s.encode), outcome.schedule ? "first " + wall_time(s.first) : "",
                      "proof " + wall_time(s.proof), outcome.solver},
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

struct OutcomeAnswer {
  const Problem& problem = blank<Problem>;
  const SolveOutcome& outcome = blank<SolveOutcome>;
  const Constraints& constraints = blank<Constraints>;
  const Schedule* schedule = nullptr;
  std::optional<Period> period{};
};

struct VerdictAnswer {
  const Problem& problem = blank<Problem>;
  const Schedule& schedule = blank<Schedule>;
  const Verdict& verdict = blank<Verdict>;
  std::optional<Period> period{};
};

struct BoundsAnswer {
  const Problem& problem = blank<Problem>;
  const Bounds& bounds = blank<Bounds>;
};

/// How long a schedule is, and what it sustains.
template <class Io>
void visit_extent(Io& io, const Problem& problem, const Schedule* schedule, const std::optional<Period>& period) {
  io.written("length", [&] { return schedule ? std::optional(schedule_length(problem, *schedule)) : std::nullopt; });
  io.written("stages", [&] { return schedule ? std::optional(stage_count(*schedule)) : std::nullopt; });
  io.written("period", period && !period->deadlock ? std::optional(period->cycles()) : std::nullopt, "cycles an iteration, sustained");
  io.written("deadlock", period ? std::optional(period->deadlock) : std::nullopt);
  io.written("period_limit", period ? std::optional(period->sentence) : std::nullopt, "what limits the period");
}

}  // namespace

template <class Io>
void visit(Io& io, const SolveSeconds& seconds) {
  io.written("encode", seconds.encode, as::seconds), io.written("first", seconds.first, as::seconds);
  io.written("proof", seconds.proof, as::seconds), io.written("total", seconds.total, as::seconds);
}

template <class Io>
void visit(Io& io, const FastestChoice& fastest) {
  constexpr bool kChosen = true;  // elsewhere heddle solve says only what the whole kernel takes
  io.written("microseconds", fastest.microseconds);
  io.written("cycles", fastest.cycles, "of the whole kernel");
  io.written_if(kChosen, "cycles_per_iteration", fastest.period), io.written("tflops", fastest.tflops);
  io.written_if(kChosen, "order_of", fastest.from), io.written_if(kChosen, "orders", fastest.orders);
  io.written_if(kChosen, "all_in_time", fastest.complete), io.written_if(kChosen, "first_microseconds", fastest.first_microseconds);
  io.written_if(kChosen, "least_ii", fastest.least_ii), io.written_if(kChosen, "least_ii_proved", fastest.least_proved);
  io.written_if(!kChosen, "clock", "", "that the times assume");
}

template <class Io>
void visit(Io& io, const RobustChoice& robust) {
  io.written("orders", robust.orders), io.written("least_ii", robust.least_ii), io.written("chosen", robust.chosen);
  io.written("first", robust.shortest);
}

template <class Io>
void visit(Io& io, const as::InContext<UnitLoad, Problem>& in) {
  const auto unit = [&] { return in.context.unit(in.part.unit); };
  io.written("name", [&] { return unit().name; });
  io.written("role", [&] { return to_string(unit().role); });
  io.written("capacity", [&] { return unit().capacity; });
  io.written("work", in.part.work), io.written("bound", in.part.bound);
}

template <class Io>
void visit(Io& io, const as::InContext<Recurrence, Problem>& in) {
  std::vector<OpId> ops;
  for (const EdgeId edge : in.part.edges) ops.push_back(in.context.edge(edge).from);
  io.written("ops", ops, as::list(as::NameIn{in.context})), io.written("latency", in.part.latency);
  io.written("distance", in.part.distance), io.written("bound", in.part.bound);
}

namespace {

template <class Io>
void visit(Io& io, const OutcomeAnswer& answer) {
  const auto& [problem, outcome, constraints, schedule, period] = answer;
  io.written("status", outcome.status, as::status), io.written("ii", ii_of(outcome.schedule));
  const auto proof = schedule && schedule->certificate ? schedule->certificate->period : std::nullopt;
  io.written_if(
      proof.has_value(), "contended_period", [&] { return proof ? std::optional(period_cycles(*proof)) : std::nullopt; },
      "cycles an iteration where warp groups take time from each other");
  io.written_if(
      proof.has_value(), "period_standing", [&] { return proof ? period_sentence(*proof, schedule->ii) : std::string(); },
      "what is known of that among other programs");
  io.written("lower_bound", outcome.lower_bound);
  io.optional("bound_stages", outcome.bound_stages, "lower_bound speaks of schedules of at most so many stages; absent: of all");
  io.written("reason", outcome.reason, as::bound_reason), io.written("explanation", outcome.explanation);
  io.written("res_mii", outcome.res_mii), io.written("rec_mii", outcome.rec_mii), io.written("issue_mii", outcome.issue_mii);
  visit_extent(io, problem, schedule, period);
  io.written_if(
      schedule && latencies_vary(problem), "expected_period",
      [&answer] { return bracket_json(answer.problem, period_bracket(answer.problem, *answer.schedule)); },
      as::described_by(bracket_schema));
  visit_problem(io, problem);
  visit_placement(io, problem, schedule);
  visit_objectives(io, outcome.objectives);
  io.written("seconds", outcome.seconds);
  io.written(
      "checker",
      [&answer] { return answer.schedule ? std::optional(check(answer.problem, *answer.schedule, answer.constraints)) : std::nullopt; },
      as::part_in(problem));
  io.written("solver", outcome.solver), io.written("seed", outcome.seed, as::seed), io.written("queries", outcome.queries);
  io.written("conflicts", outcome.conflicts), io.optional("predicted", outcome.fastest), io.optional("robust", outcome.robust);
  io.written("cancelled", outcome.cancelled), io.written("timed_out", outcome.timed_out), io.written("cut_off", outcome.cut_off);
  io.written("serial", outcome.serial);
  // What heddle solve adds where it was asked for.
  io.written_if(false, "layouts_chosen", Json(), as::described_by(chosen_layouts_schema));
  io.written_if(false, "within", Json(), as::described_by(within_schema));
}

template <class Io>
void visit(Io& io, const VerdictAnswer& answer) {
  as::InContext<Verdict, Problem> verdict{const_cast<Verdict&>(answer.verdict), answer.problem};
  heddle::visit(io, std::as_const(verdict));
  io.written("ii", answer.schedule.ii);
  visit_extent(io, answer.problem, &answer.schedule, answer.period);
  io.written("schedule", answer.schedule.name, "its name");
  io.written("certificate", standing_of(answer.schedule));
  visit_problem(io, answer.problem);
}

template <class Io>
void visit(Io& io, const BoundsAnswer& answer) {
  const Problem& problem = answer.problem;
  const Bounds& bounds = answer.bounds;
  io.written("min_ii", bounds.min_ii()), io.written("res_mii", bounds.res_mii), io.written("rec_mii", bounds.rec_mii);
  io.written("credit_mii", bounds.credit_mii), io.written("issue_mii", bounds.issue_mii), io.written("explanation", bounds.sentence);
  io.written("binding_unit", bounds.binding_unit, as::or_null(as::NameIn{problem}));
  io.written("units", bounds.units, as::list(as::part_in(problem)));
  io.written("recurrence", only_if(!bounds.critical.edges.empty(), bounds.critical), as::part_in(problem));
  io.written("ops", problem.ops.size()), io.written("edges", problem.edges.size()), io.written("channels", problem.channels.size());
  visit_problem(io, problem);
}

OutcomeAnswer outcome_answer(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints) {
  OutcomeAnswer answer{problem, outcome, constraints};
  if (!outcome.schedule) return answer;
  answer.schedule = &*outcome.schedule;
  answer.period = sustainable_period(problem, *outcome.schedule);
  return answer;
}

}  // namespace

Json seconds_json(double seconds) { return std::round(seconds * 1e6) / 1e6; }

Json finite_ii_json(Cycle ii) { return ii >= kNoFiniteII ? Json() : Json(ii); }

Json faults_json(const std::vector<Fault>& faults) { return as::list(as::part).write(faults); }

Json outcome_json(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints) {
  return as::part.write(outcome_answer(problem, outcome, constraints));
}

std::string outcome_text(const Problem& problem, const SolveOutcome& outcome, const Constraints& constraints) {
  return outcome_json(problem, outcome, constraints).pretty();
}

Json outcome_schema() { return nameless_schema<OutcomeAnswer>("heddle.solve/1", "What heddle solve answers"); }
Json outcome_schema(Json& definitions) { return as::part.schema(OutcomeAnswer{}, definitions); }

std::string verdict_text(const Problem& problem, const Schedule& schedule, const Verdict& verdict) {
  return as::part.write(VerdictAnswer{problem, schedule, verdict, sustainable_period(problem, schedule)}).pretty();
}

Json verdict_schema() { return nameless_schema<VerdictAnswer>("heddle.check/1", "What heddle check answers"); }

std::string bounds_text(const Problem& problem, const Bounds& bounds) { return as::part.write(BoundsAnswer{problem, bounds}).pretty(); }

Json bounds_schema() { return nameless_schema<BoundsAnswer>("heddle.analyze/1", "What heddle analyze answers"); }

std::string timeline_page(const Problem& problem, const Schedule& schedule, const GanttModel& model, const TextStyle& style) {
  const std::string title = join_facts({problem_title(problem), headline(schedule, style)}, style);
  return fmt::format("{}\n\n{}\n{}", title, text_timeline(model, style), op_table(problem, &schedule));
}

}  // namespace heddle
