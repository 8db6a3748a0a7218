// heddle calibrate: a machine file from micro-kernels.
#include <fmt/format.h>

#include "app/cli/host_session.h"
#include "app/cli/micro_run.h"
#include "app/cli/remote_run.h"
#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/terminal.h"
#include "codegen/calibrate/fit.h"
#include "codegen/calibrate/micro.h"
#include "codegen/program/target.h"
#include "core/base/atomic_file.h"
#include "core/formats/machine_json.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

using codegen::MicroKernel;

std::string percent(std::optional<double> residual) { return residual ? fmt::format("{:.0f} %", 100 * *residual) : ""; }

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

  if (arguments.has("--contention")) return run_contention(*machine, arguments, terminal);
  if (arguments.has("--on")) return calibrate_on_host(*text, path, arguments, terminal);
  std::vector<std::string> left_out;
  std::vector<MicroKernel> kernels = codegen::micro_kernels(*machine, left_out);
  for (MicroKernel& kernel : codegen::bank_kernels(*machine, left_out)) kernels.push_back(std::move(kernel));
  std::string list;
  for (const std::string& rule : left_out) list += (list.empty() ? "" : ", ") + printable(rule);
  if (!list.empty()) terminal.note("no micro-kernel for " + list + ": these stay as they are");
  if (const auto folder = arguments.text("--emit-only")) return emit_micros(kernels, *machine, arguments, *folder, terminal);

  int code = kDone;
  const std::optional<MicroRun> run = run_micros(kernels, *machine, arguments, terminal, code);
  if (!run) return code;
  std::vector<codegen::CalibrationPoint> points;
  codegen::MicroResult nothing;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::vector<std::uint8_t>* bytes = run->words(k);
    const auto numbers = bytes ? codegen::read_micro(kernels[k], *bytes, nothing) : std::nullopt;
    if (!numbers) {
      terminal.complain(fmt::format("the micro-kernel for {} wrote no times", kernels[k].rule));
      return kKernelFailed;
    }
    if (kernels[k].rule == "nothing")
      nothing = *numbers;
    else
      points.push_back({&kernels[k], *numbers});
  }
  const std::string where = run->where();
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
