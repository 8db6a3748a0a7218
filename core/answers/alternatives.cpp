#include "core/answers/alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/analysis/slack.h"
#include "core/analysis/turns.h"
#include "core/answers/answer_members.h"
#include "core/base/text_style.h"

namespace heddle {

namespace {

constexpr std::size_t kMostSentences = 8;

std::string schedules(std::size_t count) { return count_of(count, "schedule"); }

std::string delay(Cycle cycles) { return cycles == kUnlimited ? "any" : std::to_string(cycles); }

/// "equal II, stages, warps" or, where an objective is not proved, what can be said instead.
std::string equality(const Alternatives& answer) {
  if (answer.ii_only) return "equal II";
  std::string names = "equal II", open;
  for (const ObjectiveValue& o : answer.first.objectives) {
    if (o.name == "ii") continue;
    (o.proved ? names : open) += fmt::format("{}{}", o.proved || !open.empty() ? ", " : "", o.name);
  }
  return open.empty() ? names : fmt::format("{}; {} no worse (optimum not proved)", names, open);
}

/// "TC in turns: QK0, PV1, QK1, PV0" per tensor unit that several groups share.
std::string turns_lines(const Problem& problem, const Schedule& schedule, const TextStyle& style) {
  std::string text;
  for (const Turns& turns : turns_of(problem, schedule)) {
    std::string ops;
    for (const OpId v : turns.ops) ops += (ops.empty() ? "" : ", ") + problem.op(v).name;
    text += styled(fmt::format("  {} in turns: {}", problem.unit(turns.unit).name, ops), style) + "\n";
  }
  return text;
}

const char* told_apart(Aspect aspect) {
  switch (aspect) {
    case Aspect::Groups: return "the groups of ops";
    case Aspect::Order: return "groups, and the order of ops in each";
    case Aspect::Stages: return "groups, iterations that overlap, and ring depths";
    case Aspect::Any: return "groups, order of ops, iterations that overlap, and ring depths";
  }
  return "";
}

std::string off_text(const PeriodSpread& spread) { return spread.mean > 0 ? fmt::format("{:.0f}-{:.0f}", spread.mean, spread.high) : "-"; }

std::string sentence_lines(const std::vector<std::string>& sentences, const TextStyle& style) {
  std::string text;
  for (std::size_t k = 0; k < sentences.size() && k < kMostSentences; ++k) text += "  " + styled(sentences[k], style) + "\n";
  if (sentences.size() > kMostSentences) text += fmt::format("  and {} more\n", sentences.size() - kMostSentences);
  return text;
}

/// Programs of nearly the least period, and what each does otherwise than the first.
std::string programs_text(const Problem& problem, const Alternatives& answer, const TextStyle& style) {
  if (!answer.least_period) return {};
  std::string text =
      fmt::format("\nperiod {}\n{}\n", period_text(*answer.least_period),
                  answer.programs.size() == 1 ? fmt::format("no other program within {} % of it is known", kNearlyLeastPercent)
                                              : fmt::format("programs within {} % of it, whatever their II", kNearlyLeastPercent));
  std::vector<std::vector<std::string>> rows;
  for (const ProgramAlternative& program : answer.programs)
    rows.push_back({fmt::format("p{}", rows.size() + 1), fmt::format("{:.1f}", program.period),
                    rows.empty() ? "" : fmt::format("{:+.1f} %", 100 * (program.period / answer.programs.front().period - 1)),
                    std::to_string(program.schedule.ii), std::to_string(stage_count(program.schedule)),
                    std::to_string(schedule_length(problem, program.schedule)), printable(program.from)});
  text += text_table({{"no.", true}, {"period", true}, {"to p1", true}, {"II", true}, {"stages", true}, {"length", true}, {"the order of"}},
                     rows);
  for (std::size_t i = 1; i < answer.programs.size(); ++i)
    text += fmt::format("\np{} differs from p1\n", i + 1) + sentence_lines(answer.programs[i].differences, style);
  return text;
}

}  // namespace

std::vector<std::size_t> by_robustness(const Alternatives& answer) {
  const auto cost = [&](std::size_t i) {
    const PeriodSpread& spread = answer.found[i].if_off;
    return spread.mean > 0 ? spread.mean + spread.high : std::numeric_limits<double>::infinity();
  };
  std::vector<std::size_t> order(answer.found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); });
  return order;
}

