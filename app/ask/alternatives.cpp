#include "app/ask/alternatives.h"

#include <fmt/format.h>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "solver/questions/alternatives.h"

namespace heddle::app {

Alternatives ask_alternatives(const Subject& subject, const AlternativesOptions& options, std::stop_token stop,
                              const Listener<Alternatives>& listener) {
  solver::AlternativesRequest request;
  request.solve = solve_request(subject);
  request.solve.ii = options.ii;
  request.aspect = options.aspect;
  request.count = options.count;
  request.ii_only = options.ii_only;
  request.numbers = std::make_shared<UncertainNumbers>(uncertain_numbers(subject.problem(), subject.instance.machine()));
  Alternatives so_far;
  const auto found = [&](const Alternative& alternative) {
    so_far.found.push_back(alternative);
    const std::string number = fmt::format("{} found", so_far.found.size());
    const char* next = "looking for another one";
    News news{.doing = fmt::format("{}, {}", number, next), .facts = {fmt::format("II {}", alternative.schedule.ii), number, next}};
    if (so_far.found.size() > 1) news.line = fmt::format("{}: {} places differ from 1", so_far.found.size(), alternative.distance);
    listener.tell(news, &so_far);
  };
  Alternatives answer = solver::find_alternatives(request, stop, found, listener.solve);
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
