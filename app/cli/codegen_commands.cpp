// heddle emit, compile and interpret: from a schedule to a kernel.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/cli.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/solving.h"
#include "codegen/compile/compile.h"
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
std::optional<Lowered> lower(const Arguments& arguments, const Terminal& terminal, int& code,
                             const std::vector<UserConstraint>& demands = {}) {
  Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) {
    code = report(terminal, inputs.error(), false);
    return std::nullopt;
  }
  const bool given = inputs->schedule.has_value();
  inputs->constraints.insert(inputs->constraints.end(), demands.begin(), demands.end());
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

int run_compile(const Arguments& arguments, const Terminal& terminal) {
  const std::string path = arguments.text("--out").value_or("");
  if (!path.empty())
    if (const int failed = expect_writable(terminal, path, false)) return failed;
  const std::string wanted = arguments.text("--compiler").value_or("auto");
  codegen::CompileOptions options;
  options.compiler = wanted == "nvrtc" ? codegen::Compiler::Nvrtc : wanted == "nvcc" ? codegen::Compiler::Nvcc : codegen::Compiler::Auto;
  if (!arguments.has("--no-cache")) options.cache = codegen::default_cache();
  if (const auto compiler = codegen::find_compiler(options.compiler); !compiler.ok()) return report(terminal, compiler.error(), false);
  std::vector<UserConstraint> demands;
  for (int round = 0;; ++round) {
    int code = kDone;
    const auto lowered = lower(arguments, terminal, code, demands);
    if (!lowered) return code;
    const codegen::EmitResult emitted = write_cuda(*lowered, terminal);
    if (!emitted.emission) return kNegative;
    const auto compiled = codegen::compile_cuda(emitted.emission->source, options);
    if (!compiled.ok()) return report(terminal, compiled.error(), false);
    const auto& report = compiled->report;
    const std::vector<codegen::Refusal> faults = codegen::judge(report, lowered->program);
    bool again = false;
    for (const codegen::Refusal& fault : faults) {
      if (lowered->inputs.schedule || !fault.constraint || round >= kMostRounds) continue;
      if (std::find(demands.begin(), demands.end(), *fault.constraint) != demands.end()) continue;
      terminal.note(fmt::format("{}: {}; solved again with \"{}\"", fault.rule, fault.sentence, printable(fault.constraint->name)));
      demands.push_back(*fault.constraint);
      again = true;
    }
    if (again) continue;
    if (!terminal.quiet)
      terminal.out << fmt::format("{}: {} bytes of cubin for sm_90a by {}{}\n{} registers at launch, {} bytes of spills, {} barriers\n{}\n",
                                  printable(lowered->program.kernel), compiled->cubin.size(), compiled->compiler,
                                  compiled->from_cache ? ", from the cache" : fmt::format(" in {:.2f} s", compiled->seconds), report.registers,
                                  report.spill_stores + report.spill_loads, report.barriers, codegen::census_text(compiled->census));
    for (const std::string& remark : report.remarks) terminal.note(printable(remark));
    for (const codegen::Refusal& fault : faults) {
      terminal.complain(fmt::format("{}: {}", fault.rule, fault.sentence));
      if (fault.constraint) terminal.complain(fmt::format("solve with --demand \"{}\"", printable(fault.constraint->name)));
    }
    if (!path.empty())
      if (const int written = write_text(terminal, path, compiled->cubin)) return written;
    return faults.empty() ? kDone : kKernelFailed;
  }
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