std::string alternatives_headline(const Alternatives& answer) {
  const std::size_t count = answer.found.size();
  if (count == 0) return "no schedule found";
  if (answer.exact) return fmt::format("exactly {}, proved", schedules(count));
  const char* why = answer.more ? "there are more" : answer.cancelled ? "interrupted" : answer.timed_out ? "time is up" : "partial";
  return fmt::format("at least {}; {}", schedules(count), why);
}

std::string alternatives_summary(const Problem& problem, const Alternatives& answer, const TextStyle& style) {
  std::string text = fmt::format("{}\n{}\n", problem_title(problem), headline(answer.first, style));
  if (answer.found.empty()) return text + printable(answer.first.explanation) + "\n";
  text += alternatives_headline(answer) + "\n";
  text += fmt::format("{}; at most {}\n", equality(answer), count_of(answer.stages, "stage"));
  text += fmt::format("told apart by {}\n\n", told_apart(answer.aspect));

  const std::vector<std::size_t> order = by_robustness(answer);
  const bool contended =
      std::any_of(answer.found.begin(), answer.found.end(), [](const Alternative& a) { return a.contended_period.has_value(); });
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : order) {
    const Alternative& a = answer.found[i];
    rows.push_back({std::to_string(i + 1), off_text(a.if_off), i == 0 ? "" : std::to_string(a.distance),
                    i == 0 ? "" : std::to_string(a.nearest), std::to_string(a.period), std::to_string(stage_count(a.schedule)),
                    std::to_string(schedule_length(problem, a.schedule)), delay(a.robustness.median),
                    fmt::format("{} of {}", a.robustness.critical, problem.ops.size())});
    if (contended) rows.back().insert(rows.back().begin() + 1, a.contended_period ? fmt::format("{:.1f}", *a.contended_period) : "-");
  }
  std::vector<TextColumn> columns{{"no.", true},
                                  {"if off", true},
                                  {"from 1", true},
                                  {"from nearest", true},
                                  {contended ? "sustains" : "period", true},
                                  {"stages", true},
                                  {"length", true},
                                  {"median delay borne", true},
                                  {"critical ops", true}};
  if (contended) columns.insert(columns.begin() + 1, {"period", true});
  text += text_table(columns, rows);
  if (contended)
    text += "  period: cycles an iteration where warp groups take time from each other, predicted; sustains: where nothing contends\n";
  text += fmt::format("  distances count pairs of ops that relate differently, and rings of another depth (at most {})\n",
                      answer.most_distance);
  if (answer.found[order.front()].if_off.mean > 0)
    text +=
        "  if off: cycles an iteration as hardware runs it when numbers are off, mean and 95th percentile (predicted); the most robust "
        "first\n";
  text += "  delay borne: how late an op may come in every iteration before II is lost; critical ops allow none\n";
  const std::string first_turns = turns_lines(problem, answer.found[0].schedule, style);
  if (!first_turns.empty()) text += "\n1\n" + first_turns;
  if (!answer.worth.empty())
    text += fmt::format("\nwhat the most robust, {}, does differently from the least robust, {}\n", order.front() + 1, order.back() + 1) +
            sentence_lines(answer.worth, style);
  for (const std::size_t i : order) {
    if (i == 0) continue;
    text += fmt::format("\n{} differs from 1\n", i + 1) + sentence_lines(answer.found[i].differences, style);
    if (const std::string turns = turns_lines(problem, answer.found[i].schedule, style); turns != first_turns) text += turns;
  }
  return text + programs_text(problem, answer, style);
}

namespace {

struct AlternativeLine {
  const Problem& problem = blank<Problem>;
  const Alternative& alternative = blank<Alternative>;
  std::size_t number = 1;
};

struct AlternativesAnswer {
  const Problem& problem = blank<Problem>;
  const Alternatives& answer = blank<Alternatives>;
};

std::vector<AlternativeLine> alternative_lines(const Problem& problem, const Alternatives& answer) {
  std::vector<AlternativeLine> lines;
  for (const Alternative& one : answer.found) lines.push_back({problem, one, lines.size() + 1});
  return lines;
}

struct ProgramLine {
  const Problem& problem = blank<Problem>;
  const ProgramAlternative& program = blank<ProgramAlternative>;
  std::size_t number = 1;
};

std::vector<ProgramLine> program_lines(const Problem& problem, const Alternatives& answer) {
  std::vector<ProgramLine> lines;
  for (const ProgramAlternative& one : answer.programs) lines.push_back({problem, one, lines.size() + 1});
  return lines;
}

std::vector<std::size_t> robust_numbers(const Alternatives& answer) {
  std::vector<std::size_t> numbers = by_robustness(answer);
  for (std::size_t& number : numbers) ++number;
  return numbers;
}

}  // namespace

