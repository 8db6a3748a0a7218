// What in a history speaks against what it says, without solving anything.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "core/records/tuning.h"

namespace heddle {
namespace {

constexpr double kRounding = 1e-9;  // values are written as decimal fractions

bool below(double value, double bound) { return value < bound * (1 - kRounding); }
bool differ(double a, double b) { return below(a, b) || below(b, a); }

std::string against_session(const TuneEvaluation& e, const TuneSession& session) {
  if (e.value && session.lower_bound && below(*e.value, *session.lower_bound))
    return fmt::format("its value {:.15g} is below the bound of all configurations, {:.15g}", *e.value, *session.lower_bound);
  return contradiction_in(e);
}

/// One text for evaluations that ask the same of the solver.
std::string question_of(const TuneEvaluation& e) {
  std::string text;
  for (const auto& [name, value] : e.params) text += fmt::format("{}={} ", name, value);
  for (const Subtile& s : e.subtiles) text += fmt::format("{}/{} ", s.param, s.factor);
  std::vector<std::string> demands = e.demands;
  std::sort(demands.begin(), demands.end());
  for (const std::string& demand : demands) text += demand + ";";
  return text;
}

/// Why `e` cannot be right if `other`, an answer to the same question or of the same configuration, is; empty: both may be.
std::string against_other(const TuneEvaluation& e, const TuneEvaluation& other, bool same_question) {
  if (e.config == other.config && e.fidelity == other.fidelity && e.fidelity != Fidelity::Gpu) {
    if (e.status == TuneStatus::Optimal && other.status == TuneStatus::Optimal && differ(*e.value, *other.value))
      return fmt::format("its configuration takes {:.15g}, and {:.15g} in line {}, both optimal", *e.value, *other.value, other.line);
    if (e.status == TuneStatus::Infeasible && other.value) return fmt::format("it is infeasible, and has a value in line {}", other.line);
  }
  if (!same_question || e.fidelity < Fidelity::Solver || other.fidelity < Fidelity::Solver) return {};
  if (e.status == TuneStatus::Optimal && other.status == TuneStatus::Optimal && e.ii && other.ii && *e.ii != *other.ii)
    return fmt::format("its II {} is optimal; line {} says the same of {}", *e.ii, other.line, *other.ii);
  if (e.lower_bound_ii && other.ii && *e.lower_bound_ii > *other.ii)
    return fmt::format("its II is at least {}, it says; line {} has a schedule of {}", *e.lower_bound_ii, other.line, *other.ii);
  return {};
}

}  // namespace

std::string contradiction_in(const TuneEvaluation& e) {
  const bool no_value = e.status == TuneStatus::Infeasible || e.status == TuneStatus::Pruned || e.status == TuneStatus::Unknown;
  if (no_value && e.value) return fmt::format("it is {}, and has a value", to_string(e.status));
  if (e.status == TuneStatus::Optimal && !e.value) return "it is optimal, and has no value";
  if (e.value && e.bound && below(*e.value, *e.bound))
    return fmt::format("its value {:.15g} is below its own bound of {:.15g}", *e.value, *e.bound);
  if (!e.ii) return {};
  if (e.min_ii && *e.ii < *e.min_ii) return fmt::format("its II {} is below its own min_ii of {}", *e.ii, *e.min_ii);
  if (e.lower_bound_ii && *e.ii < *e.lower_bound_ii)
    return fmt::format("its II {} is below its own lower_bound_ii of {}", *e.ii, *e.lower_bound_ii);
  if (e.status == TuneStatus::Optimal && e.lower_bound_ii && *e.ii != *e.lower_bound_ii)
    return fmt::format("it is optimal, and its II {} is above its own lower_bound_ii of {}", *e.ii, *e.lower_bound_ii);
  return {};
}

std::vector<Fault> set_aside_contradictions(TuneHistory& history, const std::string& file) {
  std::vector<std::string> why(history.evaluations.size());
  const auto session_of = [&](const TuneEvaluation& e) {
    const auto later =
        std::find_if(history.sessions.begin(), history.sessions.end(), [&](const TuneSession& s) { return s.line > e.line; });
    return later == history.sessions.begin() ? later : std::prev(later);
  };
  std::map<std::string, std::vector<std::size_t>> questions;
  std::map<Config, std::vector<std::size_t>> configs;
  for (std::size_t i = 0; i < why.size(); ++i) {
    const TuneEvaluation& e = history.evaluations[i];
    why[i] = against_session(e, *session_of(e));
    if (!why[i].empty()) continue;
    questions[question_of(e)].push_back(i);
    configs[e.config].push_back(i);
  }
  const auto compare = [&](const std::vector<std::size_t>& group, bool same_question) {
    // Who asks one question again and again: the least and the greatest answers refute all that can be refuted.
    std::vector<std::size_t> judges;
    const auto keep = [&](auto better) {
      const auto found = std::min_element(
          group.begin(), group.end(), [&](std::size_t a, std::size_t b) { return better(history.evaluations[a], history.evaluations[b]); });
      judges.push_back(*found);
    };
    constexpr Cycle none = Cycle{1} << 62;
    const auto proved_ii = [](const TuneEvaluation& e, Cycle otherwise) {
      return e.status == TuneStatus::Optimal ? e.ii.value_or(otherwise) : otherwise;
    };
    const auto proved_value = [](const TuneEvaluation& e, double otherwise) {
      return e.status == TuneStatus::Optimal ? *e.value : otherwise;
    };
    keep([&](const auto& a, const auto& b) { return a.ii.value_or(none) < b.ii.value_or(none); });
    keep([&](const auto& a, const auto& b) { return proved_ii(a, none) < proved_ii(b, none); });
    keep([&](const auto& a, const auto& b) { return proved_ii(a, -1) > proved_ii(b, -1); });
    keep([&](const auto& a, const auto& b) { return proved_value(a, 1e300) < proved_value(b, 1e300); });
    keep([&](const auto& a, const auto& b) { return proved_value(a, -1) > proved_value(b, -1); });
    keep([&](const auto& a, const auto& b) { return a.value.has_value() && !b.value.has_value(); });
    for (const std::size_t i : group)
      for (const std::size_t judge : judges)
        if (judge != i && why[i].empty()) why[i] = against_other(history.evaluations[i], history.evaluations[judge], same_question);
  };
  for (const auto& [question, group] : questions) compare(group, true);
  for (const auto& [config, group] : configs) compare(group, false);

  std::vector<Fault> taken;
  std::vector<TuneEvaluation> kept;
  for (std::size_t i = 0; i < why.size(); ++i) {
    TuneEvaluation& e = history.evaluations[i];
    if (why[i].empty())
      kept.push_back(std::move(e));
    else
      taken.push_back({file, {}, fmt::format("line {}: evaluation {} is set aside: {}", e.line, e.number, why[i]), {}});
  }
  history.evaluations = std::move(kept);
  if (!taken.empty()) restate_best(history);
  const TuneEvaluation* best = history.best();
  if (history.end && (best ? !history.end->best || differ(*history.end->best, *best->value) : history.end->best.has_value())) {
    taken.push_back({file, {}, "what it says at its end does not follow from its evaluations and is set aside", {}});
    history.end->proved = false;
    history.end->best = best ? best->value : std::nullopt;
    history.end->best_number = best ? best->number : 0;
  }
  return taken;
}

void restate_best(TuneHistory& history) {
  const TuneEvaluation* best = nullptr;
  for (TuneEvaluation& e : history.evaluations) {
    if (e.value && (!best || *e.value < *best->value)) best = &e;
    e.best = best ? best->value : std::nullopt;
    e.best_number = best ? best->number : 0;
    e.excluded.reset();
    e.open.reset();
  }
}

}  // namespace heddle
