// heddle solve: the best schedule, its proof, and a file of it.
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/answers/chart_page.h"
#include "core/answers/summary.h"
#include "core/formats/schedule_json.h"

namespace heddle::app {
namespace {

/// How fast the whole kernel is. Empty where the simulator has no answer, or when interrupted.
std::optional<KernelRun> prediction_of(const CommandInputs& in, const SolveOutcome& outcome) {
  if (!outcome.schedule || outcome.cancelled) return std::nullopt;
  KernelRun run = predict_kernel(in.instance, *outcome.schedule);
  if (!run.fault.empty()) return std::nullopt;
  return run;
}

}  // namespace

int run_solve(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const auto file = arguments.text("--out");
  if (json && file == "-") return refuse(terminal, "--json and --out - both want standard output; give --out a file", json);
  if (arguments.has("--require-optimal") && arguments.has("--ii")) {
    return refuse(terminal, "--ii decides one II and proves nothing about others, so --require-optimal cannot be met; leave one out", json);
  }
  Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  if (file)
    if (const int failed = expect_writable(terminal, *file, json)) return failed;
  const Result<SolveOutcome> outcome = solve_inputs(*inputs, arguments, terminal);
  if (!outcome) return report(terminal, outcome.error(), json);

  int code = exit_code(ended(*outcome, arguments.has("--require-optimal")));
  const auto& within = inputs->within;
  if (within && code == kDone && !within->best) code = within->ended ? kNegative : kNoProof;
  if (within && code == kDone && !within->ended && arguments.has("--require-optimal")) code = kNoProof;
  const auto predicted = terminal.quiet && !json ? std::nullopt : prediction_of(*inputs, *outcome);
  if (json) {
    Json answer = outcome_json(inputs->problem(), *outcome, inputs->constraints);
    if (inputs->chosen) answer.set("layouts_chosen", chosen_layouts_json(*inputs->chosen));
    if (within) answer.set("within", within_json(*within));
    if (predicted)
      answer.set("predicted", Json::object()
                                  .set("cycles", predicted->cycles)
                                  .set("microseconds", predicted->microseconds)
                                  .set("tflops", predicted->tflops > 0 ? Json(predicted->tflops) : Json())
                                  .set("clock", predicted->clock.text));
    terminal.out << answer.pretty();
  } else {
    std::string text =
        terminal.quiet ? headline(*outcome, terminal.style) + "\n" : outcome_summary(inputs->problem(), *outcome, terminal.style);
    if (inputs->chosen && !terminal.quiet) text += "\n" + chosen_layouts_text(*inputs->chosen, terminal.style);
    if (within && !terminal.quiet) text += within_summary(*within, terminal.style);
    if (predicted) text += "\n" + wrapped(styled(whole_kernel_text(*predicted), terminal.style), "", terminal.style.width);
    (file == "-" ? terminal.err : terminal.out) << text;
  }
  if (file && outcome->schedule) {
    if (const int failed = write_text(terminal, *file, schedule_text(inputs->problem(), *outcome->schedule)))
      code = failed;
    else if (file != "-")
      terminal.note("schedule saved as " + *file);
  }
  if (outcome->status == Status::Invalid)
    terminal.complain("internal error: the checker rejects what the solver found: " + outcome->explanation);
  return code;
}

}  // namespace heddle::app