template <class Io>
void visit(Io& io, const Robustness& robustness) {
  io.written("least_delay", robustness.least, as::limited), io.written("median_delay", robustness.median, as::limited);
  io.written("critical_ops", robustness.critical);
}

template <class Io>
void visit(Io& io, const as::InContext<Turns, Problem>& in) {
  io.written("unit", in.part.unit, as::NameIn{in.context}), io.written("ops", in.part.ops, as::list(as::NameIn{in.context}));
}

namespace {

template <class Io>
void visit(Io& io, const AlternativeLine& line) {
  const Problem& problem = line.problem;
  const Alternative& alternative = line.alternative;
  const Schedule& schedule = alternative.schedule;
  io.written("number", line.number);
  io.written("distance", alternative.distance, "from the first: pairs of ops that relate differently, and rings of another depth");
  io.written("nearest", alternative.nearest, "the same, from the nearest of those before it");
  io.written("differences", alternative.differences, "from the first, in words");
  io.written(
      "turns", [&] { return turns_of(problem, schedule); }, as::list(as::part_in(problem)));
  io.written("ii", schedule.ii);
  io.written("period", alternative.period, "sustainable, rounded up");
  io.written_if(alternative.contended_period.has_value(), "contended_period", alternative.contended_period,
                "cycles an iteration where warp groups take time from each other, predicted");
  io.written("length", [&] { return schedule_length(problem, schedule); });
  io.written("stages", [&] { return stage_count(schedule); });
  io.written("robustness", alternative.robustness, "how late an op may come in every iteration before II is lost");
  io.written_if(alternative.if_off.mean > 0, "off", alternative.if_off, "predicted cycles an iteration when numbers are off");
  visit_placement(io, problem, &schedule);
}

template <class Io>
void visit(Io& io, const ProgramLine& line) {
  io.part("program");
  io.written("number", line.number), io.written("contended_period", line.program.period);
  io.written("from", line.program.from, "whose order it is; empty: found by the search");
  io.written("differences", line.program.differences, "from the first of them, in words");
  const Schedule& schedule = line.program.schedule;
  io.written("ii", schedule.ii);
  io.written("stages", [&] { return stage_count(schedule); });
  visit_placement(io, line.problem, &schedule);
}

template <class Io>
void visit(Io& io, const AlternativesAnswer& of) {
  const Alternatives& answer = of.answer;
  io.written("status", answer.first.status, as::status), io.written("ii", ii_of(answer.first.schedule));
  io.written("lower_bound", answer.first.lower_bound), io.written("explanation", answer.first.explanation);
  visit_objectives(io, answer.first.objectives);
  io.written("differ", answer.aspect, as::word("aspect", Aspect::Any));
  io.written("equal", answer.ii_only ? "ii" : "all");
  io.written("stages_limit", answer.stages), io.written("most_distance", answer.most_distance), io.written("count", answer.found.size());
  io.written("exact", answer.exact, "proved: there are no others");
  io.written("more", answer.more, "one more was seen");
  io.written("alternatives", alternative_lines(of.problem, answer));
  io.written("by_robustness", robust_numbers(answer), "their numbers, the most robust first");
  io.written("most_from_least_robust", answer.worth, "what the first of these does differently from the last");
  io.written_if(answer.least_period.has_value(), "least_period", answer.least_period);
  io.written_if(answer.least_period.has_value(), "programs", program_lines(of.problem, answer),
                "of nearly the least period, whatever their II, the least first");
  io.written("cancelled", answer.cancelled), io.written("timed_out", answer.timed_out), io.written("fault", answer.fault);
  io.written("queries", answer.queries), io.written("seconds", answer.seconds), io.written("solver", answer.first.solver);
  io.written("seed", answer.first.seed, as::seed);
  visit_problem(io, of.problem, false);
}

}  // namespace

Json alternatives_json(const Problem& problem, const Alternatives& answer) { return as::part.write(AlternativesAnswer{problem, answer}); }

Json alternatives_schema() { return nameless_schema<AlternativesAnswer>("heddle.alternatives/1", "What heddle alternatives answers"); }

}  // namespace heddle
