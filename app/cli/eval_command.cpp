// heddle eval: does a kernel compute what its name says?
#include <fmt/format.h>

#include "app/cli/inputs.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/eval.h"
#include "core/base/scanner.h"
#include "core/base/text_style.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/scalars.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

std::string report_text(const EvalReport& report, const TextStyle& style) {
  std::string params;
  for (const auto& [name, value] : report.params) params += fmt::format("{}{}={}", params.empty() ? "" : ", ", name, value);
  std::string text = fmt::format("{} ({})\n", printable(report.kernel), printable(params));
  if (report.reference.empty())
    text += "this kernel names no formula: nothing to compare with\n";
  else
    text += fmt::format("compared with {}: {}\n", printable(report.reference), printable(report.formula));
  std::vector<std::vector<std::string>> rows;
  for (const TensorComparison& t : report.tensors) {
    const bool compared = t.compared;
    rows.push_back({printable(t.tensor), to_string(t.dtype), shape_text(t.shape), compared ? fmt::format("{:.2e}", t.max_abs_error) : "",
                    compared ? fmt::format("{:.2e}", t.max_rel_error) : "", compared ? fmt::format("{:.2e}", t.rms_error) : "",
                    t.not_finite ? std::to_string(t.not_finite) : "", compared ? std::to_string(t.beyond) : "",
                    compared && !t.pass ? "DIFFERS" : eval_verdict(compared, t.pass)});
  }
  text += "\n" + text_table({{"tensor"},
                             {"type"},
                             {"shape"},
                             {"max error", true},
                             {"max relative", true},
                             {"rms", true},
                             {"not finite", true},
                             {"beyond tolerance", true},
                             {""}},
                            rows);
  for (const TensorComparison& t : report.tensors) {
    if (t.compared)
      text += fmt::format("  {} may be off by {:.1e} + {:.1e} of each element and {:.1e} in the rms: {}\n", printable(t.tensor),
                          t.tolerance.absolute, t.tolerance.relative, t.tolerance.rms, printable(t.tolerance.reason));
    if (!t.pass && !t.worst.empty()) text += fmt::format("  worst element {}{}\n", printable(t.tensor), printable(t.worst));
  }
  text += "\n" +
          join_facts({fmt::format("{} blocks", report.count.blocks), fmt::format("{} trips", report.count.trips),
                      fmt::format("{} tile instructions", report.count.ops), fmt::format("seed {}", report.seed),
                      fmt::format("{:.2f} s", report.seconds)},
                     style) +
          "\n";
  return text;
}

Result<Kernel> with_given_scalars(const Kernel& kernel, const Arguments& arguments) {
  ScalarValues given;
  for (const std::string& text : arguments.all("--scalar")) {
    const std::size_t equals = text.find('=');
    const auto number = equals == std::string::npos ? std::nullopt : read_number<double>(std::string_view(text).substr(equals + 1));
    if (!number) return Error::input(fmt::format("--scalar: expected NAME=NUMBER, found \"{}\"", text), "--scalar scale=0.05");
    given[text.substr(0, equals)] = *number;
  }
  return with_scalars(kernel, given);
}

}  // namespace

int run_eval(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  std::vector<Fault> warnings;
  Result<Kernel> kernel = load_kernel(*arguments.text("KERNEL"), &warnings);
  print_warnings(terminal, warnings);
  if (kernel) kernel = with_given_scalars(*kernel, arguments);
  if (!kernel) return report(terminal, kernel.error(), json);
  const Result<Scope> params = parse_params(arguments);
  if (!params) return report(terminal, params.error(), json);
  // Names that the kernel does not have are evaluate()'s to report.
  const Result<Scope> sizes = parameter_scope(*kernel, *params, true);
  const Result<Kernel> cut = apply_subtiles(*kernel, arguments, sizes ? *sizes : *params);
  if (!cut) return report(terminal, cut.error(), json);
  const InterruptScope interrupt(arguments.deadline());
  const Result<EvalReport> result = [&] {
    ProgressLine progress(terminal);
    progress.show({"making the inputs"});
    return evaluate(*cut, *params, static_cast<std::uint64_t>(arguments.integer("--seed").value_or(1)), interrupt.token(),
                    [&](std::int64_t done, std::int64_t blocks) { progress.show({fmt::format("{} of {} blocks", done, blocks)}); });
  }();
  if (!result) return report(terminal, result.error(), json);
  if (result->cancelled) {
    if (json) terminal.out << eval_text(*result);
    terminal.complain(interrupt.timed_out() ? "time was up before anything was compared" : "interrupted before anything was compared");
    return interrupt.timed_out() ? kNoProof : kInterrupted;
  }
  if (json)
    terminal.out << eval_text(*result);
  else if (terminal.quiet)
    terminal.out << eval_verdict(!result->reference.empty(), result->pass) << "\n";
  else
    terminal.out << report_text(*result, terminal.style);
  return result->pass ? kDone : kNegative;
}

}  // namespace heddle::app
