// Refusals that name a demand are added to the question, and it is solved again, a few rounds at most. What ptxas says against a compiled
// text is taken in the same way.
#include "app/cli/lowering.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/solving.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "codegen/program/target.h"
#include "core/schedule/constraint_text.h"
#include "core/simulate/kernel_run.h"

namespace heddle::app {
namespace {

constexpr int kMostRounds = 8;

int refused(const std::vector<codegen::Refusal>& refusals, const Arguments& arguments, const Terminal& terminal) {
  complain_of(refusals, terminal);
  if (arguments.has("--json")) terminal.out << Json(Json::Object{{"refusals", refusals_json(refusals)}}).pretty();
  return kNegative;
}

/// A schedule that was given may be replaced where it cannot become a kernel.
bool again(const Arguments& arguments) { return arguments.has("--again"); }

/// The demands that are not known yet go to `known`; false when there is none.
bool take_demands(const std::vector<codegen::Refusal>& refusals, Constraints& known, const Terminal& terminal) {
  bool more = false;
  for (const codegen::Refusal& r : refusals) {
    if (!r.constraint || std::find(known.begin(), known.end(), *r.constraint) != known.end()) continue;
    terminal.note(fmt::format("{}: {}; solved again with \"{}\"", r.rule, printable(r.sentence), printable(r.constraint->name)));
    known.push_back(*r.constraint);
    more = true;
  }
  return more;
}

codegen::Recording recording_of(const Arguments& arguments) {
  const std::string records = arguments.text("--records").value_or("none");
  return records == "ops" ? codegen::Recording::Ops : records == "loop" ? codegen::Recording::Loop : codegen::Recording::None;
}

}  // namespace

void complain_of(const std::vector<codegen::Refusal>& refusals, const Terminal& terminal) {
  for (const codegen::Refusal& r : refusals) {
    terminal.complain(fmt::format("{}: {}", r.rule, printable(r.sentence)));
    terminal.complain(r.constraint ? fmt::format("  solve with --demand \"{}\"", printable(r.constraint->name))
                                   : fmt::format("  no demand avoids it: {}", codegen::why_no_demand(r.rule)));
  }
}

codegen::BuildOptions build_options(const Arguments& arguments) {
  codegen::BuildOptions build{.cluster = static_cast<int>(arguments.integer("--cluster").value_or(1)),
                              .turns = !arguments.has("--no-turns"),
                              .deep_rings = !arguments.has("--least-rings")};
  for (const std::string& cut : arguments.all("--cut")) build.cuts.push_back(std::stoi(cut));  // an integer in range: the option says so
  return build;
}

codegen::Compiler compiler_of(const Arguments& arguments) {
  const std::string name = arguments.text("--compiler").value_or("auto");
  return name == "nvrtc" ? codegen::Compiler::Nvrtc : name == "nvcc" ? codegen::Compiler::Nvcc : codegen::Compiler::Auto;
}

std::string arch_of(const codegen::Program& program, const Arguments& arguments) { return arguments.text("--arch").value_or(program.arch); }

Json refusals_json(const std::vector<codegen::Refusal>& refusals) {
  Json list = Json::array();
  for (const codegen::Refusal& r : refusals) {
    Json ops = Json::array();
    for (const std::string& op : r.ops) ops.push(op);
    list.push(Json::Object{{"rule", r.rule},
                           {"ops", std::move(ops)},
                           {"sentence", r.sentence},
                           {"demand", r.constraint ? Json(r.constraint->name) : Json()},
                           {"no_demand", r.constraint ? Json() : Json(codegen::why_no_demand(r.rule))}});
  }
  return list;
}

std::optional<Lowered> lower(const Arguments& arguments, const Terminal& terminal, int& code, const std::vector<UserConstraint>& demands,
                             std::optional<double> most_seconds) {
  Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) {
    code = report(terminal, inputs.error(), arguments.has("--json"));
    return std::nullopt;
  }
  if (again(arguments) && !demands.empty()) inputs->schedule.reset();
  inputs->constraints.insert(inputs->constraints.end(), demands.begin(), demands.end());
  inputs->most_seconds = most_seconds;
  inputs->can_be_written = [kernel = inputs->instance.spec().kernel, trips = arguments.integer("--trips"),
                            build = build_options(arguments)](const Problem& problem, const Schedule& schedule) {
    const codegen::BuildResult built = codegen::build_program(*kernel, problem, schedule, trips, build);
    return built.program && codegen::emit_cuda(*kernel, problem, schedule, *built.program, codegen::Recording::None).emission;
  };
  std::vector<codegen::Refusal> refusals;
  for (int round = 0; round < kMostRounds; ++round) {
    auto schedule = schedule_to_show(*inputs, arguments, terminal, code);
    if (schedule && code == kInterrupted) terminal.complain("interrupted");
    if (!schedule || code == kInterrupted) return std::nullopt;
    if (arguments.has("--on"))  // the kernel's text would say what is proved of a question that is not asked there
      schedule->certificate.reset(), schedule->claim.reset();
    codegen::BuildResult built =
        codegen::build_program(inputs->kernel(), inputs->problem(), *schedule, arguments.integer("--trips"), build_options(arguments));
    if (built.program) return Lowered{std::move(*inputs), *schedule, std::move(*built.program)};
    refusals = std::move(built.refusals);
    const bool kept = inputs->schedule && !again(arguments);
    if (kept || !take_demands(refusals, inputs->constraints, terminal)) break;
    inputs->schedule.reset();
  }
  code = refused(refusals, arguments, terminal);
  return std::nullopt;
}

