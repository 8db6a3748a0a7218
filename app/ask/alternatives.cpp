#include "app/ask/alternatives.h"

#include <fmt/format.h>

#include "app/ask/known_programs.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/base/clock.h"
#include "solver/questions/alternatives.h"
#include "solver/questions/program_alternatives.h"

namespace heddle::app {
namespace {

/// Of the time limit, for programs of nearly the least period.
constexpr double kForPrograms = 0.25;

}  // namespace

Alternatives ask_alternatives(const Subject& subject, const AlternativesOptions& options, std::stop_token stop,
                              const Listener<Alternatives>& listener) {
  const Clock::time_point begin = Clock::now();
  solver::AlternativesRequest request;
  request.solve = solve_request(subject);
  request.solve.ii = options.ii;
  request.aspect = options.aspect;
  request.count = options.count;
  request.ii_only = options.ii_only;
  request.numbers = std::make_shared<UncertainNumbers>(uncertain_numbers(subject.problem(), subject.instance.machine()));
  request.periods = asks_for_period(subject);
  Alternatives so_far;
  const auto found = [&](const Alternative& alternative) {
    so_far.found.push_back(alternative);
    const std::string number = fmt::format("{} found", so_far.found.size());
    const char* next = "looking for another one";
    News news{.doing = fmt::format("{}, {}", number, next), .facts = {fmt::format("II {}", alternative.schedule.ii), number, next}};
    if (so_far.found.size() > 1) news.line = fmt::format("{}: {} places differ from 1", so_far.found.size(), alternative.distance);
    listener.tell(news, &so_far);
  };
  const bool programs = asks_for_period(subject) && !options.ii;
  if (programs) request.solve.timeout_seconds *= 1 - kForPrograms;
  Alternatives answer = solver::find_alternatives(request, stop, found, listener.solve);
  if (programs && answer.fault.empty() && !stop.stop_requested()) {
    const auto left = [&] { return subject.limits.timeout_seconds - seconds_between(begin, Clock::now()); };
    const auto doing = [&](const std::string& what) { listener.tell({.doing = what}); };
    std::vector<programs::KnownProgram> known = known_programs(subject.problem(), left() / 4, stop, doing);
    solver::add_programs({subject.problem(), subject.constraints, std::move(known), left(), subject.limits.seed}, options.count, answer,
                         stop, [&](const programs::EnumerationProgress& now) { listener.tell(news_of(now)); });
    answer.seconds = seconds_between(begin, Clock::now());
    answer.cancelled |= stop.stop_requested();
  }
  answer.cancelled |= stop.stop_requested() && !answer.exact && !answer.more;
  return answer;
}

Ended ended(const Alternatives& answer) {
  if (!answer.fault.empty()) return {Ending::Internal, {"internal error: " + answer.fault}};
  if (answer.first.status == Status::Invalid) return {Ending::Internal, {"internal error: " + answer.first.explanation}};
  if (answer.cancelled) return Ending::Interrupted;
  if (answer.found.empty()) return ended(answer.first);
  return answer.exact || answer.more ? Ending::Done : Ending::NoProof;
}

std::string told(const Subject& subject, const Alternatives& answer, const Telling& how) {
  if (how.json()) return alternatives_json(subject.problem(), answer).pretty();
  return how.brief() ? alternatives_headline(answer) + "\n" : alternatives_summary(subject.problem(), answer, how.style);
}

}  // namespace heddle::app
