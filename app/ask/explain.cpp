#include "app/ask/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/answers/summary.h"
#include "solver/questions/explain.h"

namespace heddle::app {

Explanation ask_explain(const Subject& subject, const ExplainOptions& options, std::stop_token stop,
                        const Listener<Explanation>& listener) {
  solver::ExplainRequest request;
  request.solve = solve_request(subject);
  request.solve.ii = options.ii;
  request.relax_seconds = options.relax_seconds;
  // What was said of layouts is asked about like everything else, of as many groups as the kernel has by itself.
  InstanceSpec own = subject.instance.spec();
  own.least_groups = 0;
  if (auto layouts = open_layouts(own, {"all"}, LayoutsFor::Explaining);
      layouts && subject.allows(SourceUse::Layouts) && subject.problem().max_groups == layouts->problem.max_groups)
    request.layouts = *std::move(layouts);
  solver::ExplainListener hears;
  hears.solve = listener.solve;
  hears.progress = [&](const std::string& doing) { listener.tell({doing, {doing}, doing}); };
  hears.relaxed = [&](const WayOut& way) {
    listener.tell({.line = fmt::format("{} {} -> {}: {}", way.what, way.from, way.to, status_word(to_string(way.status)))});
  };
  hears.known = [&](const Explanation& so_far) { listener.tell({}, &so_far); };
  Explanation answer = solver::explain(request, stop, hears);
  if (const std::optional<Schedule>& of = subject.schedule ? subject.schedule : answer.schedule)
    answer.period = motion::period_parts(subject.problem(), *of, stop);
  return answer;
}

namespace {

Ending how_it_ended(const Explanation& e) {
  if (e.cancelled) return Ending::Interrupted;
  if (e.status == Status::Invalid) return Ending::InvalidInput;
  // Explained: a reason was found, or none is needed.
  const bool feasible_as_asked = e.status == Status::Feasible && e.reason == BoundReason::None && !e.timed_out && e.ii;
  const bool settled = e.status == Status::Optimal || e.status == Status::Infeasible;
  if (settled && (!e.members.empty() || e.ii == 1)) {
    const bool open = e.ways_out_left > 0 || !std::all_of(e.ways_out.begin(), e.ways_out.end(), decided);
    return open ? Ending::NoProof : Ending::Done;
  }
  return feasible_as_asked ? Ending::Done : Ending::NoProof;
}

}  // namespace

Ended ended(const Explanation& explanation) {
  Ended end = how_it_ended(explanation);
  if (explanation.status == Status::Invalid) end.complaints.push_back(explanation.sentence);
  return end;
}

std::string told(const Subject& subject, const Explanation& explanation, const Telling& how) {
  if (how.json()) return explanation_json(subject.problem(), explanation).pretty();
  return how.brief() ? explanation_headline(explanation) + "\n" : explanation_summary(subject.problem(), explanation, how.style);
}

}  // namespace heddle::app
