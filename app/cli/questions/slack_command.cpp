// heddle slack: how far every op can move at this II.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/solving.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/slack.h"
#include "core/base/suggest.h"
#include "solver/questions/slack.h"

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
  Result<Inputs> inputs = load_inputs(arguments, terminal);
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

  solver::SlackRequest request;
  request.problem = inputs->problem();
  request.constraints = inputs->constraints;
  request.schedule = *schedule;
  if (!anchor->empty()) request.anchor = anchor->front();
  request.ops = *ops;
  request.exact = arguments.has("--exact");
  const solver::SolveRequest options = solve_request(*inputs, arguments);
  request.max_stages = options.max_stages;
  request.seed = options.seed;
  // Whoever stopped the search for a schedule does not want another search.
  request.timeout_seconds = code == kInterrupted ? 0 : options.timeout_seconds;

  const InterruptScope interrupt;
  SlackRanges ranges;
  {
    ProgressLine progress(terminal);
    ranges = solver::slack_ranges(request, interrupt.token(), [&](const OpRange& range, std::size_t done, std::size_t count) {
      const std::string& name = inputs->problem().op(range.op).name;
      progress.show({"exact ranges", fmt::format("{} of {} ops", done, count), name});
      progress.say(fmt::format("{}: from {} to {}, {}", name, range.earliest.seen.value_or(range.earliest.bound),
                               range.latest.seen.value_or(range.latest.bound), range.settled() ? "proved" : "not proved"));
    });
  }
  if (code == kInterrupted) ranges.cancelled = true;
  if (json)
    terminal.out << slack_json(inputs->problem(), *schedule, ranges).pretty();
  else
    terminal.out << as_called(slack_summary(inputs->problem(), *schedule, ranges, terminal.style));
  if (ranges.cancelled) return kInterrupted;
  return ranges.exact && !ranges.complete() ? kNoProof : kDone;
}

}  // namespace heddle::app
