#include "app/window/tabs/whole_kernel/traffic_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/session/commands.h"
#include "app/session/prediction_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {
namespace {

constexpr double kApart = 4;  ///< percent: labels of points nearer to each other would lie on each other

std::string whole_percent(double value) { return fmt::format("{} %", std::llround(value)); }

}  // namespace

void follow_balance(const Session& session, SimulateTabState& state) {
  const Content& content = session.content();
  std::vector<std::shared_ptr<const SimulationAnswer>> others;
  for (std::size_t i = 0; i < content.schedules.size(); ++i)
    others.push_back(content.shown == i ? state.of : session.predictions().of(content, *content.schedules[i]));
  if (others == state.others) return;
  state.balance.clear();
  const std::vector<BalancePoint>& own = state.of->traffic->balance;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i].fault.empty()) state.balance.push_back(balance_mark(i == 0 ? BalanceMark::Of::Shown : BalanceMark::Of::Variant, own[i]));
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (content.shown == i || !others[i] || !others[i]->kernel.fault.empty()) continue;
    const ScheduleEntry& entry = *content.schedules[i];
    state.balance.push_back(
        balance_mark(BalanceMark::Of::Other, balance_of(entry.name, *content.problem, entry.schedule, others[i]->kernel), i));
  }
  state.others = std::move(others);
}

void draw_verdict(const TrafficModel& model) {
  if (model.verdict.empty()) return;
  section("WHAT LIMITS", "predicted");
  wrapped_text(fonts().small, theme().text, drawable(model.verdict));
  if (!model.floor.empty()) wrapped_text(fonts().small, theme().dim, drawable(model.floor));
  if (probe::on()) probe::last_item("simulate/verdict");
}

void draw_queue_table(const Session& session, UiState& ui, TrafficModel& model) {
  if (model.rows.empty()) return;
  section("QUEUES BETWEEN WARP GROUPS", "a tile's loop, predicted");
  const FontScope small(fonts().small);
  const std::vector<Column<QueueRow>> columns = queue_columns();
  TableLook look;
  look.flags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings;
  draw_sorted_table("queues", look, columns, model.rows, [&](const QueueRow& row, std::size_t) {
    if (table_row("simulate/queue/" + row.name, session.selection().contains(row.writer)))
      ui.commands.push(SelectOp{row.writer, ImGui::GetIO().KeyCtrl});
    ImGui::SameLine(0, 0);
    colored_text(theme().text, row.name);
  });
}

void draw_balance(const Session& session, UiState& ui, SimulateTabState& state) {
  if (state.balance.empty()) return;
  section("BALANCE", "how busy the busiest of each side is, predicted");
  PlotModel plot;
  plot.x.title = "access";
  plot.y.title = "execute";
  plot.title = "on the line both are as busy";
  for (PlotAxis* axis : {&plot.x, &plot.y}) axis->low = 0, axis->high = 100, axis->text = whole_percent;
  plot.band = PlotBand{1, 1};
  for (const BalanceMark& mark : state.balance) {
    PlotPoint point;
    point.x = 100 * mark.point.access;
    point.y = 100 * mark.point.execute;
    point.current = mark.of == BalanceMark::Of::Shown;
    point.mark = mark.of == BalanceMark::Of::Variant ? PlotMark::Hollow : PlotMark::Filled;
    point.shape = mark.of == BalanceMark::Of::Variant ? PlotShape::Diamond : PlotShape::Circle;
    point.color = mark.of == BalanceMark::Of::Other ? theme().second : theme().accent;
    const auto far = [&](const PlotPoint& other) { return std::hypot(other.x - point.x, other.y - point.y) > kApart; };
    if (std::all_of(plot.points.begin(), plot.points.end(), far)) point.label = printable(mark.point.name);
    point.about = drawable(mark.about) + (mark.of == BalanceMark::Of::Other ? "\nClick: show this schedule." : "");
    plot.points.push_back(std::move(point));
  }
  const PlotAnswer answer = draw_plot("simulate/balance", plot, {ImGui::GetContentRegionAvail().x, px(220)}, state.plot);
  if (!answer.picked || state.balance[*answer.picked].of != BalanceMark::Of::Other) return;
  const std::size_t entry = state.balance[*answer.picked].entry;
  if (entry < session.content().schedules.size()) ui.commands.push(SelectSchedule{entry});
}

}  // namespace heddle::app
