// The whole-kernel tab: the time that the simulator predicts for the shown schedule's kernel on the whole machine, and where it goes.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/prediction_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/time_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/whole_kernel/simulate_state.h"
#include "app/window/tabs/whole_kernel/sm_lanes.h"
#include "app/window/tabs/whole_kernel/traffic_view.h"

namespace heddle::app {
namespace {

constexpr ImGuiTableFlags kLook = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings;

/// What there is to say before there is a model; empty: all is there.
std::string missing(const Session& session) {
  const ScheduleEntry* entry = session.content().entry();
  if (!entry) return "The time of the whole kernel, with every tile on every SM, follows from a schedule. Solve or open one.";
  const WholeKernelModel whole = whole_kernel(session, *entry);
  if (!whole.why_not.empty()) return fmt::format("Nothing is predicted for {}: {}.", entry->name, whole.why_not);
  return session.predictions().details(session.content(), *entry) ? "" : "It is being simulated.";
}

std::string copied(const SimulateModel& model) {
  std::string text = "part\tus\tshare\tabout\n";
  for (const TimePiece& piece : model.bar.pieces)
    text += fmt::format("{}\t{:.1f}\t{}\t{}\n", piece.name, piece.to - piece.from, piece.share, piece.about);
  if (!model.depths.empty()) text += "shared memory, KiB\tat least\tsimulated\tat most\n";
  for (const DepthPoint& d : model.depths) text += fmt::format("{:.2f}\t{:.4f}\t{:.2f}\t{:.4f}\n", d.kib, d.low, d.simulated, d.high);
  return text;
}

void draw_time(const SimulateModel& model, const WholeKernelModel& whole) {
  section("WHAT THE TIME IS MADE OF", "predicted " + whole.speed);
  if (model.bar.pieces.empty())
    return wrapped_text(fonts().small, theme().dim, "The clock of this machine is not known, so there are cycles and no time.");
  draw_time_bar("simulate", model.bar);
}

void draw_facts(const SimulateModel& model, const WholeKernelModel& whole) {
  section("THE WHOLE KERNEL", "predicted");
  for (const WholeKernelModel::Fact& fact : whole.facts) fact_line(fact.label, drawable(fact.value), theme().text);
  if (!model.busy.empty()) fact_line("busiest", drawable(model.busy), theme().text);
  wrapped_text(fonts().small, theme().text, drawable(whole.trust + "."));
  for (const std::string& note : model.notes) wrapped_text(fonts().small, theme().dim, drawable(note));
}

void draw_groups(SimulateModel& model) {
  section("WHERE THE TIME OF A CTA'S WARP GROUPS GOES", "busiest SM, predicted");
  const FontScope small(fonts().small);
  const std::vector<Column<GroupShare>> columns = group_share_columns();
  TableLook look;
  look.flags = kLook;
  draw_sorted_table("shares", look, columns, model.groups,
                    [&](const GroupShare& row, std::size_t) { colored_text(theme().text, row.name); });
}

void draw_waits(const Session& session, UiState& ui, SimulateModel& model) {
  section("WHO WAITS FOR WHOM", "predicted");
  const FontScope small(fonts().small);
  const std::vector<Column<WaitRow>> columns = wait_columns();
  TableLook look;
  look.flags = kLook;
  look.none = "no wait is longer than 0.1 % of the time";
  draw_sorted_table("waits", look, columns, model.waits, [&](const WaitRow& row, std::size_t i) {
    if (table_row(fmt::format("simulate/wait/{}", i), row.op.valid() && session.selection().contains(row.op)) && row.op.valid())
      ui.commands.push(SelectOp{row.op, ImGui::GetIO().KeyCtrl});
    ImGui::SameLine(0, 0);
    colored_text(theme().text, row.name);
  });
}

/// The curve of `heddle simulate --study depth`: both ends of the bracket, and the simulated values between them.
void draw_depths(SimulateTabState& s) {
  if (s.model.depths.empty()) return;
  section("PERIOD AGAINST SHARED MEMORY", "bracket proved, points simulated");
  wrapped_text(fonts().small, theme().dim, drawable("Latencies: " + s.model.latencies + ". Units in the schedule's order."));
  const std::vector<DepthPoint>& depths = s.model.depths;
  PlotModel plot;
  plot.x.title = "shared memory, KiB";
  plot.y.title = "cycles an iteration";
  plot.x.whole = plot.y.whole = false;
  PlotCurve least{"at least", theme().dim, {}}, most{"at most", theme().accent, {}};
  const double step = depths.size() > 1 ? depths.back().kib - depths[depths.size() - 2].kib : 1;
  for (std::size_t i = 0; i < depths.size(); ++i) {
    const DepthPoint& d = depths[i];
    const double end = i + 1 < depths.size() ? depths[i + 1].kib : d.kib + step;
    least.pieces.push_back({d.kib, end, d.low, d.low, false});
    most.pieces.push_back({d.kib, end, d.high, d.high, false});
    if (!d.simulates) continue;
    PlotPoint point;
    point.x = d.kib;
    point.y = d.simulated;
    point.mark = d.fits ? PlotMark::Filled : PlotMark::Hollow;
    point.current = d.now;
    point.label = d.now ? "A" : "";
    point.about = d.about;
    point.color = theme().text;
    plot.points.push_back(std::move(point));
  }
  plot.curves = {std::move(least), std::move(most)};
  draw_plot("simulate/depths", plot, {ImGui::GetContentRegionAvail().x, px(210)}, s.depths);
}

}  // namespace

void draw_simulate_tab(const Session& session, const Models& models, UiState& ui) {
  if (const std::string why = missing(session); !why.empty()) return wrapped_text(fonts().body, theme().dim, drawable(why));
  const Content& content = session.content();
  const auto answer = session.predictions().details(content, *content.entry());
  SimulateTabState& s = ui.of<SimulateTabState>();
  if (s.of != answer) {
    s = {};
    s.of = answer;
    s.model = build_simulate(*answer, *content.problem);
    if (answer->traffic) s.traffic = build_traffic(*content.problem, content.entry()->schedule, *answer->traffic);
  }
  if (answer->traffic) follow_balance(session, s);
  draw_copy_buttons(
      "simulate", session, ui, [&] { return copied(s.model); }, command_line(session, "simulate"));
  const std::string line = models.header.whole.speed + " · " + models.header.whole.terms;
  colored_text(theme().dim, drawable(fitted(fonts().body, line, std::max(ImGui::GetContentRegionAvail().x, px(40)))));
  const float width = ImGui::GetContentRegionAvail().x, gap = px(24);
  const bool wide = width > px(760);
  ImGui::BeginChild("simulate", {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), px(3)});
  const float column = wide ? (width - gap - px(12)) / 2 : 0;
  const auto left = [&] {
    draw_time(s.model, models.header.whole);
    draw_verdict(s.traffic);
    draw_facts(s.model, models.header.whole);
    if (answer->balance) draw_sm_lanes(*answer->balance, content.machine ? content.machine->sm_count : 1);
    draw_balance(session, ui, s);
  };
  const auto right = [&] {
    draw_depths(s);
    draw_queue_table(session, ui, s.traffic);
    draw_groups(s.model);
    draw_waits(session, ui, s.model);
  };
  if (wide) {
    const float room = ImGui::GetContentRegionAvail().y;
    ImGui::BeginChild("simulate left", {column, room});
    left();
    ImGui::EndChild();
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("simulate right", {0, room});
    right();
    ImGui::EndChild();
  } else {
    left();
    right();
  }
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

}  // namespace heddle::app
