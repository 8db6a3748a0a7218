#include "app/window/frame/app_window.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "app/command/called.h"
#include "app/session/commands.h"
#include "app/session/launch_state.h"
#include "app/session/project.h"
#include "app/session/run_state.h"
#include "app/session/sweep_state.h"
#include "app/session/triton_state.h"
#include "app/session/truth_state.h"
#include "app/window/frame/keys_overlay.h"
#include "app/window/frame/palette.h"
#include "app/window/frame/project_dialogs.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/notes.h"
#include "app/window/parts/tabs.h"
#include "app/window/parts/what_if_state.h"
#include "app/window/tabs/graph/graph_state.h"
#include "app/window/tabs/layout/layout_state.h"
#include "app/window/tabs/runs/measured_model.h"
#include "core/chart/op_facts.h"

namespace heddle::app {
namespace {

constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                                    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollbar |
                                    ImGuiWindowFlags_NoScrollWithMouse;

/// A pane at a fixed place of the root window; the callback draws its content.
struct PaneArea {
  ImVec2 at, size;
};

template <class Draw>
void pane(const char* name, PaneArea area, Color background, ImVec2 padding, Draw draw) {
  const auto& [at, size] = area;
  ImGui::SetCursorScreenPos(at);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, background);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  const bool visible = ImGui::BeginChild(
      name, size, false, ImGuiWindowFlags_AlwaysUseWindowPadding | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (visible) draw();
  ImGui::EndChild();
  if (probe::on()) probe::item(std::string("pane/") + name, at.x, at.y, at.x + size.x, at.y + size.y);
}

template <class Draw>
void focused(FocusPane pane, Draw draw) {
  focus::begin(pane);
  draw();
  focus::end();
}

/// A small handle at the edge of the pane on that side, which folds it away with a click, or brings it back. It points where the edge
/// would go.
void fold_handle(const std::string& side, bool PaneSizes::*pane, bool folded, ImVec2 center, UiState& ui) {
  const std::string name = "fold/" + side;
  const bool upright = side != "bottom";
  const ImVec2 size = upright ? ImVec2(px(11), px(40)) : ImVec2(px(40), px(11));
  const ImVec2 at(std::floor(center.x - size.x / 2), std::floor(center.y - size.y / 2)), end(at.x + size.x, at.y + size.y);
  ImGui::SetCursorScreenPos(at);
  // A window of its own, over the splitter.
  ImGui::BeginChild(name.c_str(), size, false,
                    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  if (ImGui::InvisibleButton("fold", size)) ui.commands.push(fold_pane(pane, !folded));
  const bool hovered = ImGui::IsItemHovered();
  if (probe::on()) probe::last_item(name);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, end, hovered ? theme().hovered : theme().raised, px(4));
  list.AddRect(at, end, hovered ? theme().accent : theme().border, px(4));
  const bool outwards = !folded;  // towards the window's edge
  const ImVec2 m((at.x + end.x) / 2, (at.y + end.y) / 2);
  const float s = px(3), way = (side == "left") == outwards ? -1.0f : 1.0f;
  const Color ink = hovered ? theme().text : theme().dim;
  if (upright)
    list.AddTriangleFilled(ImVec2(m.x + way * s, m.y), ImVec2(m.x - way * s * 0.7f, m.y - s * 1.3f),
                           ImVec2(m.x - way * s * 0.7f, m.y + s * 1.3f), ink);
  else
    list.AddTriangleFilled(ImVec2(m.x, m.y + way * s), ImVec2(m.x - s * 1.3f, m.y - way * s * 0.7f),
                           ImVec2(m.x + s * 1.3f, m.y - way * s * 0.7f), ink);
  ImGui::EndChild();
  if (!hovered) return;
  const std::string action = "fold_" + side;
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  tooltip(std::string(folded ? "show: " : "fold away: ") + find_action(action)->label + "  " + keys_of(action));
}

}  // namespace

AppWindow::AppWindow(Session& session, Platform& platform) : session_(session), platform_(platform) {
  focus::set(FocusPane::Chart);  // of the process: another window may have left it elsewhere
}

Pace AppWindow::pace() const {
  if (ui_.chart.moved < 1 || ui_.of<WhatIfState>().busy || !ui_.commands.empty()) return Pace::Animating;
  return session_.live().active() || session_.asking() || session_.building() || session_.truth().active() || session_.triton().active() ||
                 session_.launch().active() || ui_.of<GraphState>().working() ||
                 (session_.view().tab == BottomTab::Layout && ui_.of<LayoutTabState>().working())
             ? Pace::Ticking
             : Pace::Idle;
}

void AppWindow::follow_settings() {
  const Settings& settings = session_.settings();
  const float scale = platform_.display_scale() * static_cast<float>(settings.scale_percent) / 100.0f;
  const bool rescale = scale != scale_;
  if (rescale) platform_.set_scale(scale_ = scale);
  // Only for a frame that is not shown.
  const ThemeName theme = picture_is_light() ? ThemeName::Light : settings.theme;
  if (rescale || theme_ != theme) {
    theme_ = theme;
    apply_theme(theme);
  }
  if (!keys_ || *keys_ != settings.keys) {
    keys_ = settings.keys;
    apply_keys(settings.keys);
  }
  ui_.chart.wheel_scrolls = settings.wheel_scrolls;
  const Content& content = session_.content();
  std::string title = "Heddle";
  if (content.kernel || content.source) title = window_title(session_);
  if (title != title_) platform_.set_title(title_ = title);
}

void AppWindow::rebuild_models() {
  // The header shows a running clock.
  models_.header = build_header(session_);
  if (built_revision_ == session_.revision()) return;
  built_revision_ = session_.revision();
  const Content& content = session_.content();
  const ScheduleEntry* entry = content.entry();
  models_.ops.clear();
  models_.ends = {};
  models_.inspector.reset();
  models_.gantt.reset();
  models_.overlay = {};
  models_.compare.reset();
  models_.three.reset();
  models_.measured.clear();
  models_.measured_legend.clear();
  models_.streams.reset();
  if (!content.problem) return;
  const Schedule* schedule = entry ? &entry->schedule : nullptr;
  models_.ends = schedule ? end_ops(content.spec(), *content.problem, *schedule) : end_ops(content.spec(), *content.problem);
  models_.ops = build_ops_table(*content.problem, schedule, &models_.ends);
  if (const OpId op = session_.selection().primary(); op.valid()) {
    models_.inspector = inspect(*content.problem, op, schedule, entry ? &entry->usage : nullptr, entry ? &entry->verdict : nullptr);
    models_.inspector->source = latency_source(*content.machine, *content.problem, op);
  }
  if (entry) {
    GanttOptions options;
    options.mode = session_.view().mode;
    options.iterations = session_.iterations();
    options.verdict = &entry->verdict;
    options.ends = &models_.ends;
    options.barriers = session_.view().barriers;
    if (session_.view().tensor) options.tensor = content.kernel.get();
    options.queues = session_.view().queues;
    models_.gantt = build_gantt(*content.problem, entry->schedule, options);
    models_.overlay = build_overlay(session_);
    models_.compare = build_compare(session_, *models_.gantt, models_.overlay);
    models_.three = build_three(session_);
    if (session_.view().measured && session_.runs().why_no_measured().empty()) {
      const Measurement& run = *session_.runs().measurement();
      models_.measured = measured_bars(*content.problem, *models_.gantt, run);
      models_.measured_legend = measured_legend(content, run);
    }
    if (models_.inspector && models_.overlay.slack) add_range(*models_.overlay.slack, *models_.inspector);
  }
}

void AppWindow::measure_range() {
  models_.range.reset();
  if (!ui_.chart.range || !models_.gantt) return;
  const Content& content = session_.content();
  if (!models_.streams) models_.streams = streams_of(*content.problem, content.entry()->schedule, *models_.gantt, session_.iterations());
  models_.range = range_statistics(*models_.gantt, *models_.streams, ui_.chart.range->begin, ui_.chart.range->end);
}

bool AppWindow::step() {
  follow_settings();
  const Next next = platform_.begin_frame(pace());
  if (next == Next::Close) {
    // Asked twice, or with nothing to lose, the window goes.
    if (session_.view().ask_leave || !session_.projects().worth_asking()) return false;
    session_.requests().ask_leave = true;
    platform_.stay_open();
    return true;
  }
  session_.pump();
  for (std::string& path : platform_.take_dropped_files()) ui_.commands.push(OpenFile{std::move(path), true});
  if (next == Next::Draw) {
    probe::begin_frame();
    rebuild_models();
    measure_range();
    const auto scrolls = [&] { return std::tie(ui_.chart.scroll, ui_.chart.lanes_scroll, ui_.chart_b.scroll, ui_.chart_c.scroll); };
    const std::tuple<float, float, float, float> before = scrolls();
    draw();
    const bool picture = wants_picture();
    if (picture) platform_.want_picture(theme_ == session_.settings().theme && !ui_.chart.closest);
    platform_.end_frame();
    if (picture) {
      take_pictures();
      scrolls() = before;  // whoever looks at the window finds it as it was
    }
    keep_chart_view();
  }
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  session_.tell_size(static_cast<int>(size.x), static_cast<int>(size.y));
  for (const Command& command : ui_.commands.take()) session_.apply(command);
  if (const auto text = std::exchange(session_.requests().clipboard, std::nullopt))
    ImGui::SetClipboardText((text->starts_with("heddle ") ? as_called(*text) : *text).c_str());
  if (!ImGui::IsAnyMouseDown()) session_.save_settings_now();
  return !session_.view().quit;
}

void AppWindow::keep_chart_view() {
  const ViewState& view = session_.view();
  GanttViewState& chart = ui_.chart;
  if (!models_.gantt) return session_.tell({});
  if (view.restored_chart && built_revision_ == session_.revision() && !view.fit_all) {
    // The chart has fitted what is new to it; now it goes where the project says.
    const ChartKept kept = *std::exchange(session_.requests().restored_chart, std::nullopt);
    if (kept.visible) {
      chart.visible = chart.target = {static_cast<double>(kept.visible->first), static_cast<double>(kept.visible->second)};
      chart.moved = 1;
    }
    const auto on = [&](const char* name) { return kept.switches.contains(name) && kept.switches.at(name); };
    if (on("critical") != view.critical) ui_.commands.push(toggle_critical());
    if (on("barriers") != view.barriers) ui_.commands.push(toggle_barriers());
    if (on("tensor-memory") != view.tensor) ui_.commands.push(toggle_tensor());
    if (on("queues") != view.queues) ui_.commands.push(toggle_queues());
    if (on("whiskers") != view.whiskers) ui_.commands.push(ToggleWhiskers{});
    chart.all_arrows = on("dependences");
  }
  ChartKept now;
  now.visible = {static_cast<Cycle>(std::llround(chart.target.begin)), static_cast<Cycle>(std::llround(chart.target.end))};
  now.switches = {{"critical", view.critical},    {"whiskers", view.whiskers}, {"barriers", view.barriers},
                  {"tensor-memory", view.tensor}, {"queues", view.queues},     {"dependences", chart.all_arrows}};
  session_.tell(std::move(now));
}

bool AppWindow::wants_picture() const { return !session_.view().pictures.empty() && !in_dialog(); }

bool AppWindow::picture_is_light() const {
  return wants_picture() && session_.view().pictures.front().light && platform_.can_take_pictures();
}

void AppWindow::take_pictures() {
  const auto whole = platform_.take_picture();
  const ImGuiIO& io = ImGui::GetIO();
  // Those in the other theme have a frame of their own.
  std::vector<Export>& waiting = session_.requests().pictures;
  const auto others = std::stable_partition(waiting.begin(), waiting.end(),
                                            [&, light = waiting.front().light](const Export& e) { return e.light == light; });
  const std::vector<Export> now(waiting.begin(), others);
  waiting.erase(waiting.begin(), others);
  for (const Export& request : now) {
    if (!whole) {
      session_.note_exported(request.path, Error::environment("this window draws nothing, so there is no picture of it"));
      continue;
    }
    const float sx = io.DisplayFramebufferScale.x, sy = io.DisplayFramebufferScale.y;
    const auto pixel = [](float at, float scale) { return static_cast<int>(std::lround(at * scale)); };
    const Picture picture =
        request.whole_window || !session_.content().kernel
            ? *whole
            : cropped(*whole, pixel(center_[0], sx), pixel(center_[1], sy), pixel(center_[2], sx), pixel(center_[3], sy));
    session_.note_exported(request.path, write_png(request.path, picture));
  }
}

bool AppWindow::dispatch_keys() {
  // Dialogs have their own keys; menus only stand in the way.
  if (in_dialog()) return false;
  const bool menu = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  if (const Action* action = pressed_action(session_)) {
    perform(*action, session_, ui_);
    return menu;
  }
  return menu && key_pressed(Key::Escape);
}

void AppWindow::draw() {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ui_.of<WhatIfState>().busy = false;  // unless a slider that is drawn says otherwise
  watch_hand();
  const bool leave_menus = dispatch_keys();
  draw_menu_bar(session_, ui_);
  const float menu = std::floor(ImGui::GetFrameHeight());
  ImGui::SetNextWindowPos(ImVec2(0, menu));
  ImGui::SetNextWindowSize(ImVec2(display.x, display.y - menu));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGui::Begin("root", nullptr, kFixed);
  ImGui::PopStyleVar(3);

  const float toolbar = std::floor(px(50)), status = std::floor(px(26));
  const float line = std::max(1.0f, std::round(fonts().scale));
  pane("toolbar", {ImVec2(0, menu), ImVec2(display.x, toolbar)}, theme().panel, ImVec2(px(12), px(9)),
       [&] { draw_toolbar(session_, models_, ui_); });
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(ImVec2(0, menu + toolbar), ImVec2(display.x, menu + toolbar + line), theme().separator);
  const float top = menu + toolbar + line;
  const float height = std::max(px(80), display.y - top - status - line);
  if (session_.content().kernel || session_.content().source || session_.sweep().file())
    draw_panes(top, height);
  else if (session_.launch().open())
    draw_launch_pane(top, height);
  else
    draw_welcome_pane(top, height);
  // Over what is there, so that nothing moves when one comes or goes.
  if (const float bar = notice_height(session_); bar > 0)
    pane("notices", {ImVec2(0, display.y - status - line - bar), ImVec2(display.x, bar)}, theme().raised, ImVec2(0, 0),
         [&] { focused(FocusPane::Notices, [&] { draw_notices(session_, ui_); }); });
  list.AddRectFilled(ImVec2(0, display.y - status - line), ImVec2(display.x, display.y - status), theme().separator);
  pane("status", {ImVec2(0, display.y - status), ImVec2(display.x, status)}, theme().panel, ImVec2(px(12), px(5)),
       [&] { draw_status_bar(session_, models_, ui_); });
  ImGui::End();
  if (!leave_menus && focus::pane() != FocusPane::Chart && !in_dialog() && !ImGui::GetIO().WantTextInput && key_pressed(Key::Escape))
    focus::set(FocusPane::Chart);
  // After the chart has looked at its keys: the Escape that leaves a menu does not also clear the selection.
  if (leave_menus) close_popups();

  draw_open_dialog(session_, ui_);
  draw_new_dialog(ui_);
  draw_limit_dialog(session_, ui_);
  draw_path_prompt(session_, ui_);
  draw_error_panel(session_, ui_);
  draw_keys_overlay(session_, ui_);
  draw_export_dialog(session_, ui_);
  draw_note_editor(session_, ui_);
  draw_leave_dialog(session_, ui_);
  draw_discard_dialog(session_, ui_);
  draw_palette(session_, models_, ui_);
}

void AppWindow::draw_welcome_pane(float top, float height) {
  ui_.on_screen = {};
  ui_.on_screen[static_cast<std::size_t>(FocusPane::Notices)] = notice_height(session_) > 0;
  ui_.on_screen[static_cast<std::size_t>(FocusPane::Welcome)] = true;
  // Nothing is marked until a key asks for it.
  const bool typed = in_dialog() || ImGui::GetIO().WantTextInput;
  if (!ui_.on_screen[static_cast<std::size_t>(focus::pane())] && !typed)
    focus::set(key_pressed(Key::Down) || key_pressed(Key::Right) ? FocusPane::Welcome : FocusPane::Chart);
  pane("welcome", {ImVec2(0, top), ImVec2(ImGui::GetIO().DisplaySize.x, height)}, theme().window, ImVec2(0, 0),
       [&] { focused(FocusPane::Welcome, [&] { draw_welcome(session_, ui_); }); });
}

void AppWindow::draw_launch_pane(float top, float height) {
  ui_.on_screen = {};
  ui_.on_screen[static_cast<std::size_t>(FocusPane::Notices)] = notice_height(session_) > 0;
  ui_.on_screen[static_cast<std::size_t>(FocusPane::Launch)] = true;
  if (!ui_.on_screen[static_cast<std::size_t>(focus::pane())]) focus::set(FocusPane::Launch);
  center_ = {0, top, ImGui::GetIO().DisplaySize.x, top + height};
  pane("launch", {ImVec2(0, top), ImVec2(ImGui::GetIO().DisplaySize.x, height)}, theme().window, ImVec2(0, 0),
       [&] { focused(FocusPane::Launch, [&] { draw_launch(session_, ui_); }); });
}

void AppWindow::draw_panes(float top, float height) {
  PaneSizes& panes = session_.panes();
  const float width = ImGui::GetIO().DisplaySize.x;
  const auto share = [](double ratio, float whole, float least, float most) {
    return std::floor(std::clamp(static_cast<float>(ratio) * whole, std::min(least, most), most));
  };
  float left = panes.left_folded ? 0 : share(panes.left, width, px(180), width * 0.4f);
  float right = panes.right_folded ? 0 : share(panes.right, width, px(220), width * 0.4f);
  float bottom = panes.bottom_folded ? 0 : share(panes.bottom, height, px(90), height * 0.75f);
  // The chart comes first: where it would get too small the panes around it give way.
  const float least_width = px(left > 0 ? 440 : 300), least_height = px(160);
  if (width - left - right < least_width) right = 0;
  if (width - left < least_width) left = 0;
  const bool editing = session_.view().editor && (session_.content().kernel || session_.content().source);
  float editor = editing ? share(panes.editor, width, px(260), width * 0.6f) : 0;
  if (editor > 0 && width - left - right - editor < px(300)) right = 0;
  if (editor > 0 && width - left - right - editor < px(300)) left = 0;
  if (editor > 0) editor = std::max(px(200), std::min(editor, width - left - right - px(240)));
  if (height - bottom < least_height) bottom = height - least_height >= px(90) ? height - least_height : 0;
  // A picture of the chart cannot be scrolled: where rows lie outside, it takes the height of the window for that frame.
  ui_.chart.closest = is_picture_of_chart(session_) && ui_.chart.cut;
  if (ui_.chart.closest) bottom = 0;
  if (ui_.maximized) bottom = height;
  if (!ui_.chart.closest) ui_.on_screen = {!ui_.maximized, bottom > 0, right > 0, left > 0, notice_height(session_) > 0, false};
  if (!ui_.chart.closest && !ui_.on_screen[static_cast<std::size_t>(focus::pane())])
    focus::set(ui_.maximized ? FocusPane::Bottom : FocusPane::Chart);
  const float center = std::max(width - left - editor - right, px(60));
  const float outer = left;
  left += editor;
  const ImVec2 padding(px(12), px(6));
  if (outer > 0)
    pane("left", {ImVec2(0, top), ImVec2(outer, height)}, theme().panel, ImVec2(px(8), px(4)),
         [&] { focused(FocusPane::Left, [&] { draw_left_pane(session_, models_, ui_); }); });
  if (editor > 0)
    pane("editor", {ImVec2(outer, top), ImVec2(editor, height)}, theme().panel, ImVec2(px(8), px(6)), [&] { draw_editor(session_, ui_); });
  center_ = {left, top, left + center, top + (ui_.maximized ? height : height - bottom)};
  // The picture of the graph, and the grid of a layout, hears the keys of charts while the mouse is over it.
  ui_.chart.deaf = bottom > 0 && ((session_.view().tab == BottomTab::Graph && ui_.of<GraphState>().hears_keys) ||
                                  (session_.view().tab == BottomTab::Layout && ui_.of<LayoutTabState>().hears_keys));
  if (bottom < height)
    pane("center", {ImVec2(left, top), ImVec2(center, height - bottom)}, theme().chart, ImVec2(0, 0), [&] {
      if (ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows) && ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        focus::set(FocusPane::Chart);
      draw_center(session_, models_, ui_);
    });
  if (bottom > 0)
    pane("bottom", {ImVec2(left, top + height - bottom), ImVec2(center, bottom)}, theme().panel, padding,
         [&] { focused(FocusPane::Bottom, [&] { draw_bottom_pane(session_, models_, ui_); }); });
  if (ui_.maximized) {  // what only a chart could have done
    ui_.chart.requested.clear();
    WindowRequests& asked = session_.requests();
    asked.fit_all = asked.zoom_to_selection = asked.reveal = false;
  }
  if (right > 0)
    pane("inspector", {ImVec2(left + center, top), ImVec2(right, height)}, theme().panel, padding,
         [&] { focused(FocusPane::Inspector, [&] { draw_inspector(session_, models_, ui_); }); });
  const PaneSizes usual;
  if (outer > 0) splitter("splitter/left", {true, ImVec2(outer, top), height}, {width, 0.05, 0.4, usual.left}, panes.left);
  if (editor > 0) splitter("splitter/editor", {true, ImVec2(left, top), height}, {width, 0.15, 0.6, usual.editor}, panes.editor);
  if (right > 0) splitter("splitter/right", {true, ImVec2(left + center, top), height}, {-width, 0.05, 0.4, usual.right}, panes.right);
  if (bottom > 0 && bottom < height)
    splitter("splitter/bottom", {false, ImVec2(left, top + height - bottom), center}, {-height, 0.05, 0.75, usual.bottom}, panes.bottom);
  if (ui_.maximized || wants_picture()) return;
  // Panes that gave way to the chart for lack of room have no handle: they could not come back. Handles lie off the middle,
  // where one would take hold of an edge to move it.
  const float half = px(6), down = top + height * 0.75f, along = left + center * 0.75f;
  if (outer > 0 || panes.left_folded) fold_handle("left", &PaneSizes::left_folded, outer == 0, ImVec2(outer > 0 ? outer : half, down), ui_);
  if (right > 0 || panes.right_folded)
    fold_handle("right", &PaneSizes::right_folded, right == 0, ImVec2(right > 0 ? left + center : width - half, down), ui_);
  if (bottom > 0 || panes.bottom_folded)
    fold_handle("bottom", &PaneSizes::bottom_folded, bottom == 0, ImVec2(along, bottom > 0 ? top + height - bottom : top + height - half),
                ui_);
}

}  // namespace heddle::app
