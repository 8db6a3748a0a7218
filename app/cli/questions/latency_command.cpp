// heddle latency: how far one op's latency may change, and the least II as a function of it.
#include <fmt/format.h>

#include "app/ask/latency.h"
#include "app/cli/questions/asking.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/answers/summary.h"
#include "core/base/suggest.h"
#include "core/check/checker.h"

namespace heddle::app {

int run_latency(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (arguments.has("--ii")) return refuse(terminal, "the answer is about the least II, so --ii has no place here", json);
  const Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Problem& problem = inputs->problem();
  const std::string name = *arguments.text("OP");
  LatencyOptions options{problem.find_op(name), arguments.integer("--from"), arguments.integer("--to")};
  if (!options.op.valid()) {
    const auto known = names_of(problem.ops);
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = "its ops: " + list_of(known);
    return report(terminal, Error::input(fmt::format("no op '{}' in the loop body of {}", name, problem.kernel), hint), json);
  }
  if (const LatencySpan span = latency_span(problem, options); span.from > span.to)
    return refuse(terminal, fmt::format("latencies from {} to {}: nothing lies between", span.from, span.to), json);
  if (inputs->schedule) {
    const Verdict verdict = check(problem, *inputs->schedule, inputs->constraints);
    if (!verdict.valid()) {
      report(terminal, Error::input("the schedule breaks a rule already, so there is no range to find; " + verdict_summary(verdict)), json);
      return kNegative;
    }
  }
  const Subject subject = subject_of(*inputs, arguments);
  const auto answer =
      asked<LatencyRange>(terminal, [&](auto stop, const auto& listener) { return ask_latency(subject, options, stop, listener); });
  if (!answer.fault.empty()) return report(terminal, Error::input(answer.fault), json);
  return tell(terminal, json, told(subject, answer, telling(terminal, json)), ended(answer));
}

}  // namespace heddle::app
