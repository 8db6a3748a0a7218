// The centre: the timeline, or what stands in its place until there is a schedule.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/triton_origins.h"
#include "app/window/frame/marks_legend.h"
#include "app/window/frame/panels.h"
#include "app/window/frame/schedule_list.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/what_if_slider.h"
#include "app/window/parts/what_if_state.h"
#include "app/window/tabs/cuda/cuda_state.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

void centered(ImFont* font, Color color, const std::string& text, float& y) {
  const float width = ImGui::GetWindowSize().x, left = ImGui::GetWindowPos().x;
  const float wrap = std::min(width - px(60), px(640));
  const FontScope scope(font);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap);
  ImGui::SetCursorScreenPos(ImVec2(left + (width - size.x) / 2, y));
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + wrap + 1);
  colored_text(color, text);
  ImGui::PopTextWrapPos();
  y += size.y + px(8);
}

/// Of a compiler's file without a kernel to solve: why, and where there are several, which they are.
void draw_choice(const Source& source, UiState& ui) {
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  float y = at.y + std::min(size.y * 0.2f, px(120));
  centered(fonts().title, theme().text, source.undecided() ? "Which kernel?" : "Nothing to schedule", y);
  std::size_t lines = 0;
  const std::vector<Fault> refused = source.refused();
  for (const Fault& fault : refused) {
    if (++lines > 6) {
      centered(fonts().small, theme().dim, fmt::format("and {} more", refused.size() - 6), y);
      break;
    }
    centered(fonts().body, theme().dim, drawable(in_words(fault)), y);
  }
  const std::vector<SourceChoice> offers = source.outline().offers;
  if (!source.undecided() || offers.empty()) return;
  const float width = std::min(px(620), size.x - px(40)), left = at.x + (size.x - width) / 2;
  ImGui::SetCursorScreenPos(ImVec2(left, y + px(6)));
  ImGui::BeginChild("offers", ImVec2(width, std::max(at.y + size.y - y - px(20), px(60))));
  for (const SourceChoice& offer : offers) {
    const RowArea row = pick_row(("center/offer/" + offer.id).c_str(), false, px(26));
    const float detail = text_size(fonts().small, offer.facts).x, room = row.max.x - row.min.x - px(24);
    const std::string title = fitted_middle(fonts().body, offer.name, std::max(room - detail - px(16), room * 0.4f));
    paint_text(fonts().body, ImVec2(row.min.x + px(10), row.min.y + px(5)), theme().text, title);
    const float rest = room - text_size(fonts().body, title).x - px(16);
    paint_text_right(fonts().small, row.max.x - px(10), row.min.y + px(6), theme().dim,
                     fitted(fonts().small, offer.facts, std::max(rest, px(30))));
    if (row.hovered) tooltip(offer.name + "\n" + offer.facts);
    if (row.clicked) ui.commands.push(ShowPart{*offer.part});
  }
  ImGui::EndChild();
}