std::optional<codegen::Emission> write_cuda(const Lowered& lowered, const Arguments& arguments, const Terminal& terminal, int& code) {
  const Inputs& inputs = lowered.inputs;
  if (auto refusal = codegen::refuse_machine(inputs.machine())) {
    code = refused({std::move(*refusal)}, arguments, terminal);
    return std::nullopt;
  }
  codegen::EmitResult emitted =
      codegen::emit_cuda(inputs.kernel(), inputs.problem(), lowered.schedule, lowered.program, recording_of(arguments));
  if (!emitted.emission) code = refused(emitted.refusals, arguments, terminal);
  return std::move(emitted.emission);
}

namespace {

/// The roles whose loops do not begin where they would at first.
void tell_of_cuts(const codegen::BuiltKernel& kernel, const Terminal& terminal) {
  for (std::size_t role = 0; role < kernel.build.cuts.size(); ++role)
    if (kernel.build.cuts[role] != 0)
      terminal.note(
          fmt::format("{}: its loop begins elsewhere than at first, which suits ptxas", printable(kernel.program.roles[role].name)));
}

/// Text and cubin, with other cuts of its loops where those of `lowered` do not suit ptxas. Empty: the exit code is in `code` and the
/// reason has been printed.
std::optional<codegen::BuiltKernel> compile_text(const Lowered& lowered, const Arguments& arguments, const Terminal& terminal,
                                                 const codegen::CompileOptions& options, int& code) {
  auto emission = write_cuda(lowered, arguments, terminal, code);
  if (!emission) return std::nullopt;
  const InterruptScope interrupt(arguments.deadline());
  const bool may_recut = !arguments.has("--cut");
  const Inputs& inputs = lowered.inputs;
  const std::string arch = arch_of(lowered.program, arguments);
  if (arch.starts_with("sm_10") != lowered.program.blackwell()) {
    code = report(terminal,
                  Error::input(fmt::format("{} is written for {}, which {} does not run", printable(lowered.program.kernel),
                                           lowered.program.arch, arch)),
                  arguments.has("--json"));
    return std::nullopt;
  }
  const codegen::CompileFunction compile = [&](const std::string& source, const std::string&) {
    codegen::CompileOptions own = options;
    own.arch = arch;
    return codegen::compile_cuda(source, own);
  };
  const codegen::CompileQuestion question{inputs.kernel(), inputs.problem(), lowered.schedule, arguments.integer("--trips"),
                                          recording_of(arguments)};
  auto kernel = codegen::compile_kernel(question, build_options(arguments), lowered.program, std::move(*emission), compile);
  if (may_recut && kernel.ok()) kernel = codegen::recut(question, std::move(*kernel), compile, interrupt.token());
  if (interrupt.interrupted()) {  // which may have taken the compiler with it
    terminal.complain("interrupted");
    code = kInterrupted;
    return std::nullopt;
  }
  if (!kernel.ok()) {
    code = report(terminal, kernel.error(), arguments.has("--json"));
    return std::nullopt;
  }
  if (may_recut && kernel->faults.empty()) tell_of_cuts(*kernel, terminal);
  return std::move(*kernel);
}

/// Where no schedule with fewer registers was found: fewer stages keep fewer values alive, too. False: there are no fewer, or they have
/// been asked for.
bool fewer_stages_instead(const CompiledKernel& last, Constraints& demands, const Terminal& terminal) {
  const auto of_kind = [](ConstraintKind kind) { return [kind](const UserConstraint& c) { return c.kind == kind; }; };
  const int stages = last.kernel.program.stages;
  if (stages < 2 || std::any_of(demands.begin(), demands.end(), of_kind(ConstraintKind::MaxStages))) return false;
  if (std::erase_if(demands, of_kind(ConstraintKind::MaxRegisters)) == 0) return false;
  UserConstraint fewer{"", true, ConstraintKind::MaxStages, {}, "", 0, stages - 1};
  fewer.name = describe(fewer);
  terminal.note(fmt::format("no schedule with fewer registers was found; solved again with \"{}\"", fewer.name));
  demands.push_back(std::move(fewer));
  return true;
}

}  // namespace

