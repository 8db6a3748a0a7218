#include "core/answers/alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/analysis/slack.h"
#include "core/analysis/turns.h"
#include "core/answers/summary.h"
#include "core/formats/schedule_json.h"

namespace heddle {

namespace {

constexpr std::size_t kMostSentences = 8;

std::string schedules(std::size_t count) { return fmt::format("{} schedule{}", count, count == 1 ? "" : "s"); }

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
  text += fmt::format("{}; at most {} stage{}\n", equality(answer), answer.stages, answer.stages == 1 ? "" : "s");
  text += fmt::format("told apart by {}\n\n", told_apart(answer.aspect));

  const std::vector<std::size_t> order = by_robustness(answer);
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : order) {
    const Alternative& a = answer.found[i];
    rows.push_back({std::to_string(i + 1), off_text(a.if_off), i == 0 ? "" : std::to_string(a.distance),
                    i == 0 ? "" : std::to_string(a.nearest), std::to_string(a.period), std::to_string(stage_count(a.schedule)),
                    std::to_string(schedule_length(problem, a.schedule)), delay(a.robustness.median),
                    fmt::format("{} of {}", a.robustness.critical, problem.ops.size())});
  }
  text += text_table({{"no.", true},
                      {"if off", true},
                      {"from 1", true},
                      {"from nearest", true},
                      {"period", true},
                      {"stages", true},
                      {"length", true},
                      {"median delay borne", true},
                      {"critical ops", true}},
                     rows);
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
  return text;
}

namespace {

Json delay_json(Cycle delay) { return delay == kUnlimited ? Json() : Json(delay); }

Json alternative_json(const Problem& problem, const Alternative& alternative, std::size_t number) {
  const Schedule& schedule = alternative.schedule;
  Json differences = Json::array();
  for (const std::string& sentence : alternative.differences) differences.push(sentence);
  Json turns = Json::array();
  for (const Turns& t : turns_of(problem, schedule)) {
    Json ops = Json::array();
    for (const OpId v : t.ops) ops.push(problem.op(v).name);
    turns.push(Json::object().set("unit", problem.unit(t.unit).name).set("ops", std::move(ops)));
  }
  const Robustness& robustness = alternative.robustness;
  Json item = Json::object();
  item.set("number", number).set("distance", alternative.distance).set("nearest", alternative.nearest);
  item.set("differences", std::move(differences)).set("turns", std::move(turns));
  item.set("ii", schedule.ii).set("period", alternative.period).set("length", schedule_length(problem, schedule));
  item.set("stages", stage_count(schedule));
  item.set("robustness", Json::object()
                             .set("least_delay", delay_json(robustness.least))
                             .set("median_delay", delay_json(robustness.median))
                             .set("critical_ops", robustness.critical));
  if (alternative.if_off.mean > 0)
    item.set("off", Json::object().set("mean", alternative.if_off.mean).set("percentile_95", alternative.if_off.high));
  item.set("groups", groups_json(problem, schedule)).set("ops", placements_json(problem, schedule));
  return item.set("channels", channels_json(problem, schedule));
}

}  // namespace

Json alternatives_json(const Problem& problem, const Alternatives& answer) {
  const SolveOutcome& first = answer.first;
  Json root = Json::object();
  root.set("status", to_string(first.status)).set("ii", first.schedule ? Json(first.schedule->ii) : Json());
  root.set("lower_bound", first.lower_bound).set("explanation", first.explanation);
  root.set("objectives", objectives_json(first.objectives));
  root.set("differ", to_string(answer.aspect)).set("equal", answer.ii_only ? "ii" : "all");
  root.set("stages_limit", answer.stages).set("most_distance", answer.most_distance);
  root.set("count", answer.found.size()).set("exact", answer.exact).set("more", answer.more);
  Json list = Json::array();
  for (std::size_t i = 0; i < answer.found.size(); ++i) list.push(alternative_json(problem, answer.found[i], i + 1));
  root.set("alternatives", std::move(list));
  Json ranked = Json::array(), worth = Json::array();
  for (const std::size_t i : by_robustness(answer)) ranked.push(i + 1);
  for (const std::string& sentence : answer.worth) worth.push(sentence);
  root.set("by_robustness", std::move(ranked)).set("most_from_least_robust", std::move(worth));
  root.set("cancelled", answer.cancelled).set("timed_out", answer.timed_out).set("fault", answer.fault);
  root.set("queries", answer.queries).set("seconds", answer.seconds);
  root.set("solver", first.solver).set("seed", first.seed);
  root.set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  return root.set("problem_hash", problem_hash(problem));
}

}  // namespace heddle
