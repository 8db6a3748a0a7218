// heddle show and heddle export: one schedule, as a timeline in the terminal or as a file for other programs.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/compiler_export.h"
#include "app/cli/second_schedule.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/analysis/difference.h"
#include "core/answers/chart_page.h"
#include "core/answers/summary.h"
#include "core/chart/chrome_trace.h"
#include "core/chart/csv.h"
#include "core/chart/dot.h"
#include "core/chart/gantt_model.h"
#include "core/chart/pipeline_text.h"
#include "core/chart/range_statistics.h"
#include "core/chart/svg.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"
#include "core/library/trust.h"
#include "core/simulate/end_ops.h"

namespace heddle::app {
namespace {

/// The kernel's prologue and epilogue, so many cycles later than the schedule's own start.
EndOps ends_of(const CommandInputs& inputs, const Schedule& schedule, Cycle shift = 0) {
  EndOps ends = end_ops(inputs.instance.spec(), inputs.problem(), schedule);
  for (EndOp& end : ends.ops) end.start += shift;
  return ends;
}

GanttOptions gantt_options(const CommandInputs& inputs, const EndOps& ends, const Verdict& verdict, const Arguments& arguments) {
  GanttOptions options;
  const std::string wanted = arguments.text("--mode").value_or("steady");
  for (const GanttMode mode : kGanttModes)
    if (wanted == to_string(mode)) options.mode = mode;
  options.iterations = static_cast<int>(arguments.integer("--iterations").value_or(options.iterations));
  options.verdict = &verdict;
  options.ends = &ends;
  options.barriers = arguments.has("--barriers");
  if (arguments.has("--tensor-memory")) options.tensor = &inputs.kernel();
  options.queues = arguments.has("--queues");
  return options;
}

GanttModel gantt_for(const CommandInputs& inputs, const Schedule& schedule, const EndOps& ends, const Verdict& verdict,
                     const Arguments& arguments) {
  return build_gantt(inputs.problem(), schedule, gantt_options(inputs, ends, verdict, arguments));
}

/// What the simulator says of the whole kernel, and how far that can be trusted.
KernelRun prediction_of(const CommandInputs& inputs, const Schedule& schedule) { return predict_kernel(inputs.instance, schedule); }
std::string trust_of(const CommandInputs& inputs) {
  return trust_in(inputs.kernel().reference, inputs.machine().arch, !inputs.changes().empty()).text;
}

/// Colours are for terminals only.
TextStyle page_style(const Terminal& terminal, const Arguments& arguments, const std::string& path) {
  TextStyle style = terminal.style;
  if (path != "-") style.color = false;
  if (const auto width = arguments.integer("--width")) style.width = static_cast<int>(*width);
  return style;
}

/// What the name of a file says about its format; empty when nothing (.json may be a trace or a schedule).
std::string format_of(const std::string& path) {
  for (const auto& [ending, format] : {std::pair{".svg", "svg"},
                                       {".dot", "dot"},
                                       {".csv", "csv"},
                                       {".txt", "text"},
                                       {".html", "html"},
                                       {".ttgir", "ttgir"},
                                       {".py", "python"}}) {
    if (path.ends_with(ending)) return format;
  }
  return {};
}

/// Drawing something illegal is allowed, but not silently.
void warn_if_invalid(const Verdict& verdict, const Terminal& terminal) {
  for (const Violation& violation : verdict.violations) terminal.note(fmt::format("{}: {}", violation.family, violation.message));
}

}  // namespace

int run_show(const Arguments& arguments, const Terminal& terminal) {
  Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), false);
  int code = kDone;
  const auto schedule = schedule_to_show(*inputs, arguments, terminal, code);
  if (!schedule) return code;
  const Verdict verdict = check(inputs->problem(), *schedule, inputs->constraints);
  warn_if_invalid(verdict, terminal);
  const EndOps ends = ends_of(*inputs, *schedule);
  terminal.out << timeline_page(inputs->problem(), *schedule, gantt_for(*inputs, *schedule, ends, verdict, arguments),
                                page_style(terminal, arguments, "-"));
  if (arguments.has("--begin") || arguments.has("--end")) {
    const GanttOptions options = gantt_options(*inputs, ends, verdict, arguments);
    const GanttModel model = build_gantt(inputs->problem(), *schedule, options);
    const RangeStatistics range =
        range_statistics(model, streams_of(inputs->problem(), *schedule, model, options.iterations),
                         arguments.integer("--begin").value_or(model.begin), arguments.integer("--end").value_or(model.end));
    terminal.out << "\n" << range_text(range);
  }
  return code;
}

