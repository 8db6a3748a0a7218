#include "app/ask/sensitivity.h"

#include <fmt/format.h>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/problem/changes.h"
#include "solver/questions/sensitivity.h"

namespace heddle::app {

Sensitivity ask_sensitivity(const Subject& subject, const SensitivityOptions& options, std::stop_token stop,
                            const Listener<Sensitivity>& listener) {
  solver::SensitivityRequest request;
  request.solve = solve_request(subject);
  request.numbers = numbers_of(subject.instance.kernel(), subject.instance.machine(), subject.problem());
  request.percent = options.percent;
  request.problem_with = [&](const Changes& changes) { return problem_with(subject, changes); };
  if (!subject.left_open.empty()) {
    request.solve.incumbent.reset();  // of the layouts as they are
    request.open_with = [&](const Changes& changes) { return open_again(subject, subject.instance.choices(), changes); };
    request.problem_with_layouts = [&](const Changes& changes, const LayoutChoices& choices) {
      return problem_with(subject, choices, changes);
    };
  }
  listener.tell({.facts = {"solving with the numbers as they are"}});
  std::size_t moving = 0;
  return solver::sensitivity(request, std::move(stop), [&](const Sensitivity& partial) {
    std::size_t open = 0, found = 0;
    for (const SensitivityRow& row : partial.rows) {
      open += partial.effect(row) == SensitivityEffect::Undecided;
      found += partial.effect(row) == SensitivityEffect::II;
    }
    News news{.doing = fmt::format("{} of {} numbers undecided", open, partial.rows.size()),
              .facts = {fmt::format("{} numbers", partial.rows.size()), fmt::format("{} change II", found),
                        fmt::format("{} undecided", open), fmt::format("{} queries", partial.queries)}};
    if (found != moving) news.line = fmt::format("{} of {} numbers change II, {} undecided", found, partial.rows.size(), open);
    moving = found;
    listener.tell(news, &partial);
  });
}

Ended ended(const Sensitivity& answer) {
  if (answer.cancelled) return Ending::Interrupted;
  if (answer.status == Status::Infeasible) return Ending::Negative;
  return answer.complete() ? Ending::Done : Ending::NoProof;
}

std::string told(const Subject& subject, const Sensitivity& answer, const Telling& how) {
  if (how.json()) return sensitivity_json(subject.problem(), answer).pretty();
  if (how.brief()) return sensitivity_headline(answer, how.style) + "\n";
  return sensitivity_summary(subject.problem(), answer, how.all, how.style);
}

}  // namespace heddle::app
