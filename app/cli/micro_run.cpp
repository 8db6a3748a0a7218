#include "app/cli/micro_run.h"

#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/cli/lowering.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "codegen/run/driver.h"
#include "core/base/atomic_file.h"

namespace heddle::app {
namespace {

using codegen::MicroKernel;

/// "tma_load-rows64": letters, digits, dots, dashes.
std::string file_name(const MicroKernel& kernel, std::size_t number) { return fmt::format("{:03}-{}.cu", number, kernel.rule); }

struct Compiler {
  codegen::CompileOptions options;

  Compiler(const Machine& machine, const Arguments& arguments) {
    options.compiler = compiler_of(arguments);
    options.cache = codegen::default_cache();
    options.arch = machine.arch;
  }

  /// Prints what is wrong; empty then.
  std::optional<codegen::Compiled> compile(const MicroKernel& kernel, const Terminal& terminal, int& code) const {
    auto compiled = codegen::compile_cuda(kernel.source, options);
    if (!compiled.ok()) {
      code = report(terminal, compiled.error(), false);
      return std::nullopt;
    }
    const codegen::PtxasReport& ptxas = compiled->report;
    if (!ptxas.remarks.empty() || ptxas.spill_stores > 0 || ptxas.stack > 0) {
      terminal.complain(
          fmt::format("the micro-kernel for {} measures something else: {}", kernel.rule,
                      ptxas.remarks.empty() ? fmt::format("{} bytes are spilled", ptxas.spill_stores) : printable(ptxas.remarks.front())));
      code = kKernelFailed;
      return std::nullopt;
    }
    return std::move(*compiled);
  }
};

}  // namespace

const std::vector<std::uint8_t>* MicroRun::words(std::size_t k) const {
  const auto found = result.records.find(std::to_string(k));
  return found == result.records.end() ? nullptr : &found->second;
}

std::string MicroRun::where() const {
  const MeasuredDevice device = result.found.device.value_or(MeasuredDevice{});
  return fmt::format("{}, driver {}, {:%Y-%m-%d}", device.name, device.driver, fmt::gmtime(std::time(nullptr)));
}

std::optional<MicroRun> run_micros(const std::vector<MicroKernel>& kernels, const Machine& machine, const Arguments& arguments,
                                   const Terminal& terminal, int& code) {
  if (const auto driver = codegen::cuda::open_driver(); !driver.ok()) {
    terminal.complain(driver.error().faults.front().message +
                      "; without a GPU the micro-kernels can be written and compiled: --emit-only DIR");
    code = kEnvironment;
    return std::nullopt;
  }
  const Compiler compiler(machine, arguments);
  MicroRun run;
  codegen::RunPlan plan;
  plan.kernel = "micro-kernels";
  plan.machine = machine.name;
  plan.arch = machine.arch;
  for (const DType dtype : {DType::Bf16, DType::F32})
    plan.tensors.push_back({"scratch", dtype, {codegen::kScratchSide, codegen::kScratchSide}, TensorRole::InOut});
  for (const MicroKernel& kernel : kernels) {
    auto compiled = compiler.compile(kernel, terminal, code);
    if (!compiled) return std::nullopt;
    codegen::KernelPlan micro{compiled->cubin, kernel.launch, codegen::kMicroWords};
    run.compiled.push_back(std::move(*compiled));
    for (codegen::TensorMapPlan& map : micro.launch.maps) map.tensor = kernel.scratch == DType::F32 ? 1 : 0;
    plan.micros.push_back(std::move(micro));
  }
  const InterruptScope interrupt;
  codegen::RunOptions options;
  options.limit_seconds = arguments.seconds("--limit").value_or(options.limit_seconds);
  options.stop = interrupt.token();
  options.note = [&](const std::string& doing) {
    if (!terminal.quiet && terminal.err_is_tty) terminal.err << "\r" << doing << "   " << std::flush;
  };
  auto result = codegen::run_plan(plan, options);
  if (!terminal.quiet && terminal.err_is_tty) terminal.err << "\n";
  if (!result.ok()) {
    code = report(terminal, result.error(), false);
    return std::nullopt;
  }
  if (result->cancelled) {
    terminal.complain("interrupted");
    code = kInterrupted;
    return std::nullopt;
  }
  if (result->found.status != RunStatus::Unverified) {
    terminal.complain(result->found.sentence);
    code = result->found.status == RunStatus::NoGpu ? kEnvironment : kKernelFailed;
    return std::nullopt;
  }
  run.result = std::move(*result);
  return run;
}

int emit_micros(const std::vector<MicroKernel>& kernels, const Machine& machine, const Arguments& arguments, const std::string& folder,
                const Terminal& terminal) {
  const Compiler compiler(machine, arguments);
  int code = kDone;
  if (const auto found = codegen::find_compiler(compiler.options.compiler); !found.ok())
    terminal.note("written but not compiled: " + found.error().faults.front().message);
  const bool compiles = codegen::find_compiler(compiler.options.compiler).ok();
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::string path = (std::filesystem::path(folder) / file_name(kernels[k], k)).string();
    if (auto written = write_file(path, kernels[k].source, MissingFolder::Create); !written.ok())
      return report(terminal, written.error(), false);
    if (compiles && !compiler.compile(kernels[k], terminal, code) && code != kKernelFailed) return code;
  }
  if (!terminal.quiet)
    terminal.out << fmt::format("{} micro-kernels written to {}{}\n", kernels.size(), printable(folder),
                                compiles && code == kDone ? ", all compile" : "");
  return code;
}

}  // namespace heddle::app
