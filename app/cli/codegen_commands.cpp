// heddle emit and heddle interpret: from a schedule to a program of steps.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/cli.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/solving.h"
#include "codegen/emit/emit.h"
#include "codegen/interpret/interpret.h"
#include "codegen/program/build.h"
#include "codegen/program/text.h"

namespace heddle::app {
namespace {

constexpr int kMostRounds = 8;

struct Lowered {
  Inputs inputs;
  Schedule schedule;
  codegen::Program program;
};

/// Schedule and program of the command line. Where the schedule is the solver's, what cannot be written becomes a demand
/// and the solver is asked again. Empty: the exit code is in `code` and the reason has been printed.
std::optional<Lowered> lower(const Arguments& arguments, const Terminal& terminal, int& code) {
  Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) {
    code = report(terminal, inputs.error(), false);
    return std::nullopt;
  }
  const bool given = inputs->schedule.has_value();
  std::vector<codegen::Refusal> refusals;
  for (int round = 0; round < kMostRounds; ++round) {
    const auto schedule = schedule_to_show(*inputs, arguments, terminal, code);
    if (!schedule) return std::nullopt;
    code = kDone;
    codegen::BuildResult built = codegen::build_program(inputs->kernel, inputs->problem, *schedule, arguments.integer("--trips"));
    if (built.program) return Lowered{std::move(*inputs), *schedule, std::move(*built.program)};
    refusals = std::move(built.refusals);
    bool more = false;
    if (!given)
      for (const codegen::Refusal& r : refusals) {
        const auto& known = inputs->constraints;
        if (!r.constraint || std::find(known.begin(), known.end(), *r.constraint) != known.end()) continue;
        terminal.note(fmt::format("{}: solved again with \"{}\"", r.rule, printable(r.constraint->name)));
        inputs->constraints.push_back(*r.constraint);
        more = true;
      }
    if (!more) break;
  }
  for (const codegen::Refusal& r : refusals) terminal.complain(fmt::format("{}: {}", r.rule, printable(r.sentence)));
  for (const codegen::Refusal& r : refusals)
    if (r.constraint) terminal.complain(fmt::format("solve with --demand \"{}\"", printable(r.constraint->name)));
  code = kNegative;
  return std::nullopt;
}

/// The kernel's text, or complaints.
codegen::EmitResult write_cuda(const Lowered& lowered, const Terminal& terminal) {
  if (lowered.inputs.machine.arch != "sm_90a") {
    terminal.complain(fmt::format("kernels are written for sm_90a; machine '{}' is not one", printable(lowered.inputs.machine.name)));
    return {};
  }
  codegen::EmitResult emitted = codegen::emit_cuda(lowered.inputs.kernel, lowered.inputs.problem, lowered.schedule, lowered.program);
  for (const codegen::Refusal& r : emitted.refusals) terminal.complain(fmt::format("{}: {}", r.rule, printable(r.sentence)));
  return emitted;
}

}  // namespace

int run_emit(const Arguments& arguments, const Terminal& terminal) {
  const std::string path = arguments.text("--out").value_or("-");
  if (const int failed = expect_writable(terminal, path, false)) return failed;
  int code = kDone;
  const auto lowered = lower(arguments, terminal, code);
  if (!lowered) return code;
  if (arguments.has("--program")) {
    TextStyle style = terminal.style;
    if (path != "-") style.color = false;
    return write_text(terminal, path, codegen::program_page(lowered->inputs.kernel, lowered->program, style));
  }
  const codegen::EmitResult emitted = write_cuda(*lowered, terminal);
  return emitted.emission ? write_text(terminal, path, emitted.emission->source) : static_cast<int>(kNegative);
}

int run_interpret(const Arguments& arguments, const Terminal& terminal) {
  int code = kDone;
  const auto lowered = lower(arguments, terminal, code);
  if (!lowered) return code;
  const std::int64_t times = arguments.integer("--interleavings").value_or(1000);
  const std::int64_t tiles = arguments.integer("--tiles").value_or(2);
  const auto seed = static_cast<std::uint64_t>(arguments.integer("--seed").value_or(0));
  const InterruptScope interrupt;
  for (std::int64_t k = 0; k < times; ++k) {
    if (interrupt.token().stop_requested()) return kInterrupted;
    const auto fault = codegen::run_symbolic(lowered->inputs.kernel, lowered->program, {seed + static_cast<std::uint64_t>(k), tiles});
    if (!fault) continue;
    terminal.out << fmt::format("interleaving {}: {}\n", k, codegen::to_string(*fault));
    return kNegative;
  }
  if (!terminal.quiet)
    terminal.out << fmt::format("{}: {} interleavings of {} roles over {}, {} trips each: no deadlock, no race\n", printable(lowered->program.kernel),
                                times, lowered->program.roles.size(), count_of(tiles, "tile"), lowered->program.trips);
  return kDone;
}

}  // namespace heddle::app