int run_export(const Arguments& arguments, const Terminal& terminal) {
  const std::string path = arguments.text("--out").value_or("-");
  const std::string format = arguments.text("--format").value_or(format_of(path));
  if (format.empty()) {
    terminal.complain("'export' needs --format, or --out with a name that ends in .svg, .html, .dot, .csv, .txt, .ttgir or .py");
    return kUsage;
  }
  if (is_triton_format(format)) return export_for_triton(format, arguments, terminal);
  Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), false);
  if (const int failed = expect_writable(terminal, path, false)) return failed;
  const auto finish = [&](const std::string& text) {
    const int code = write_text(terminal, path, text);
    if (code == kDone && path != "-") terminal.note(fmt::format("{} written to {}", format, path));
    return code;
  };
  if (format == "dot" && !inputs->schedule) {
    const EndOps ends = end_ops(inputs->instance.spec(), inputs->problem());
    return finish(dependence_dot(inputs->problem(), nullptr, &ends));
  }
  int code = kDone;
  std::string failure;
  const auto schedule = schedule_to_show(*inputs, arguments, terminal, code, [&](const SolveOutcome& outcome) {
    if (const Result<std::string> text = dump_failure(format, outcome, arguments)) failure = *text;
  });
  if (!schedule && !failure.empty()) {
    const int written = finish(failure);
    return written == kDone ? code : written;
  }
  if (!schedule) return code;
  const Problem& problem = inputs->problem();  // as it is once --choose is answered
  const Verdict verdict = check(problem, *schedule, inputs->constraints);
  if (format != "variants") warn_if_invalid(verdict, terminal);  // which of those go into the file is decided there

  const EndOps ends = ends_of(*inputs, *schedule);
  std::string text;
  if (is_dump_format(format)) {
    Result<std::string> exported = dump_export(format, *inputs, *schedule, arguments, terminal);
    if (!exported) return report(terminal, exported.error(), false);
    text = *std::move(exported);
  } else if (format == "svg") {
    SvgOptions options;
    options.title = join_facts({problem_title(problem), picture_title(*schedule)}, {});
    options.lines = {whole_kernel_text(prediction_of(*inputs, *schedule)), trust_of(*inputs)};
    if (arguments.text("--theme") == "dark") options.theme = SvgTheme::Dark;
    if (const auto width = arguments.integer("--width")) options.width = std::max(320, static_cast<int>(*width));
    options.begin = arguments.integer("--begin");
    options.end = arguments.integer("--end");
    const GanttModel upper = gantt_for(*inputs, *schedule, ends, verdict, arguments);
    if (const auto name = arguments.text("--below")) {
      const Result<Alignment> alignment = alignment_of(problem, arguments.text("--align").value_or("start"));
      if (!alignment) return report(terminal, alignment.error(), false);
      const Result<std::optional<Schedule>> below = read_second(*name, *inputs, terminal);
      if (!below) return report(terminal, below.error(), false);
      if (!*below) return report(terminal, Error::input(*name + " has no B", "open it, choose one with the key B, save it"), false);
      const Verdict verdict_b = check(problem, **below, inputs->constraints);
      const Cycle shift = alignment_shift(*schedule, **below, *alignment);
      const GanttModel lower = gantt_for(*inputs, shifted(**below, shift), ends_of(*inputs, **below, shift), verdict_b, arguments);
      text = gantt_pair_svg(upper, lower, options, picture_title(**below));
    } else {
      text = gantt_svg(upper, options);
    }
  } else if (format == "html") {
    const GanttOptions chart = gantt_options(*inputs, ends, verdict, arguments);
    ChartPage page{problem, *schedule, verdict, chart.mode, chart.iterations};
    page.machine = &inputs->machine();
    page.ends = &ends;
    page.barriers = chart.barriers;
    page.tensor = chart.tensor;
    page.queues = chart.queues;
    page.prediction = prediction_of(*inputs, *schedule);
    page.trust = trust_of(*inputs);
    text = chart_html(page);
  } else if (format == "trace") {
    TraceOptions options;
    if (const auto iterations = arguments.integer("--iterations")) options.iterations = static_cast<int>(*iterations);
    options.ends = &ends;
    options.whole_kernel = whole_kernel_text(prediction_of(*inputs, *schedule)) + "; " + trust_of(*inputs);
    text = chrome_trace(problem, *schedule, options);
  } else if (format == "dot") {
    text = dependence_dot(problem, &*schedule, &ends);
  } else if (format == "pipeline") {
    text = pipeline_page(pipeline_text(problem, *schedule, &ends), page_style(terminal, arguments, path));
  } else if (format == "csv") {
    text = op_csv(problem, &*schedule, &ends);
  } else if (format == "json") {
    text = schedule_text(problem, *schedule);
  } else {
    text =
        timeline_page(problem, *schedule, gantt_for(*inputs, *schedule, ends, verdict, arguments), page_style(terminal, arguments, path));
  }
  const int written = finish(text);
  return written == kDone ? code : written;
}

}  // namespace heddle::app
