// heddle slack: how far every op can move at this II.
#include <fmt/format.h>

#include <algorithm>

#include "app/ask/slack.h"
#include "app/cli/questions/asking.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/base/suggest.h"

namespace heddle::app {
namespace {

/// The ops named after a flag; a fault for each that the loop body does not have.
Result<std::vector<OpId>> ops_named(const Problem& problem, const Arguments& arguments, const std::string& flag) {
  std::vector<std::string> known;
  for (const Op& op : problem.ops) known.push_back(op.name);
  std::vector<OpId> ops;
  Error error;
  for (const std::string& name : arguments.all(flag)) {
    const OpId op = problem.find_op(name);
    if (!op.valid())
      error.faults.push_back(
          {"", "", fmt::format("{}: no op '{}' in the loop body of {}", flag, name, problem.kernel), did_you_mean(name, known)});
    else if (std::find(ops.begin(), ops.end(), op) == ops.end())
      ops.push_back(op);
  }
  if (!error.faults.empty()) return error;
  return ops;
}

}  // namespace

int run_slack(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Result<std::vector<OpId>> ops = ops_named(inputs->problem(), arguments, "--op");
  if (!ops) return report(terminal, ops.error(), json);
  const Result<std::vector<OpId>> anchor = ops_named(inputs->problem(), arguments, "--anchor");
  if (!anchor) return report(terminal, anchor.error(), json);
  if (inputs->schedule && arguments.has("--ii") && inputs->schedule->ii != *arguments.integer("--ii"))
    return refuse(
        terminal,
        fmt::format("--ii {} contradicts the schedule, whose II is {}; leave one out", *arguments.integer("--ii"), inputs->schedule->ii),
        json);
  int code = kDone;
  const std::optional<Schedule> schedule = schedule_to_show(*inputs, arguments, terminal, code);
  if (!schedule) return code;

  Subject subject = subject_of(*inputs, arguments);
  subject.schedule = schedule;
  // Whoever stopped the search for a schedule does not want another search.
  if (code == kInterrupted) subject.limits.timeout_seconds = 0;
  SlackOptions options;
  options.exact = arguments.has("--exact");
  if (!anchor->empty()) options.anchor = anchor->front();
  options.ops = *ops;
  SlackRanges ranges =
      asked<SlackRanges>(terminal, [&](auto stop, const auto& listener) { return ask_slack(subject, options, stop, listener); });
  if (code == kInterrupted) ranges.cancelled = true;
  return tell(terminal, json, told(subject, ranges, telling(terminal, json)), ended(ranges));
}

}  // namespace heddle::app
