#include "app/session/exports.h"

#include <filesystem>

#include "app/cli/layout_png.h"
#include "app/jobs/triton_return.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/showing.h"
#include "app/session/texts.h"
#include "app/session/way_back.h"
#include "core/analysis/difference.h"
#include "core/answers/chart_page.h"
#include "core/answers/layout_picture.h"
#include "core/answers/layout_view.h"
#include "core/answers/summary.h"
#include "core/base/atomic_file.h"
#include "core/chart/chrome_trace.h"
#include "core/chart/csv.h"
#include "core/chart/svg.h"
#include "core/formats/constraints_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/triton_text.h"
#include "core/library/trust.h"
#include "core/simulate/end_ops.h"

namespace heddle::app {
namespace {

/// Without the proof of an earlier question.
Schedule as_it_stands(const ScheduleEntry& entry) {
  Schedule schedule = entry.schedule;
  if (!entry.lower_bound) schedule.certificate.reset();
  return schedule;
}

/// What is on screen, and how.
struct Shown {
  const Content& content;
  const ViewState& view;
  int iterations;
  Problem problem;  ///< with what was edited and not saved among the changes, so that every title says it
};

KernelRun prediction_of(const Shown& shown) {
  const Content& content = shown.content;
  return predict_kernel(content.instance(), content.entry()->schedule);
}
/// Nothing was validated with other numbers than those of the files.
std::string trust_of(const Shown& shown) {
  return trust_in(shown.content.kernel->reference, shown.content.machine->arch, !shown.problem.changes.empty()).text;
}
std::string whole_kernel_of(const Shown& shown) { return whole_kernel_text(prediction_of(shown)) + "; " + trust_of(shown); }

EndOps ends_of(const Content& content, const ScheduleEntry& entry) { return end_ops(content.spec(), *content.problem, entry.schedule); }

/// So many cycles later than the schedule's own numbers.
GanttModel gantt_of(const Shown& shown, const ScheduleEntry& entry, Cycle shift = 0) {
  EndOps ends = ends_of(shown.content, entry);
  for (EndOp& end : ends.ops) end.start += shift;
  GanttOptions options;
  options.mode = shown.view.mode;
  options.iterations = shown.iterations;
  options.verdict = &entry.verdict;
  options.ends = &ends;
  options.barriers = shown.view.barriers;
  if (shown.view.tensor) options.tensor = shown.content.kernel.get();
  options.queues = shown.view.queues;
  return build_gantt(*shown.content.problem, shifted(entry.schedule, shift), options);
}

std::string svg_of(const Shown& shown, const Export& request) {
  const auto& [content, view, iterations, problem] = shown;
  const ScheduleEntry& a = *content.entry();
  SvgOptions svg;
  svg.theme = request.light ? SvgTheme::Light : SvgTheme::Dark;
  svg.title = join_facts({problem_title(shown.problem), picture_title(as_it_stands(a))}, {});
  svg.lines = {whole_kernel_text(prediction_of(shown)), trust_of(shown)};
  if (request.visible_only && view.chart.visible) {
    svg.begin = view.chart.visible->first;
    svg.end = view.chart.visible->second;
  }
  const GanttModel upper = gantt_of(shown, a);
  const ScheduleEntry* b = content.baseline_entry();
  if (!b || view.chart_view == ChartView::A || view.chart_view == ChartView::Three) return gantt_svg(upper, svg);
  const Cycle shift = alignment_shift(a.schedule, b->schedule, view.alignment);
  return gantt_pair_svg(upper, gantt_of(shown, *b, shift), svg, picture_title(as_it_stands(*b)));
}

/// Of A, with both of its views.
std::string html_of(const Shown& shown) {
  const Content& content = shown.content;
  const Schedule schedule = as_it_stands(*content.entry());
  ChartPage page{shown.problem, schedule, content.entry()->verdict, shown.view.mode, shown.iterations};
  const EndOps ends = ends_of(content, *content.entry());
  page.ends = &ends;
  page.barriers = shown.view.barriers;
  if (shown.view.tensor) page.tensor = content.kernel.get();
  page.queues = shown.view.queues;
  page.machine = content.machine.get();
  page.prediction = prediction_of(shown);
  page.trust = trust_of(shown);
  return chart_html(page);
}

}  // namespace

Problem Exports::problem_to_write() const {
  Problem problem = *content_.problem;
  const auto mark = [&](SourceOf of, const std::string& name) {
    if (files_.unsaved(content_, of)) problem.changes.push_back("the text of " + name + ", edited and not saved");
  };
  mark(SourceOf::Kernel, content_.kernel->name);
  mark(SourceOf::Machine, content_.machine->name);
  return problem;
}

void Exports::on(const Export& c) {
  const ScheduleEntry* entry = content_.entry();
  if (c.kind == ExportKind::Png) {
    view_.pictures.push_back(c);
    return;
  }
  if (goes_back(c.kind)) return export_for_compiler(c);
  if (!entry) return fail("Cannot export", Error::input("there is no schedule to draw", "solve or open one first"));
  const Shown shown{content_, view_, showing_.iterations(), problem_to_write()};
  const Problem& problem = shown.problem;
  const EndOps ends = ends_of(content_, *entry);
  std::string text;
  switch (c.kind) {
    case ExportKind::Svg: text = svg_of(shown, c); break;
    case ExportKind::Html: text = html_of(shown); break;
    case ExportKind::Trace: text = chrome_trace(problem, entry->schedule, {.ends = &ends, .whole_kernel = whole_kernel_of(shown)}); break;
    case ExportKind::Csv: text = op_csv(problem, &entry->schedule, &ends); break;
    case ExportKind::Text: {
      TextStyle style;
      style.width = 160;
      text = timeline_page(problem, as_it_stands(*entry), gantt_of(shown, *entry), style);
      break;
    }
    default: break;
  }
  note_exported(c.path, write_file(c.path, text));
}

void Exports::on(const SaveSchedule& c) {
  const ScheduleEntry* entry = content_.entry();
  if (!entry) return fail("Cannot save", Error::input("there is no schedule to save", "solve or open one first"));
  const auto saved = write_file(c.path, schedule_text(problem_to_write(), entry->schedule));
  if (!saved) return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, "saved " + c.path);
}

