#include "app/ask/pareto.h"

#include <fmt/format.h>

#include <set>

#include "app/ask/known_programs.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/answers/chosen_layouts.h"
#include "core/answers/layout_choice.h"
#include "core/base/clock.h"
#include "solver/questions/pareto.h"
#include "solver/questions/period_front.h"

namespace heddle::app {

Result<Ok> take_only_layouts(Subject& subject) {
  if (subject.left_open.empty()) return Ok{};
  Result<OpenLayouts> open = what_is_open(subject);
  if (!open) return open.error();
  subject.open = std::make_shared<const OpenLayouts>(*std::move(open));
  if (subject.open->decisions.empty()) return Ok{};
  const auto only = only_choices(*subject.open);
  if (!only) return Error::input(several_left_text(*subject.open));
  Result<Problem> problem = problem_with(subject, *only);
  if (!problem) return problem.error();
  subject.instance = Instance(with(subject.instance.spec(), *only), *std::move(problem));
  return Ok{};
}

namespace {

/// Of the time limit, for the front of the period.
constexpr double kForPeriods = 0.25;

void add_periods(const Subject& subject, Clock::time_point begin, const std::stop_token& stop, const Listener<Pareto>& listener,
                 Pareto& front) {
  const auto left = [&] { return subject.limits.timeout_seconds - seconds_between(begin, Clock::now()); };
  const auto doing = [&](const std::string& what) { listener.tell({.doing = what}, &front); };
  std::vector<programs::KnownProgram> known = known_programs(subject.problem(), left() / 4, stop, doing);
  solver::add_period_front({subject.problem(), subject.constraints, std::move(known), left(), subject.limits.seed}, front, stop,
                           [&](const programs::EnumerationProgress& now) { listener.tell(news_of(now)); });
  front.seconds = seconds_between(begin, Clock::now());
}

}  // namespace

Result<Pareto> ask_pareto(Subject subject, const ParetoOptions& options, const Pareto& known, std::stop_token stop,
                          const Listener<Pareto>& listener) {
  if (const Result<Ok> taken = take_only_layouts(subject); !taken) return taken.error();
  const Clock::time_point begin = Clock::now();
  solver::ParetoRequest request;
  request.solve = solve_request(subject);
  request.solve.incumbent.reset();  // what a point takes would depend on it
  request.against = options.against;
  request.max_ii_factor = options.max_ii_factor;
  request.known = known.steps;
  if (subject.open && !subject.open->decisions.empty()) {
    request.layouts_open = open_layouts_text(*subject.open);
    request.layouts = choices_in_words(subject.instance.choices());
  }
  std::set<std::string> said;
  const auto is_news = [&](const Pareto& front, std::size_t i) { return said.insert(point_sentence(front, front.steps[i])).second; };
  for (const std::size_t i : front_points(known)) is_news(known, i);
  const bool periods = asks_for_period(subject);
  const auto step = [&](Pareto front) {
    if (periods) say_periods(subject.problem(), front);
    const std::vector<std::size_t> points = front_points(front);
    for (const std::size_t i : points)
      if (is_news(front, i)) listener.tell({.line = point_sentence(front, front.steps[i]), .early = true});
    listener.tell({.doing = fmt::format("{} points after {} steps", points.size(), front.steps.size()),
                   .facts = {fmt::format("{} points", points.size()), fmt::format("{} steps", front.steps.size())}},
                  &front);
  };
  const bool by_period = periods && request.against.size() == 1;
  if (by_period) request.solve.timeout_seconds *= 1 - kForPeriods;
  Pareto front = solver::find_pareto(request, stop, step, listener.solve);
  if (periods) say_periods(subject.problem(), front);
  if (by_period && front.fault.empty() && !stop.stop_requested()) add_periods(subject, begin, stop, listener, front);
  return front;
}

Ended ended(const Pareto& front) {
  if (!front.fault.empty()) return {Ending::Internal, {"internal error: " + front.fault}};
  if (front.cancelled) return Ending::Interrupted;
  if (!front.complete) return Ending::NoProof;
  return front_points(front).empty() ? Ending::Negative : Ending::Done;
}

std::string told(const Subject& subject, const Pareto& front, const Telling& how) {
  if (how.json()) return pareto_json(subject.problem(), subject.constraints, front).pretty();
  return how.brief() ? pareto_headline(front) + "\n" : pareto_summary(subject.problem(), front, how.style);
}

}  // namespace heddle::app
