#include "core/answers/tuning_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/answers/summary.h"

namespace heddle {
namespace {

constexpr std::size_t kShownEvaluations = 12, kShownReasons = 8;

std::string number_text(double value, TuneObjective objective) {
  return objective == TuneObjective::Microseconds ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

std::string value_and_unit(double value, TuneObjective objective) {
  return fmt::format("{} {}", number_text(value, objective), unit_of(objective));
}

template <class T>
std::string maybe(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string versus_best(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

/// What each value stands for, in one line.
const char* meaning(TuneObjective objective) {
  switch (objective) {
    case TuneObjective::Cycles: return "cycles of the whole kernel on the whole machine";
    case TuneObjective::Steady: return "cycles of the whole problem at each II, all SMs busy";
    case TuneObjective::Microseconds: break;
  }
  return "microseconds per launch, measured";
}

std::string proof_sentence(const TuneHistory& history) {
  const TuneSession& session = history.sessions.back();
  const TuneEvaluation* last = history.evaluations.empty() ? nullptr : &history.evaluations.back();
  const auto evaluated = static_cast<std::int64_t>(history.evaluations.size());
  std::string counts = count_of(evaluated, "configuration") + " evaluated";
  if (session.configurations && session.known_feasible && *session.known_feasible < *session.configurations)
    counts +=
        fmt::format(", {} of {} impossible from the start", *session.configurations - *session.known_feasible, *session.configurations);
  if (last && last->excluded) counts += fmt::format(", {} excluded with proof", *last->excluded);
  if (last && last->open && *last->open > 0) counts += fmt::format(", {} not looked at", *last->open);
  if (history.end && history.end->proved)
    return (history.end->rests_on_file ? "the file says that no other configuration of the space is better: "
                                       : "no other configuration of the space is better: ") +
           counts;
  return counts;
}

std::string best_table(const TuneHistory& history) {
  const TuneObjective objective = history.sessions.front().objective;
  std::vector<const TuneEvaluation*> ranked;
  for (const TuneEvaluation& e : history.evaluations)
    if (e.value) ranked.push_back(&e);
  if (ranked.empty()) return "";
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto* a, const auto* b) { return *a->value < *b->value; });
  const double best = *ranked.front()->value;
  std::vector<std::vector<std::string>> rows;
  for (const TuneEvaluation* e : ranked) {
    if (rows.size() == kShownEvaluations) break;
    rows.push_back(
        {std::to_string(e->number), printable(e->label), number_text(*e->value, objective),
         e == ranked.front() ? "" : versus_best(*e->value / best), e->bound ? number_text(*e->bound, objective) : "", maybe(e->ii),
         maybe(e->ctas), maybe(e->stages), maybe(e->groups), maybe(e->warps), e->smem ? fmt::format("{}", (*e->smem + 1023) / 1024) : "",
         maybe(e->registers), e->of_peak && *e->of_peak > 0 ? fmt::format("{:.1f} %", 100 * *e->of_peak) : "",
         fmt::format("{}{}", e->line > 0 && e->status == TuneStatus::Optimal ? "file says " : "", status_word(to_string(e->status))),
         e->by});
  }
  std::string text = text_table({{"#", true},
                                 {"configuration"},
                                 {unit_of(objective), true},
                                 {"to best", true},
                                 {"at least", true},
                                 {"II", true},
                                 {"CTAs", true},
                                 {"stages", true},
                                 {"groups", true},
                                 {"warps", true},
                                 {"SMEM KiB", true},
                                 {"registers", true},
                                 {"of peak", true},
                                 {"status"},
                                 {"by"}},
                                rows);
  if (ranked.size() > kShownEvaluations) text += fmt::format("  and {} more\n", ranked.size() - kShownEvaluations);
  return text;
}

std::string failures(const TuneHistory& history) {
  std::map<std::pair<std::string, std::string>, std::vector<std::int64_t>> reasons;
  for (const TuneEvaluation& e : history.evaluations)
    if (!e.value) reasons[{std::string(status_word(to_string(e.status))), e.why}].push_back(e.number);
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<std::int64_t>>> order(reasons.begin(), reasons.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kShownReasons); ++i)
    text += fmt::format("  {} {}{}{}\n", order[i].second.size(), order[i].first.first, order[i].first.second.empty() ? "" : ": ",
                        printable(order[i].first.second));
  if (order.size() > kShownReasons) text += fmt::format("  and {} more reasons\n", order.size() - kShownReasons);
  return text.empty() ? text : "\nwithout a value\n" + text;
}

/// "1: 5210000, 4: 4434336": where the best value fell.
std::string descent(const TuneHistory& history, TuneObjective objective) {
  std::string text;
  std::optional<double> best;
  for (const TuneEvaluation& e : history.evaluations)
    if (e.value && (!best || *e.value < *best)) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", e.number, number_text(*e.value, objective));
      best = e.value;
    }
  return text;
}

}  // namespace

std::string evaluation_facts(const TuneEvaluation& e, TuneObjective objective, const TextStyle& style) {
  return join_facts({e.value ? value_and_unit(*e.value, objective) : "", e.ii ? fmt::format("II {}", *e.ii) : "",
                     std::string(status_word(to_string(e.status))), e.value ? "" : printable(e.why)},
                    style);
}

std::string tuning_headline(const TuneHistory& history, const TextStyle& style) {
  const TuneSession& session = history.sessions.back();
  const TuneEvaluation* best = history.best();
  if (!best)
    return fmt::format("no configuration has a value: {}", count_of(static_cast<std::int64_t>(history.evaluations.size()), "evaluation"));
  std::vector<std::string> facts{printable(best->label), value_and_unit(*best->value, session.objective)};
  if (best->tflops && *best->tflops > 0) facts.push_back(fmt::format("{:.1f} TFLOP/s at the clock under load", *best->tflops));
  if (best->of_peak && *best->of_peak > 0) facts.push_back(fmt::format("{:.1f} % of the tensor peak", 100 * *best->of_peak));
  if (history.end && history.end->proved)
    facts.push_back(history.end->rests_on_file ? "the file says: proved best of the space" : "proved best of the space");
  else if (session.lower_bound && *session.lower_bound > 0)
    facts.push_back(fmt::format("at most {:.1f} % above {}", 100 * (*best->value / *session.lower_bound - 1),
                                session.line > 0 ? "the bound that the file says" : "the best there can be"));
  else
    facts.push_back("not proved best");
  return join_facts(facts, style);
}

std::string tuning_summary(const TuneHistory& history, const TextStyle& style) {
  const TuneSession& session = history.sessions.back();
  std::vector<std::string> what{
      fmt::format("{} on {}{}", printable(session.kernel), printable(session.machine), session.machine_changed ? " (changed)" : ""),
      meaning(session.objective), fmt::format("judged by the {}", to_string(session.fidelity)),
      fmt::format("{}, seed {}", to_string(session.method), session.seed)};
  if (session.configurations) what.push_back(count_of(*session.configurations, "configuration"));
  std::string text = join_facts(what, style) + "\n" + tuning_headline(history, style) + "\n" + proof_sentence(history) + "\n";
  const std::string table = best_table(history);
  if (!table.empty()) text += "\n" + table;
  const std::string falls = descent(history, session.objective);
  if (!falls.empty()) text += fmt::format("\nbest {} after evaluation {}\n", unit_of(session.objective), falls);
  text += failures(history);
  if (history.end)
    text += fmt::format("\nended: {} after {:.1f} s\n", history.end->reason, history.end->seconds);
  else
    text += "\nit has not ended: go on with " + said_by(style, "history") + "\n";
  return text;
}

}  // namespace heddle
