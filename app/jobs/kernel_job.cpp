// The three steps, each a call of codegen.
#include "app/jobs/kernel_job.h"

#include <fmt/format.h>

#include <chrono>

#include "codegen/interpret/interpret.h"
#include "codegen/program/build.h"
#include "codegen/program/target.h"
#include "core/report/text_style.h"

namespace heddle::app {

bool same_kernel(const KernelSubject& a, const KernelSubject& b) {
  if (a.kernel != b.kernel || a.machine != b.machine || a.problem != b.problem || !a.schedule || !b.schedule) return false;
  return a.schedule == b.schedule || same_program(*a.schedule, *b.schedule);
}

KernelText write_kernel(const KernelSubject& of) {
  KernelText text;
  text.of = of;
  if (auto refusal = codegen::refuse_machine(*of.machine)) {
    text.refusals.push_back(std::move(*refusal));
    return text;
  }
  codegen::BuildResult built = codegen::build_program(*of.kernel, *of.problem, *of.schedule);
  text.program = std::move(built.program);
  text.refusals = std::move(built.refusals);
  if (!text.program) return text;
  codegen::EmitResult emitted = codegen::emit_cuda(*of.kernel, *of.problem, *of.schedule, *text.program);
  text.emission = std::move(emitted.emission);
  text.refusals = std::move(emitted.refusals);
  if (text.emission) text.source = source_model(*of.kernel, *of.problem, *text.program, *text.emission);
  return text;
}

KernelCheck check_kernel(const KernelText& text, std::int64_t interleavings, std::stop_token stop, const std::function<void(std::string)>& say) {
  constexpr std::int64_t kTiles = 2;  // as `heddle interpret` has it
  KernelCheck check;
  check.of = text.of;
  check.wanted = interleavings;
  check.tiles = kTiles;
  check.trips = text.program->trips;
  check.roles = text.program->roles.size();
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  double said = -1;
  for (std::int64_t k = 0; k < interleavings && !stop.stop_requested(); ++k) {
    if (seconds() - said > 0.1) {
      said = seconds();
      say(fmt::format("{} of {}", k, count_of(interleavings, "interleaving")));
    }
    const auto fault = codegen::run_symbolic(*text.of.kernel, *text.program, {static_cast<std::uint64_t>(k), kTiles});
    check.done = k + 1;
    if (!fault) continue;
    check.fault = codegen::to_string(*fault);
    break;
  }
  check.seconds = seconds();
  return check;
}

KernelBuild build_kernel(const KernelText& text, const CompileFunction& compile) {
  KernelBuild build;
  build.of = text.of;
  auto compiled = compile(text.emission->source);
  if (!compiled.ok()) {
    build.error = compiled.error();
    // What does not compile has its log in the error, below a sentence.
    for (const Fault& fault : compiled.error().faults)
      for (codegen::BuildMessage& message : codegen::parse_build_log(fault.message)) build.messages.push_back(std::move(message));
    return build;
  }
  build.compiled = std::move(*compiled);
  build.messages = codegen::parse_build_log(build.compiled.log);
  build.faults = codegen::judge(build.compiled.report, *text.program);
  return build;
}

KernelTools built_in_tools() {
  KernelTools tools;
  tools.find_compiler = [] { return codegen::find_compiler(); };
  tools.compile = [](const std::string& source) { return codegen::compile_cuda(source, {codegen::Compiler::Auto, codegen::default_cache()}); };
  return tools;
}

}  // namespace heddle::app
