#include "app/window/frame/schedule_list.h"

#include <fmt/format.h>

#include "app/session/commands.h"
#include "app/window/chart/compare_model.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr const char* kPayload = "schedule";
constexpr float kListRow = 44;

void begin_rename(const Session& session, UiState& ui, std::size_t index) {
  const ScheduleEntry& entry = *session.content().schedules[index];
  if (entry.running) return;
  ScheduleListState& state = ui.of<ScheduleListState>();
  state.renaming = index;
  state.just_opened = true;
  std::snprintf(state.name, sizeof state.name, "%s", entry.name.c_str());
}

/// The name as a text field in its own row. Enter and leaving the field keep what was typed, Esc does not.
void draw_rename(UiState& ui, std::size_t index, ImVec2 at, float width) {
  ScheduleListState& state = ui.of<ScheduleListState>();
  const ImVec2 after = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos(ImVec2(at.x - px(4), at.y));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(4), px(1)));
  if (state.just_opened) ImGui::SetKeyboardFocusHere();
  input_field("schedules/rename", "name", state.name, sizeof state.name, width);
  ImGui::PopStyleVar();
  const bool ended = ImGui::IsItemDeactivated() || (!state.just_opened && !ImGui::IsItemActive());
  state.just_opened = false;
  ImGui::SetCursorScreenPos(after);
  if (!ended) return;
  if (!key_pressed(Key::Escape) && state.name[0] != 0) ui.commands.push(RenameSchedule{index, state.name});
  state.renaming.reset();
}

/// Letters at the right end of the title: what a row can be dropped on.
void draw_chips(const Session& session, UiState& ui, ImVec2 title) {
  const Content& content = session.content();
  const ImVec2 after = ImGui::GetCursorScreenPos();
  const float size = px(18), width = ImGui::GetContentRegionAvail().x;
  float x = title.x + width - 2 * size - px(14);
  for (const bool b : {false, true}) {
    ImGui::SetCursorScreenPos(ImVec2(x, title.y));
    ImGui::PushID(b ? "chip b" : "chip a");
    const bool pressed = ImGui::InvisibleButton("chip", ImVec2(size, size));
    ImGui::PopID();
    if (probe::on()) probe::last_item(b ? "schedules/chip/b" : "schedules/chip/a");
    accept_schedule(session, ui, b);
    const bool set = b ? content.baseline.has_value() : content.shown.has_value();
    paint_badge(x, title.y, size, b, set);
    if (ImGui::IsItemHovered())
      tooltip(b ? (set ? "B: " + content.baseline_entry()->name + ". Click to end the comparison; drop a row here to change it."
                       : std::string("B: drop a row here to compare it with A, or press B"))
                : (set ? "A: " + content.entry()->name + ", the schedule that is shown" : std::string("A: the schedule that is shown")));
    if (pressed && b && set) ui.commands.push(SetBaseline{});
    x += size + px(6);
  }
  ImGui::SetCursorScreenPos(after);
}