void Exports::on(const SaveConstraints& c) {
  const auto saved = write_file(c.path, constraints_text(content_.constraints, content_.changes, {}, content_.choices));
  if (!saved) return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, "saved " + c.path);
}

void Exports::on(const SaveLayout& c) {
  if (!c.view) return fail("Cannot save the layout", Error::input("there is no layout to save", "choose a value in the Layout tab first"));
  const std::string ending = std::filesystem::path(c.path).extension().string();
  if (ending == ".csv") return note_exported(c.path, write_file(c.path, layout_csv(*c.view)));
  if (ending == ".json") return note_exported(c.path, write_file(c.path, layout_json(*c.view).pretty() + "\n"));
  const LayoutColour colour = parse_layout_colour(c.colour).value_or(LayoutColour::Lane);
  LayoutDrawing drawing = draw_layout(*c.view, colour, SvgTheme::Light);
  if (c.beside) drawing = drawing_pair(drawing, draw_layout(*c.beside, colour, SvgTheme::Light));
  if (ending != ".png") return note_exported(c.path, write_file(c.path, heddle::svg_of(drawing)));
  const Result<Picture> picture = pixels_of(drawing);
  picture ? note_exported(c.path, write_png(c.path, *picture)) : refuse_export(c.path, picture.error());
}

void Exports::export_for_compiler(const Export& c) {
  std::error_code code;
  const TritonText* text = content_.triton();
  if (text && std::filesystem::equivalent(c.path, text->path(), code) && !code)
    return refuse_export(c.path, Error::input("that would replace the text that the schedule is of", "give it another name"));
  const Result<std::string> back = text_for_compiler(content_, c.kind);
  if (!back) return refuse_export(c.path, back.error());
  const Result<Ok> written = write_file(c.path, *back);
  note_exported(c.path, written);
  if (written && c.kind == ExportKind::Ttgir) say(LogLevel::Info, "next: " + finish_command(c.path, (*text->program())->target));
}

void Exports::refuse_export(const std::string& path, const Error& error) {
  view_.exported.push_back({path, error.faults.front().message, false});
  fail("Cannot export " + base_name(path), error);
}

void Exports::note_exported(const std::string& path, const Result<Ok>& result) {
  if (result) {
    say(LogLevel::Good, "wrote " + path);
    view_.exported.push_back({path, "written", true});
    return;
  }
  view_.exported.push_back({path, result.error().faults.front().message, false});
  fail("Cannot write " + base_name(path), result.error());
}

}  // namespace heddle::app