std::optional<CompiledKernel> lower_and_compile(const Arguments& arguments, const Terminal& terminal,
                                                const codegen::CompileOptions& options, int& code) {
  Constraints demands;
  std::optional<CompiledKernel> last;
  // Once there is a kernel, a better one is worth a part of what that one took, and not all the time that is left.
  constexpr double kLeastSeconds = 5;
  const auto begun = Deadline::Clock::now();
  std::optional<double> most_seconds;
  for (int round = 0;; ++round) {
    if (last && arguments.deadline().passed()) {
      terminal.note("time is up: what was compiled before is the last word");
      return last;
    }
    code = kDone;
    auto lowered = lower(arguments, terminal, code, demands, most_seconds);
    if (!lowered && last && code != kInterrupted && fewer_stages_instead(*last, demands, terminal)) continue;
    if (!lowered && last && code != kInterrupted) {
      terminal.note("no such schedule can be written: what was compiled before is the last word");
      code = kDone;
      return last;
    }
    if (!lowered) return std::nullopt;
    auto built = compile_text(*lowered, arguments, terminal, options, code);
    if (!built) return std::nullopt;
    if (!most_seconds) most_seconds = std::max(kLeastSeconds, std::chrono::duration<double>(Deadline::Clock::now() - begun).count() / 2);
    const bool kept = lowered->inputs.schedule && !again(arguments);
    last = CompiledKernel{std::move(lowered->inputs), std::move(lowered->schedule), std::move(*built)};
    if (kept || round == kMostRounds || !take_demands(last->kernel.faults, demands, terminal)) return last;
  }
}

codegen::MeasureRequest measure_request(const Arguments& arguments, bool profile, const CompiledKernel& made,
                                        const codegen::CompileOptions& compile) {
  codegen::MeasureRequest request{made.inputs.kernel(), made.inputs.problem(), made.schedule, made.kernel.program, compile};
  request.compile.arch = arch_of(made.kernel.program, arguments);
  request.profile = profile;
  request.verify = !arguments.has("--no-verify") && !arguments.has("--trips");
  request.time = !arguments.has("--no-time");
  request.library = !arguments.has("--no-library") && !arguments.has("--trips");
  request.repeats = static_cast<int>(arguments.integer("--repeats").value_or(request.repeats));
  request.launches = static_cast<int>(arguments.integer("--launches").value_or(request.launches));
  request.sustained_launches = static_cast<int>(arguments.integer("--sustained").value_or(request.sustained_launches));
  request.warmups = static_cast<int>(arguments.integer("--warmups").value_or(request.warmups));
  request.blocks = static_cast<int>(arguments.integer("--blocks").value_or(request.blocks));
  request.pause_seconds = arguments.seconds("--pause").value_or(request.pause_seconds);
  request.seed = static_cast<std::uint64_t>(arguments.integer("--seed").value_or(1));
  return request;
}

std::optional<PredictedRun> prediction_of_run(const Arguments& arguments, const CompiledKernel& made) {
  KernelRunOptions options;
  options.loop.arbitration = Arbitration::Interleaved;
  options.loop.turns = !arguments.has("--no-turns");
  options.trips = arguments.integer("--trips");
  options.persistent = true;  // as every kernel is written
  options.cluster = made.kernel.program.cluster;
  return predicted_run(heddle::run_kernel(made.inputs.instance, made.schedule, options));
}

}  // namespace heddle::app
