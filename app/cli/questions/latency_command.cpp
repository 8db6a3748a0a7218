// heddle latency: how far one op's latency may change, and the least II as a function of it.
#include <fmt/format.h>

#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/latency.h"
#include "core/answers/summary.h"
#include "core/base/suggest.h"
#include "core/check/checker.h"
#include "solver/questions/latency.h"

namespace heddle::app {
namespace {

constexpr Cycle kLeastReach = 16;  ///< above the present latency: twice nothing would be nothing

int exit_code_of(const LatencyRange& answer) {
  if (answer.cancelled) return kInterrupted;
  if (!answer.complete()) return kNoProof;
  return answer.steps.back().status() == Status::Infeasible && answer.steps.size() == 1 ? kNegative : kDone;
}

}  // namespace

int run_latency(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (arguments.has("--ii")) return refuse(terminal, "the answer is about the least II, so --ii has no place here", json);
  const Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Problem& problem = inputs->problem();
  const std::string name = *arguments.text("OP");
  solver::LatencyRequest request;
  request.op = problem.find_op(name);
  if (!request.op.valid()) {
    const auto known = names_of(problem.ops);
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = "its ops: " + list_of(known);
    return report(terminal, Error::input(fmt::format("no op '{}' in the loop body of {}", name, problem.kernel), hint), json);
  }
  const Cycle present = problem.op(request.op).latency;
  request.from = arguments.integer("--from").value_or((present + 1) / 2);
  request.to = arguments.integer("--to").value_or(std::clamp(2 * present, std::min(request.from, present) + kLeastReach, kAbsurd));
  if (request.from > request.to)
    return refuse(terminal, fmt::format("latencies from {} to {}: nothing lies between", request.from, request.to), json);
  request.schedule = inputs->schedule;
  if (request.schedule) {
    const Verdict verdict = check(problem, *request.schedule, inputs->constraints);
    if (!verdict.valid()) {
      report(terminal, Error::input("the schedule breaks a rule already, so there is no range to find; " + verdict_summary(verdict)), json);
      return kNegative;
    }
  }
  request.solve = solve_request(*inputs, arguments);
  request.problem_at = [&inputs, &name](Cycle latency) {
    Change change;
    change.op = name;
    change.value = latency;
    return problem_with(*inputs, Changes{change});
  };

  const InterruptScope interrupt;
  LatencyRange answer;
  {
    ProgressLine progress(terminal);
    progress.show({"solving at the present latency"});
    answer = solver::latency_range(request, interrupt.token(), [&](const LatencyRange& partial) {
      progress.show({fmt::format("{} latencies", partial.latencies_settled), fmt::format("{} queries", partial.queries),
                     fmt::format("{} steps", partial.steps.size())});
    });
  }
  if (!answer.fault.empty()) return report(terminal, Error::input(answer.fault), json);
  if (json)
    terminal.out << latency_json(problem, answer).pretty();
  else if (terminal.quiet)
    terminal.out << latency_headline(answer, terminal.style) << "\n";
  else
    terminal.out << latency_summary(problem, answer, terminal.style);
  return exit_code_of(answer);
}

}  // namespace heddle::app