void draw_waiting(const Session& session, UiState& ui) {
  const Content& content = session.content();
  const LiveSolve& live = session.live();
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  float y = at.y + size.y * 0.3f;
  if (live.active()) {
    centered(fonts().title, theme().text, live.phase == LiveSolve::Phase::Stopping ? "Stopping" : "Solving", y);
    centered(fonts().body, theme().dim, fmt::format("II ≥ {} · {} · {}", grouped(live.lower_bound), live.doing, seconds_text(live.seconds)),
             y);
    centered(fonts().small, theme().faint, live.explanation, y);
    return;
  }
  if (content.source && !content.kernel) return draw_choice(*content.source, ui);
  if (!content.kernel) {  // a sweep can be open without one
    centered(fonts().title, theme().text, "No kernel is open", y);
    centered(fonts().body, theme().dim, "Open one, or a point of the sweep.", y);
    return;
  }
  if (!content.problem) {
    centered(fonts().title, theme().text, content.machine ? "This kernel does not fit this machine" : "Which machine?", y);
    centered(fonts().body, theme().dim,
             content.machine ? "Explain says why. Choose another machine or other parameters."
                             : "A schedule needs costs, and costs come from a machine.",
             y);
    if (ui.machines_of != content.kernel) {
      ui.machines_of = content.kernel;
      ui.machines = machines_for(*content.kernel, content.overrides);
    }
    const auto count = static_cast<float>(ui.machines.size());
    const float width = px(90), gap = px(10);
    float x = at.x + (size.x - count * width - (count - 1) * gap) / 2;
    for (const std::string& name : ui.machines) {
      ImGui::SetCursorScreenPos(ImVec2(x, y + px(8)));
      if (button(("center/machine/" + name).c_str(), name, ButtonKind::Plain, {}, {width, px(34)}))
        ui.commands.push(OpenMachine{name, true});
      x += width + gap;
    }
    return;
  }
  const bool tried = live.phase == LiveSolve::Phase::Done;
  if (live.refuted()) {
    centered(fonts().title, theme().bad, "No schedule exists", y);
    centered(fonts().body, theme().text, live.explanation, y);
  } else if (tried) {
    centered(fonts().title, theme().text, live.cancelled ? "Cancelled before a schedule was found" : "No schedule found", y);
    centered(fonts().body, theme().dim, fmt::format("II ≥ {} is proved. {}", grouped(live.lower_bound), live.explanation), y);
  } else {
    centered(fonts().title, theme().text, "Ready to solve", y);
    centered(fonts().body, theme().dim,
             fmt::format("{} ops, II ≥ {}. {}", content.problem->ops.size(), grouped(content.bounds->min_ii()), content.bounds->sentence),
             y);
  }
  ImGui::SetCursorScreenPos(ImVec2(at.x + (size.x - px(180)) / 2, y + px(12)));
  const Action& solve = *find_action("solve");
  if (button("center/solve", tried ? "Solve again  F5" : "Solve  F5", ButtonKind::Primary, why_not(solve, session), {px(180), px(40)}))
    perform(solve, session, ui);
}

/// What stands over a picture of the chart instead of buttons: what it is of, and how sure it is.
void draw_picture_title(const Session& session, const Models& models) {
  const ScheduleEntry& entry = *session.content().entry();
  const HeaderModel& header = models.header;
  std::string text =
      fmt::format("{} · {} · II {} · {}", header.subject, entry.name, grouped(entry.schedule.ii), describe_entry(entry).detail);
  if (header.whole.known()) text += fmt::format(" · {} predicted", header.whole.speed);
  const ImVec2 at = ImGui::GetWindowPos();
  float room = ImGui::GetWindowSize().x - px(24);
  if (!header.changes.empty()) {  // a picture by itself says it too
    const std::string changed = machine_text(session.content());
    const float width = pill_width(fonts().small_bold, changed);
    paint_pill(ImVec2(at.x + px(12) + room - width, at.y + px(8)), px(18), fonts().small_bold, changed, Tone::Warning);
    room -= width + px(10);
  }
  const float y = at.y + (px(34) - text_size(fonts().bold, "X").y) / 2;
  paint_text(fonts().bold, ImVec2(at.x + px(12), y), theme().text, fitted(fonts().bold, drawable(text), room));
}