void draw_row_menu(const Session& session, UiState& ui, std::size_t i, const std::string& name) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(8), px(8)});
  if (ImGui::BeginPopupContextItem(name.c_str())) {
    const Content& content = session.content();
    const auto item = [&](const char* label, const char* keys, const char* id, bool enabled) {
      const bool chosen = ImGui::MenuItem(label, keys, false, enabled);
      if (probe::on()) probe::last_item(std::string("schedules/menu/") + id);
      return chosen;
    };
    if (item("Show as A", "click", "a", content.shown != i)) ui.commands.push(SelectSchedule{i});
    if (item("Compare with A, as B", "Ctrl+click", "b", content.shown != i && content.baseline != i)) ui.commands.push(SetBaseline{i});
    if (item("Swap A and B", keys_of("swap_ab").c_str(), "swap", content.baseline.has_value())) ui.commands.push(SwapBaseline{});
    if (item("End the comparison", "", "no_b", content.baseline.has_value())) ui.commands.push(SetBaseline{});
    ImGui::Separator();
    if (item("Rename ...", "F2", "rename", !content.schedules[i]->running)) begin_rename(session, ui, i);
    if (item("Copy name", "", "copy", true)) ui.commands.push(copy_text(content.schedules[i]->name));
    if (item("Remove from the list", "Delete", "remove", true)) ui.commands.push(RemoveSchedule{i});
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

void handle_keys(const Session& session, UiState& ui) {
  const Content& content = session.content();
  ScheduleListState& state = ui.of<ScheduleListState>();
  if (!state.focused || state.renaming || ImGui::GetIO().WantTextInput || !content.shown) return;
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) return;
  // The row above or below A that is not B: walking must not swap the two.
  const auto step = [&](int direction) {
    for (std::size_t i = *content.shown; direction < 0 ? i > 0 : i + 1 < content.schedules.size();) {
      i = direction < 0 ? i - 1 : i + 1;
      if (content.baseline != i) return ui.commands.push(SelectSchedule{i});
    }
  };
  if (key_pressed(Key::Up, true)) step(-1);
  if (key_pressed(Key::Down, true)) step(1);
  if (key_pressed(Key::Enter)) ui.commands.push(SetBaseline{*content.shown});
  if (key_pressed(Key::F2)) begin_rename(session, ui, *content.shown);
  if (key_pressed(Key::Delete)) ui.commands.push(RemoveSchedule{*content.shown});
}

std::string row_tip(const Session& session, std::size_t i) {
  const Content& content = session.content();
  const ScheduleEntry& entry = *content.schedules[i];
  std::string text = entry.name;
  if (!entry.file.empty()) text += "\n" + entry.file;
  if (!entry.verdict.valid()) text += "\nfirst violation: " + entry.verdict.violations.front().message;
  if (const std::string why = why_this_ii(entry); !why.empty()) text += fmt::format("\nII {}: {}", grouped(entry.schedule.ii), why);
  if (const ScheduleEntry* a = content.entry(); a && a != &entry && a->schedule.ii != entry.schedule.ii)
    text += fmt::format("\nA, {}, has II {}: {}", a->name, grouped(a->schedule.ii), why_this_ii(*a));
  if (const WholeKernelModel whole = whole_kernel(session, entry); whole.known())
    text += fmt::format("\nwhole kernel, predicted: {}\n{}", whole.speed, whole.terms);
  if (!entry.schedule.provenance.note.empty()) text += "\n" + entry.schedule.provenance.note;
  return text;
}

