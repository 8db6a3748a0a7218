// What is on screen, as files for other programs.
#include <fmt/format.h>

#include "app/session/files.h"
#include "app/session/session.h"
#include "core/io/atomic_file.h"
#include "core/io/chrome_trace.h"
#include "core/report/csv.h"
#include "core/report/svg.h"
#include "core/report/timeline_page.h"

namespace heddle::app {
namespace {

std::string svg_of(const GanttModel& model, const Content& content, const ViewState& view, const Export& wish) {
  SvgOptions svg;
  svg.theme = wish.light ? SvgTheme::Light : SvgTheme::Dark;
  const ScheduleEntry& entry = *content.entry();
  svg.title = fmt::format("{} on {} · {} · II {}{}", content.problem->kernel, content.problem->machine, entry.name, entry.schedule.ii,
                          entry.lower_bound ? fmt::format(" · bound {}", *entry.lower_bound) : std::string());
  if (wish.visible_only && view.chart.visible) {
    svg.begin = view.chart.visible->first;
    svg.end = view.chart.visible->second;
  }
  return gantt_svg(model, svg);
}

}  // namespace

void Session::on(const Export& c) {
  const ScheduleEntry* entry = content_.entry();
  if (c.kind == ExportKind::Png) {
    view_.pictures.push_back(c);
    return;
  }
  if (!entry) return fail("Cannot export", Error::input("there is no schedule to draw", "solve or open one first"));
  GanttOptions options;
  options.mode = view_.mode;
  options.iterations = iterations();
  options.verdict = &entry->verdict;
  const Problem& problem = *content_.problem;
  std::string text;
  switch (c.kind) {
    case ExportKind::Svg: text = svg_of(build_gantt(problem, entry->schedule, options), content_, view_, c); break;
    case ExportKind::Trace: text = chrome_trace(problem, entry->schedule); break;
    case ExportKind::Csv: text = op_csv(problem, &entry->schedule); break;
    case ExportKind::Text: {
      TextStyle style;
      style.width = 160;
      text = timeline_page(problem, entry->schedule, build_gantt(problem, entry->schedule, options), style);
      break;
    }
    case ExportKind::Png: break;
  }
  note_exported(c.path, write_file(c.path, text));
}

void Session::note_exported(const std::string& path, const Result<Ok>& result) {
  if (result) {
    say(LogLevel::Good, "wrote " + path);
    view_.exported.push_back({path, "written", true});
    return;
  }
  view_.exported.push_back({path, result.error().faults.front().message, false});
  fail("Cannot write " + base_name(path), result.error());
}

}  // namespace heddle::app
