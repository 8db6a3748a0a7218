// heddle explain: why II is not smaller, or why there is no schedule, and what would help.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/explanation.h"
#include "core/answers/summary.h"
#include "solver/questions/explain.h"

namespace heddle::app {
namespace {

int exit_code_of(const Explanation& e) {
  if (e.cancelled) return kInterrupted;
  if (e.status == Status::Invalid) return kInvalidInput;
  // Explained: a reason was found, or none is needed.
  const bool feasible_as_asked = e.status == Status::Feasible && e.reason == BoundReason::None && !e.timed_out && e.ii;
  const bool settled = e.status == Status::Optimal || e.status == Status::Infeasible;
  if (settled && (!e.members.empty() || e.ii == 1)) {
    const bool open = e.ways_out_left > 0 || !std::all_of(e.ways_out.begin(), e.ways_out.end(), decided);
    return open ? kNoProof : kDone;
  }
  return feasible_as_asked ? kDone : kNoProof;
}

}  // namespace

int run_explain(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);

  solver::ExplainRequest request;
  request.solve = solve_request(*inputs, arguments);
  request.relax_seconds = arguments.has("--no-relax") ? 0 : arguments.seconds("--relax-seconds");
  // What was said of layouts is asked about like everything else, of as many groups as the kernel has by itself.
  InstanceSpec own = inputs->instance.spec();
  own.least_groups = 0;
  if (auto layouts = open_layouts(own, {"all"}, LayoutsFor::Explaining);
      layouts && !inputs->triton() && inputs->problem().max_groups == layouts->problem.max_groups)
    request.layouts = *std::move(layouts);
  const InterruptScope interrupt;
  Explanation explanation;
  {
    ProgressLine progress(terminal);
    solver::ExplainListener listener;
    listener.solve = listener_for(progress);
    listener.progress = [&](const std::string& doing) {
      progress.show({doing});
      progress.say(doing);
    };
    listener.relaxed = [&](const WayOut& r) {
      progress.say(fmt::format("{} {} -> {}: {}", r.what, r.from, r.to, status_word(to_string(r.status))));
    };
    explanation = solver::explain(request, interrupt.token(), listener);
  }

  if (json)
    terminal.out << explanation_json(inputs->problem(), explanation).pretty();
  else
    terminal.out << (terminal.quiet ? explanation_headline(explanation) + "\n"
                                    : explanation_summary(inputs->problem(), explanation, terminal.style));
  if (explanation.status == Status::Invalid) terminal.complain(explanation.sentence);
  return exit_code_of(explanation);
}

}  // namespace heddle::app
