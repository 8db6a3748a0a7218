// heddle calibrate: a machine file from micro-kernels.
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/cli/lowering.h"
#include "app/cli/remote_run.h"
#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/terminal.h"
#include "codegen/calibrate/fit.h"
#include "codegen/calibrate/micro.h"
#include "codegen/compile/compile.h"
#include "codegen/program/target.h"
#include "codegen/run/driver.h"
#include "codegen/run/run.h"
#include "core/base/atomic_file.h"
#include "core/formats/machine_json.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

using codegen::MicroKernel;

/// "tma_load-rows64": letters, digits, dots, dashes.
std::string file_name(const MicroKernel& kernel, std::size_t number) { return fmt::format("{:03}-{}.cu", number, kernel.rule); }

struct Compiler {
  codegen::CompileOptions options;

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

std::string percent(std::optional<double> residual) { return residual ? fmt::format("{:.0f} %", 100 * *residual) : ""; }

int emit_only(const std::vector<MicroKernel>& kernels, const Compiler& compiler, const std::string& folder, const Terminal& terminal) {
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

}  // namespace

int run_calibrate(const Arguments& arguments, const Terminal& terminal) {
  const std::string path = arguments.text("--out").value_or("-");
  if (const int failed = expect_writable(terminal, path, false)) return failed;
  if (const int refused = refuse_without_host(arguments, terminal)) return refused;
  if (arguments.has("--on") && arguments.has("--emit-only"))
    return refuse(terminal, "--emit-only needs no other machine: leave --on out", false);
  const auto file = find_in_library(Shelf::Machines, *arguments.text("MACHINE"));
  if (!file.ok()) return report(terminal, file.error(), false);
  const auto text = read_file(*file);
  if (!text.ok()) return report(terminal, text.error(), false);
  const auto machine = parse_machine(*text, *file);
  if (!machine.ok()) return report(terminal, machine.error(), false);
  if (auto refusal = codegen::refuse_machine(*machine)) return report(terminal, Error::input(refusal->sentence), false);

  if (arguments.has("--on")) return calibrate_on_host(*text, path, arguments, terminal);
  std::vector<std::string> left_out;
  std::vector<MicroKernel> kernels = codegen::micro_kernels(*machine, left_out);
  for (MicroKernel& kernel : codegen::bank_kernels(*machine, left_out)) kernels.push_back(std::move(kernel));
  std::string list;
  for (const std::string& rule : left_out) list += (list.empty() ? "" : ", ") + printable(rule);
  if (!list.empty()) terminal.note("no micro-kernel for " + list + ": these stay as they are");
  Compiler compiler;
  compiler.options.compiler = compiler_of(arguments);
  compiler.options.cache = codegen::default_cache();
  compiler.options.arch = machine->arch;
  if (const auto folder = arguments.text("--emit-only")) return emit_only(kernels, compiler, *folder, terminal);

  if (const auto driver = codegen::cuda::open_driver(); !driver.ok()) {
    terminal.complain(driver.error().faults.front().message +
                      "; without a GPU the micro-kernels can be written and compiled: --emit-only DIR");
    return kEnvironment;
  }
  codegen::RunPlan plan;
  plan.kernel = "micro-kernels";
  plan.machine = machine->name;
  plan.arch = machine->arch;
  for (const DType dtype : {DType::Bf16, DType::F32})
    plan.tensors.push_back({"scratch", dtype, {codegen::kScratchSide, codegen::kScratchSide}, TensorRole::InOut});
  int code = kDone;
  for (const MicroKernel& kernel : kernels) {
    auto compiled = compiler.compile(kernel, terminal, code);
    if (!compiled) return code;
    codegen::KernelPlan micro{std::move(compiled->cubin), kernel.launch, codegen::kMicroWords};
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
  const auto result = codegen::run_plan(plan, options);
  if (!terminal.quiet && terminal.err_is_tty) terminal.err << "\n";
  if (!result.ok()) return report(terminal, result.error(), false);
  if (result->cancelled) {
    terminal.complain("interrupted");
    return kInterrupted;
  }
  if (result->found.status != RunStatus::Unverified) {
    terminal.complain(result->found.sentence);
    return result->found.status == RunStatus::NoGpu ? kEnvironment : kKernelFailed;
  }
  std::vector<codegen::CalibrationPoint> points;
  codegen::MicroResult nothing;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto bytes = result->records.find(std::to_string(k));
    const auto numbers = bytes == result->records.end() ? std::nullopt : codegen::read_micro(kernels[k], bytes->second, nothing);
    if (!numbers) {
      terminal.complain(fmt::format("the micro-kernel for {} wrote no times", kernels[k].rule));
      return kKernelFailed;
    }
    if (kernels[k].rule == "nothing")
      nothing = *numbers;
    else
      points.push_back({&kernels[k], *numbers});
  }
  const MeasuredDevice device = result->found.device.value_or(MeasuredDevice{});
  const std::string where = fmt::format("{}, driver {}, {:%Y-%m-%d}", device.name, device.driver, fmt::gmtime(std::time(nullptr)));
  std::vector<codegen::CalibratedRule> summary;
  const Machine made = codegen::calibrated(*machine, points, where, summary);
  if (const int failed = write_text(terminal, path, machine_text(made, *text))) return failed;
  std::vector<std::vector<std::string>> rows;
  for (const codegen::CalibratedRule& rule : summary)
    rows.push_back({printable(rule.rule), fmt::format("{}", rule.shapes), percent(rule.window), percent(rule.latency),
                    percent(rule.interval), printable(rule.says)});
  if (!terminal.quiet)
    (path == "-" ? terminal.err : terminal.out)
        << "measured on " << printable(where) << "; worst residuals of the fitted formulas\n"
        << text_table({{"rule", false}, {"shapes", true}, {"window", true}, {"latency", true}, {"interval", true}, {"", false}}, rows);
  return kDone;
}

}  // namespace heddle::app
