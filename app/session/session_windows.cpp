// Other windows of what is open: opened with the same project, followed in what they select and show.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/session_core.h"
#include "core/library/project_json.h"

namespace heddle::app {
namespace {

constexpr double kSettles = 0.3;  ///< seconds: what a chart makes of cycles that it was told is not news to tell

}  // namespace

std::string Session::why_no_window(bool baseline) const {
  if (std::string reason = why_no_save(); !reason.empty()) return reason;
  if (baseline && !content().baseline_entry()) return "there is no B yet: press B on a schedule";
  if (!core_->environment_.open_window) return "this window has no display on which another could stand";
  return {};
}

int Session::window_number() const { return core_->windows_.links.empty() ? 0 : core_->windows_.number; }

void SessionCore::begin_as_another() {
  if (!environment_.handed_over) return;
  const HandedOver handed = *std::exchange(environment_.handed_over, std::nullopt);
  std::vector<Fault> warnings;
  auto project = parse_project(handed.project, {}, {}, &warnings);
  if (!project) return fail("The other window's work cannot be shown", project.error());
  take_project(*std::move(project), {}, "open another window");
  recall_proofs();
  document_.places[document_.content.document].saved = document_.content;  // the other window has it, too
  windows_.number = windows_.last = handed.number;
  windows_.quiet_until = now() + 1;
  windows_.links.push_back(std::make_unique<WindowLink>(std::move(*handed.link), environment_.wake));
}

void SessionCore::on(const OpenWindow& c) {
  if (const std::string reason = session_.why_no_window(c.baseline); !reason.empty()) return say(LogLevel::Warning, "no window: " + reason);
  const bool first = windows_.links.empty();
  if (first) windows_.number = windows_.last = 1;
  Project project = to_project(document_.content, document_.selection, view_);
  add_texts(project);
  project.view.choices.erase("chart");
  if (c.baseline) project.shown = project.baseline;
  project.baseline.reset();
  const int number = windows_.last + 1;
  auto link = environment_.open_window(project_text(project, {}), number);
  if (!link) return fail("No other window", link.error());
  windows_.last = number;
  windows_.known = linked_view();
  windows_.links.push_back(std::make_unique<WindowLink>(std::move(link).value(), environment_.wake));
  say(LogLevel::Info,
      fmt::format("window {}: {}", number, project.shown ? project.schedules[*project.shown].name : project.spec.kernel->name));
  changed();
}

LinkedView SessionCore::linked_view() const {
  LinkedView view;
  if (!document_.content.problem) return view;
  view.kernel = document_.content.kernel->name;
  view.visible = view_.chart.visible;
  for (const OpId op : document_.selection.ops) view.selection.push_back(document_.content.problem->op(op).name);
  return view;
}

void SessionCore::follow(const LinkedView& view) {
  if (!document_.content.problem || document_.content.kernel->name != view.kernel) return;
  if (view.visible) view_.restored_chart = ChartKept{view.visible, view_.chart.switches};
  std::vector<OpId> ops;
  for (const std::string& name : view.selection)
    if (const OpId op = document_.content.problem->find_op(name); op.valid()) ops.push_back(op);
  windows_.quiet_until = now() + kSettles;
  if (ops == document_.selection.ops) return;
  document_.selection.ops = std::move(ops);
  changed();
}

bool SessionCore::pump_windows() {
  if (windows_.links.empty()) return false;
  bool news = false;
  for (const auto& link : windows_.links) {
    const auto view = link->take();
    if (!view) continue;
    news = true;
    follow(*view);
    for (const auto& other : windows_.links)
      if (other != link) (void)other->send(*view);
  }
  if (std::erase_if(windows_.links, [](const auto& link) { return link->gone(); }) > 0) {
    say(LogLevel::Info, "the other window was closed");
    news = true;
    changed();
  }
  if (view_.restored_chart) return news;  // the chart is not there yet
  LinkedView view = linked_view();
  if (view == windows_.known) return news;
  const bool told = now() < windows_.quiet_until ||
                    std::all_of(windows_.links.begin(), windows_.links.end(), [&](const auto& link) { return link->send(view); });
  if (told) windows_.known = std::move(view);
  return news;
}

}  // namespace heddle::app
