#include "app/ask/layouts.h"

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "solver/questions/choose_layouts.h"

namespace heddle::app {

Result<ChosenLayouts> ask_layouts(const Subject& subject, std::optional<Cycle> ii, std::stop_token stop,
                                  const Listener<ChosenLayouts>& listener) {
  Result<OpenLayouts> open = what_is_open(subject);
  if (!open) return open.error();
  solver::SolveRequest request = solve_request(subject);
  request.incumbent.reset();  // of the layouts as they are
  request.ii = ii;
  return solver::choose_layouts(
      *std::move(open), [&](const LayoutChoices& choices) { return problem_with(subject, choices); }, std::move(request), std::move(stop),
      listener.solve);
}

}  // namespace heddle::app
