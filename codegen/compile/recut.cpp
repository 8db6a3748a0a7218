// Role by role, the best cut so far is kept, until ptxas is content and the audit too.
#include "codegen/compile/recut.h"

#include <algorithm>
#include <utility>

namespace heddle::codegen {
namespace {

constexpr int kMostCuts = 6;  ///< of a role that are tried

/// What ptxas and the audit have against a kernel, as a number to compare: any spill is worse than what the audit finds.
std::int64_t badness(const BuiltKernel& kernel) {
  const PtxasReport& report = kernel.compiled.report;
  return (report.spill_stores + report.spill_loads + static_cast<std::int64_t>(kernel.faults.size()) * 10'000) * 1000 +
         static_cast<std::int64_t>(kernel.findings.size());
}

bool is_clean(const BuiltKernel& kernel) { return kernel.faults.empty() && kernel.findings.empty(); }

}  // namespace

Result<BuiltKernel> compile_kernel(const CompileQuestion& question, BuildOptions build, Program program, Emission emission,
                                   const CompileFunction& compile) {
  auto compiled = compile(emission.source, program.arch);
  if (!compiled.ok()) return compiled.error();
  BuiltKernel kernel{std::move(build), std::move(program), std::move(emission), std::move(*compiled), {}, {}, {}};
  kernel.faults = judge(kernel.compiled.report, kernel.program);
  kernel.audit = audit(kernel.compiled.code, question.problem, kernel.program, kernel.emission);
  if (question.records == Recording::None) kernel.findings = judge(kernel.audit, question.kernel, kernel.program);
  return kernel;
}

Result<BuiltKernel> recut(const CompileQuestion& question, BuiltKernel first, const CompileFunction& compile, const std::stop_token& stop) {
  if (is_clean(first)) return first;
  BuiltKernel best = std::move(first);
  best.build.cuts.resize(best.program.roles.size(), 0);
  for (std::size_t role = 0; role < best.build.cuts.size(); ++role) {
    const int count = std::min(best.program.roles[role].cuts, kMostCuts);
    for (int choice = 0; choice < count; ++choice) {
      if (is_clean(best) || stop.stop_requested()) return best;
      if (choice == best.build.cuts[role]) continue;
      BuildOptions build = best.build;
      build.cuts[role] = choice;
      BuildResult built = build_program(question.kernel, question.problem, question.schedule, question.trips, build);
      if (!built.program) continue;
      EmitResult emitted = emit_cuda(question.kernel, question.problem, question.schedule, *built.program, question.records);
      if (!emitted.emission) continue;
      auto other = compile_kernel(question, std::move(build), std::move(*built.program), std::move(*emitted.emission), compile);
      if (!other.ok() && stop.stop_requested()) return best;
      if (!other.ok()) return other.error();
      if (badness(*other) < badness(best)) best = std::move(*other);
    }
  }
  return best;
}

}  // namespace heddle::codegen