/// Steady, unrolled, whole pipeline, with contention; and how many iterations.
void draw_mode_bar(const Session& session, const Models& models, UiState& ui) {
  const Theme& t = theme();
  const float height = px(24);
  struct Mode {
    GanttMode mode;
    const char *name, *label;
  };
  constexpr Mode kModes[] = {{GanttMode::Steady, "mode/steady", "Steady"},
                             {GanttMode::Unrolled, "mode/unrolled", "Unrolled"},
                             {GanttMode::Pipeline, "mode/pipeline", "Pipeline"},
                             {GanttMode::Contended, "mode/contended", "Period"}};
  ImGui::SetCursorPos(ImVec2(px(12), px(5)));
  for (const Mode& mode : kModes) {
    const bool current = session.view().mode == mode.mode;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = text_size(fonts().small, mode.label);
    const ImVec2 box(size.x + px(20), height);
    ImGui::PushID(mode.name);
    if (ImGui::InvisibleButton("mode", box)) ui.commands.push(SetMode{mode.mode});
    ImGui::PopID();
    if (probe::on()) probe::last_item(mode.name);
    const bool hovered = ImGui::IsItemHovered();
    if (current || hovered)
      ImGui::GetWindowDrawList()->AddRectFilled(at, ImVec2(at.x + box.x, at.y + box.y), current ? t.raised : t.hovered, px(4));
    paint_text(fonts().small, ImVec2(at.x + px(10), at.y + (height - size.y) / 2), current ? t.text : t.dim, mode.label);
    ImGui::SameLine(0, px(4));
  }
  if (session.view().mode != GanttMode::Steady) {
    const int count = session.iterations();
    ImGui::SameLine(0, px(14));
    if (button("mode/fewer", "-", ButtonKind::Flat, {}, {px(24), height})) ui.commands.push(SetIterations{count - 1});
    ImGui::SameLine(0, px(4));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string text = count_of(count, "iteration");
    const ImVec2 size = text_size(fonts().small, text);
    paint_text(fonts().small, ImVec2(at.x, at.y + (height - size.y) / 2), t.dim, text);
    ImGui::Dummy(ImVec2(size.x, height));
    ImGui::SameLine(0, px(4));
    if (button("mode/more", "+", ButtonKind::Flat, {}, {px(24), height})) ui.commands.push(SetIterations{count + 1});
  }
  // Whole or not at all.
  const float legend_end = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + px(14 + 62);
  if (ImGui::GetWindowSize().x >= std::max(px(480), legend_end)) {
    ImGui::SameLine(0, px(14));
    const Action& legend = *find_action("legend");
    if (button("mode/legend", "Legend", ButtonKind::Flat, why_not(legend, session), {px(62), height})) perform(legend, session, ui);
    if (ImGui::IsItemHovered()) tooltip(fmt::format("{}  {}", legend.label, keys_of(legend)));
  }
  const float modes_end = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x;
  const ScheduleEntry* entry = session.content().entry();
  float room = ImGui::GetWindowSize().x - px(14);
  if (const std::string banner = what_if_banner(ui); !banner.empty()) {
    const float free = room - modes_end - px(26);
    const std::string text = fitted(fonts().small_bold, banner, std::max(free, px(60)));
    const ImVec2 at(ImGui::GetWindowPos().x + ImGui::GetWindowSize().x - pill_width(fonts().small_bold, text) - px(14),
                    ImGui::GetWindowPos().y + px(8));
    paint_pill(at, px(18), fonts().small_bold, text, Tone::Warning);
    if (probe::on()) probe::item("center/what_if", at.x, at.y, at.x + pill_width(fonts().small_bold, text), at.y + px(18));
    room = modes_end;  // the banner has the rest
  } else if (entry && !entry->verdict.valid()) {
    const std::string broken = violations_text(entry->verdict), by = reading_text(session.content());
    const std::string text = no_schedule(session) ? "no schedule exists; this one " + broken : broken + by + ": see Explain";
    const float width = std::min(pill_width(fonts().small_bold, text), std::max(room - modes_end - px(14), px(60)));
    const ImVec2 at(ImGui::GetWindowPos().x + room - width, ImGui::GetWindowPos().y + px(8));
    ImGui::SetCursorScreenPos(at);
    if (ImGui::InvisibleButton("violations", ImVec2(width, px(18)))) ui.commands.push(FirstViolation{});
    if (probe::on()) probe::last_item("center/violations");
    if (ImGui::IsItemHovered())
      tooltip("first: " + entry->verdict.violations.front().message + "\nClick to select its ops; F centres them.");
    paint_pill(at, px(18), fonts().small_bold, fitted(fonts().small_bold, text, width - px(16)), Tone::Bad);
    room -= width + px(10);
  }
  draw_compare_bar(session, models, ui, modes_end, room);
}

/// While the mouse is on a line of the CUDA text, that line's op stands out. The tab says so again in every frame.
std::optional<ChartOverlay> overlay_of_source(const Models& models, UiState& ui) {
  const OpId op = std::exchange(ui.of<CudaTabState>().hovered, OpId());
  if (!op.valid() || op.index() >= models.ops.size()) return std::nullopt;
  ChartOverlay overlay = models.overlay;
  overlay.focus = {};
  overlay.focus.ops.assign(models.ops.size(), false);
  overlay.focus.ops[op.index()] = true;
  return overlay;
}