void draw_row(const Session& session, UiState& ui, std::size_t i) {
  const Content& content = session.content();
  const ScheduleEntry& entry = *content.schedules[i];
  const bool is_a = content.shown == i, is_b = content.baseline == i;
  const ScheduleLine line = describe_entry(entry);
  const std::string name = fmt::format("schedules/{}", i);
  const RowArea row = pick_row(name.c_str(), is_a, px(kListRow));
  const bool released = ImGui::IsItemDeactivated() && row.hovered && !ImGui::GetDragDropPayload();
  if (ImGui::BeginDragDropSource(ImGuiDragDropFlags_SourceNoHoldToOpenOthers)) {
    ImGui::SetDragDropPayload(kPayload, &i, sizeof i);
    ImGui::TextUnformatted(fmt::format("{}  II {}: drop on A or B", entry.name, line.ii).c_str());
    ImGui::EndDragDropSource();
  }
  if (row.hovered && !ImGui::GetDragDropPayload()) tooltip(row_tip(session, i));
  draw_row_menu(session, ui, i, name);
  const float badge = px(20), top = row.min.y + px(12), left = row.min.x + px(8);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool over_badge = row.hovered && mouse.x < left + badge + px(4);
  if (is_a || is_b)
    paint_badge(left, top, badge, is_b);
  else if (row.hovered && content.shown)
    paint_badge(left, top, badge, true, over_badge);
  if (probe::on()) probe::item(name + "/badge", left, top, left + badge, top + badge);
  if (is_b) {
    // B is lit too, more quietly than A.
    ImGui::GetWindowDrawList()->AddRectFilled(row.min, ImVec2(row.min.x + px(3), row.max.y), theme().second, px(1));
  }
  const float text = left + badge + px(9), right = row.max.x - px(10);
  const float number = text_size(fonts().mono_bold, line.ii).x;
  const float room = right - number - px(8) - text;
  if (ui.of<ScheduleListState>().renaming == i)
    draw_rename(ui, i, ImVec2(text, row.min.y + px(3)), room);
  else
    paint_text(fonts().body, ImVec2(text, row.min.y + px(5)), theme().text, fitted_middle(fonts().body, line.name, room));
  const ScheduleEntry* a = content.entry();
  const Cycle apart = a && !is_a ? entry.schedule.ii - a->schedule.ii : 0;
  const std::string against = apart == 0 ? "" : fmt::format("{}{} to A", apart > 0 ? "+" : "-", grouped(std::abs(apart)));
  const float against_width = against.empty() ? 0 : text_size(fonts().small, against).x + px(8);
  const std::string detail = fitted(fonts().small, line.detail, right - against_width - text);
  paint_text(fonts().small, ImVec2(text, row.min.y + px(24)), tone_ink(line.tone), detail);
  if (std::string speed = whole_kernel_speed(session, entry); !speed.empty()) {
    const float from = text + text_size(fonts().small, detail).x;
    speed.insert(0, " · ");
    if (from + text_size(fonts().small, speed).x <= right - against_width)
      paint_text(fonts().small, ImVec2(from, row.min.y + px(24)), theme().dim, speed);
  }
  paint_text_right(fonts().mono_bold, right, row.min.y + px(5), theme().text, line.ii);
  if (!against.empty()) paint_text_right(fonts().small, right, row.min.y + px(24), theme().dim, against);
  if (row.double_clicked) return begin_rename(session, ui, i);
  if (!released || ui.of<ScheduleListState>().renaming == i) return;
  if (ImGui::GetIO().KeyCtrl || (over_badge && !is_a && !is_b))
    ui.commands.push(SetBaseline{i});
  else
    ui.commands.push(SelectSchedule{i});
}

}  // namespace

void accept_schedule(const Session& session, UiState& ui, bool as_b) {
  if (!ImGui::BeginDragDropTarget()) return;
  if (const ImGuiPayload* payload = ImGui::AcceptDragDropPayload(kPayload)) {
    const std::size_t index = *static_cast<const std::size_t*>(payload->Data);
    if (index < session.content().schedules.size()) {
      if (as_b)
        ui.commands.push(SetBaseline{index});
      else
        ui.commands.push(SelectSchedule{index});
    }
  }
  ImGui::EndDragDropTarget();
}

float schedule_list_height(const Session& session) {
  const Content& content = session.content();
  return px(34) + (content.schedules.empty() ? px(64) : static_cast<float>(content.schedules.size()) * (px(kListRow) + px(3)));
}

void draw_schedule_list(const Session& session, UiState& ui) {
  const Content& content = session.content();
  ui.of<ScheduleListState>().focused = ImGui::IsWindowFocused();
  ui.chart.rows_keys = !ui.of<ScheduleListState>().focused;
  const ImVec2 title = ImGui::GetCursorScreenPos();
  section("SCHEDULES");
  if (content.schedules.empty()) {
    const bool running = session.live().active();
    wrapped_text(fonts().small, theme().dim,
                 content.source && !content.kernel ? "None: the middle says why."
                 : !content.problem                ? "None. First choose a machine that can run this kernel."
                 : running                         ? "Solving. The first schedule appears here as soon as it is found."
                                                   : "None yet. Press F5 to solve, or drop a schedule file on the window.");
    return;
  }
  draw_chips(session, ui, ImVec2(title.x, title.y + ImGui::GetStyle().ItemSpacing.y));
  if (ui.of<ScheduleListState>().renaming && *ui.of<ScheduleListState>().renaming >= content.schedules.size())
    ui.of<ScheduleListState>().renaming.reset();
  for (std::size_t i = 0; i < content.schedules.size(); ++i) draw_row(session, ui, i);
  handle_keys(session, ui);
}

}  // namespace heddle::app