void draw_three(const Session& session, const Models& models, UiState& ui) {
  const ThreeModel& three = *models.three;
  std::vector<GanttViewState*> views, others{&ui.chart_b, &ui.chart_c};
  for (std::size_t i = 0, next = 0; i < three.charts.size(); ++i) views.push_back(i == three.live ? &ui.chart : others[next++]);
  const Content& content = session.content();
  draw_gantt_three(
      three,
      {&*models.gantt, content.problem.get(), &content.entry()->schedule, &session.selection(), &models.overlay, &ui.chart, &ui.commands},
      views);
}

}  // namespace

bool is_picture_of_chart(const Session& session) {
  const std::vector<Export>& waiting = session.view().pictures;
  return !waiting.empty() && !in_dialog() && !waiting.front().whole_window;
}

void draw_center(Session& session, const Models& models, UiState& ui) {
  if (!models.gantt) return draw_waiting(session, ui);
  const ScheduleEntry& entry = *session.content().entry();
  if (is_picture_of_chart(session))
    draw_picture_title(session, models);
  else
    draw_mode_bar(session, models, ui);
  WindowRequests& asked = session.requests();
  const ViewState& view = session.view();
  const bool beside = view.chart_view == ChartView::Split || view.chart_view == ChartView::Ghost;
  const CompareModel* compare = models.compare && beside ? &*models.compare : nullptr;
  ui.chart.extent.reset();
  if (compare)
    ui.chart.extent = CycleRange{std::min(models.gantt->begin, compare->chart_b.begin), std::max(models.gantt->end, compare->chart_b.end)};
  if (models.three) {
    ui.chart.extent = CycleRange{models.gantt->begin, models.gantt->end};
    for (std::size_t i = 0; i < models.three->charts.size(); ++i)
      if (const GanttModel& gantt = models.three->charts[i].gantt; i != models.three->live)
        ui.chart.extent = CycleRange{std::min(ui.chart.extent->begin, gantt.begin), std::max(ui.chart.extent->end, gantt.end)};
  }
  if (view.fit_all) fit_all(ui.chart, *models.gantt);
  if (view.zoom_to_selection)
    centre_or_fit(ui.chart, *models.gantt, session.selection().empty() ? view.highlight.ops : session.selection().ops);
  if (view.zoom_to_selection || view.reveal)
    ui.chart.reveal = view.zoom_to_selection && !session.selection().empty() ? session.selection().ops : view.highlight.ops;
  asked.fit_all = asked.zoom_to_selection = asked.reveal = false;
  ImGui::SetCursorPos(ImVec2(0, px(34) + draw_chart_legend(session, models, ui, px(34))));
  ImGui::BeginChild("timeline", ImVec2(0, 0), false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ui.chart.keys_elsewhere = ui.of<WhatIfState>().dragged.has_value();
  const auto panel = [&](const ChartOverlay& overlay) {
    return ChartPanel{&*models.gantt, session.content().problem.get(), &entry.schedule, &session.selection(), &overlay, &ui.chart,
                      &ui.commands};
  };
  static const ChartOverlay kNoOverlay;
  // While a number is tried the chart shows what it would do; nothing is in force yet.
  if (const WhatIfState& tried = ui.of<WhatIfState>(); tried.gantt && tried.drawn && tried.trial)
    draw_gantt({&*tried.gantt, &*tried.trial->problem, &*tried.drawn, &session.selection(), &kNoOverlay, &ui.chart, &ui.commands});
  else if (models.three)
    draw_three(session, models, ui);
  else if (const auto lit = overlay_of_source(models, ui); !compare)
    draw_gantt(panel(lit ? *lit : models.overlay), models.measured_legend.empty() ? nullptr : &models.measured);
  else if (view.chart_view == ChartView::Ghost)
    draw_gantt(panel(compare->overlay_a), &compare->others);
  else
    draw_gantt_pair(panel(compare->overlay_a), *compare, ui.chart_b, [&](bool b) { accept_schedule(session, ui, b); });
  ImGui::EndChild();
  draw_marks_sheet(session, ui);
}

}  // namespace heddle::app
