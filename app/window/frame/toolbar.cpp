// Menu bar, toolbar and status bar.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/solving.h"
#include "app/session/window_link.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/kernel_cuts.h"
#include "core/chart/chart_layout.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

/// Rounded box with II, bound, status and the facts that matter most; facts and bound go when the room is short. It takes the room that it
/// is given, whatever it says: what stands right of it stays where it is. A click asks why II is not smaller.
void draw_header_chip(HeaderModel header, float height, float room, const Session& session, UiState& ui) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = px(14);
  const float ii = text_size(fonts().title, header.ii).x;
  const float least = px(28) + ii + (header.status.empty() ? 0 : pill_width(fonts().small_bold, header.status) + gap);
  const auto needs = [&](const std::string& text) { return text_size(fonts().small, text).x + gap; };
  if (least + needs(header.bound) + needs(header.facts) > room) header.facts.clear();
  if (least + needs(header.bound) > room) header.bound.clear();
  const float bound = header.bound.empty() ? 0 : text_size(fonts().small, header.bound).x + gap;
  const float pill = header.status.empty() ? 0 : pill_width(fonts().small_bold, header.status) + gap;
  const float facts = header.facts.empty() ? 0 : text_size(fonts().small, header.facts).x + gap;
  const float width = std::max(room, least);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Action& explain = *find_action("explain");
  if (ImGui::InvisibleButton("header", ImVec2(width, height))) perform(explain, session, ui);
  const bool hovered = ImGui::IsItemHovered();
  if (probe::on()) probe::last_item("toolbar/header");
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (hovered) tooltip((header.verdict.empty() ? "" : header.verdict + "\n") + "Why is II not smaller?  " + keys_of(explain));
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), hovered ? t.hovered : t.input, px(5));
  list.AddRect(at, ImVec2(at.x + width, at.y + height), hovered ? t.accent : t.border, px(5));
  const auto middle = [&](ImFont* font) { return at.y + (height - text_size(font, "X").y) / 2; };
  float x = at.x + px(14);
  paint_text(fonts().title, ImVec2(x, middle(fonts().title)), t.text, header.ii);
  x += ii + gap;
  if (bound > 0) {
    paint_text(fonts().small, ImVec2(x, middle(fonts().small)), t.dim, header.bound);
    x += bound;
  }
  if (pill > 0) {
    const float high = px(18);
    x += paint_pill(ImVec2(x, at.y + (height - high) / 2), high, fonts().small_bold, header.status, header.tone) + gap;
  }
  if (facts > 0) paint_text(fonts().small, ImVec2(x, middle(fonts().small)), t.dim, header.facts);
}

/// Beside it the whole kernel: time and speed, and below them on what terms; a click shows where the time goes. Where the room is short
/// only "predicted" stands below them. Returns the room it takes; 0: there is not enough.
float whole_chip_width(const WholeKernelModel& whole, float room, bool& terms) {
  if (!whole.known() && !whole.awaited) return 0;
  // As wide before the numbers are there as with them, and with others.
  const float speed = std::max(text_size(fonts().small_bold, "88.88 ms · 8888 TFLOP/s").x, text_size(fonts().small_bold, whole.speed).x);
  const float about =
      std::max(text_size(fonts().small, "1 CTA per SM · 8888 MHz · validated, spread 88 %").x, text_size(fonts().small, whole.terms).x);
  const float most = std::max(speed, about) + px(34) + pill_width(fonts().small_bold, "PREDICTED");
  terms = most <= room;
  return terms ? most : speed + px(24) <= room ? speed + px(24) : 0;
}

void draw_whole_chip(const WholeKernelModel& whole, bool terms, float width, float height, UiState& ui) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos(), end(at.x + width, at.y + height);
  if (ImGui::InvisibleButton("whole kernel", ImVec2(width, height))) ui.commands.push(show_tab(BottomTab::Simulate));
  const bool hovered = ImGui::IsItemHovered();
  if (probe::on()) probe::last_item("toolbar/whole");
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (hovered && !whole.known()) tooltip("time and speed of the whole kernel are predicted as soon as the schedule stands");
  if (hovered && whole.known()) {
    std::string text = "The whole kernel on the whole machine, predicted by the simulator";
    for (const WholeKernelModel::Fact& fact : whole.facts) text += fmt::format("\n{}: {}", fact.label, fact.value);
    tooltip(drawable(text + "\n" + whole.trust));
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, end, hovered ? t.hovered : t.input, px(5));
  list.AddRect(at, end, hovered ? t.accent : t.border, px(5));
  const float line = text_size(fonts().small, "X").y, high = px(18), x = at.x + px(12);
  const float top = at.y + (height - 2 * line) / 2;
  if (!whole.known())
    return paint_text(fonts().small, ImVec2(x, at.y + (height - line) / 2), t.faint, terms ? "time and speed follow" : "...");
  paint_text(fonts().small_bold, ImVec2(x, top), t.text, drawable(whole.speed));
  paint_text(fonts().small, ImVec2(x, top + line), t.dim, terms ? drawable(whole.terms) : "predicted");
  if (terms)
    paint_pill(ImVec2(end.x - px(12) - pill_width(fonts().small_bold, "PREDICTED"), at.y + (height - high) / 2), high, fonts().small_bold,
               "PREDICTED", Tone::Neutral);
}

void draw_choices(const char* title, Shelf shelf, const std::string& current, const Session& session, UiState& ui) {
  section(title);
  for (const LibraryEntry& entry : list_library(shelf)) {
    const std::string name = std::string(shelf == Shelf::Kernels ? "subject/kernel/" : "subject/machine/") + entry.name;
    const RowArea row = pick_row(name.c_str(), entry.name == current, px(24));
    std::string machines;
    if (shelf == Shelf::Kernels)
      for (const std::string& machine : machines_for_shipped(entry.name)) machines += (machines.empty() ? "" : " ") + machine;
    const float aside = text_size(fonts().small, machines).x, room = row.max.x - row.min.x - aside - px(26);
    paint_text(fonts().body, ImVec2(row.min.x + px(8), row.min.y + px(3)), theme().text, fitted_middle(fonts().body, entry.name, room));
    paint_text_right(fonts().small, row.max.x - px(8), row.min.y + px(5), theme().faint, machines);
    if (!row.clicked) continue;
    if (shelf == Shelf::Kernels)
      ui.commands.push(OpenKernel{entry.name, true});
    else
      ui.commands.push(OpenMachine{entry.name, true});
    if (session.content().kernel) ImGui::CloseCurrentPopup();
  }
}

void draw_params(const Session& session, UiState& ui) {
  const Content& content = session.content();
  if (!content.kernel || content.kernel->params.empty()) return;
  section("PARAMETERS");
  for (const Param& param : content.kernel->params) {
    const auto found = content.overrides.find(param.name);
    std::int64_t value = found == content.overrides.end() ? param.value : found->second;
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(param.name.c_str());
    if (!param.about.empty() && ImGui::IsItemHovered()) tooltip(param.about);
    ImGui::SameLine(px(110));
    ImGui::SetNextItemWidth(px(110));
    const std::string id = "##param" + param.name;
    if (ImGui::InputScalar(id.c_str(), ImGuiDataType_S64, &value, nullptr, nullptr, "%lld", ImGuiInputTextFlags_EnterReturnsTrue))
      ui.commands.push(SetParam{param.name, value});
    if (probe::on()) probe::last_item("subject/param/" + param.name);
    for (std::int64_t choice : param.choices) {
      ImGui::SameLine();
      const std::string name = fmt::format("subject/param/{}/{}", param.name, choice);
      if (button(name.c_str(), std::to_string(choice), ButtonKind::Flat)) ui.commands.push(SetParam{param.name, choice});
    }
  }
}

/// Tiles cut into parts, so that warp groups can share them; a kernel that is cut is another kernel, opened in its place.
void draw_cuts(const Session& session, UiState& ui) {
  const Content& content = session.content();
  if (!content.kernel || !content.allows(SourceUse::Cuts)) return;
  const std::vector<std::string> names = parameters_to_cut(*content.kernel);
  if (names.empty()) return;
  section("CUT TILES INTO PARTS");
  for (const std::string& name : names) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(name.c_str());
    for (const std::int64_t parts : {2, 4}) {
      ImGui::SameLine(parts == 2 ? px(110) : 0, px(6));
      const std::string id = fmt::format("subject/cut/{}/{}", name, parts);
      if (!button(id.c_str(), std::to_string(parts), ButtonKind::Flat, why_no_cut(session))) continue;
      open_cut(session, ui, {name, parts});
      ImGui::CloseCurrentPopup();
    }
  }
}

/// "attention_forward_hopper · h100", a click opens the choice of kernel, machine and parameters.
void draw_subject(const Session& session, const Models& models, UiState& ui, float height, float room) {
  const Content& content = session.content();
  const std::string text = fitted(fonts().body, models.header.subject.empty() ? "no kernel" : models.header.subject, room);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = text_size(fonts().body, text);
  if (ImGui::InvisibleButton("subject", ImVec2(size.x + px(28), height)) || ui.choose_subject) ImGui::OpenPopup("subject");
  ui.choose_subject = false;
  if (probe::on()) probe::last_item("toolbar/subject");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered()) list.AddRectFilled(at, ImVec2(at.x + size.x + px(28), at.y + height), theme().hovered, px(5));
  paint_text(fonts().body, ImVec2(at.x + px(8), at.y + (height - size.y) / 2), theme().text, text);
  const float x = at.x + size.x + px(15), y = at.y + height / 2 - px(1);
  list.AddTriangleFilled(ImVec2(x, y), ImVec2(x + px(8), y), ImVec2(x + px(4), y + px(5)), theme().dim);
  if (probe::on()) probe::item("toolbar/subject/arrow", x - px(7), at.y, at.x + size.x + px(28), at.y + height);
  // Inside the window, and scrolling where it is too low for all kernels.
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float wide = px(430), top = at.y + height + px(4);
  ImGui::SetNextWindowPos(ImVec2(std::clamp(at.x, 0.0f, std::max(0.0f, display.x - wide - px(8))), top));
  ImGui::SetNextWindowSizeConstraints(ImVec2(wide, 0), ImVec2(wide, std::max(px(80), display.y - top - px(12))));
  if (ImGui::BeginPopup("subject")) {
    draw_choices("MACHINE", Shelf::Machines, content.machine ? content.machine->name : "", session, ui);
    draw_params(session, ui);
    draw_cuts(session, ui);
    draw_choices("KERNEL", Shelf::Kernels, content.kernel ? content.kernel->name : "", session, ui);  // the longest list comes last
    ImGui::EndPopup();
  }
}

/// "1 change", beside the machine whose numbers, or the kernel's, are not those of its file; a click shows which.
void draw_changes(const Session& session, const std::string& text, UiState& ui, float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = pill_width(fonts().small_bold, text), high = px(20);
  const Content& content = session.content();
  const bool edited = content.machine_text && content.machine_text->own;
  if (ImGui::InvisibleButton("changes", ImVec2(width, height)))
    ui.commands.push(edited ? show_editor(SourceOf::Machine) : show_tab(BottomTab::WhatIf));
  if (probe::on()) probe::last_item("toolbar/changes");
  if (ImGui::IsItemHovered()) {
    std::string list = "Not the numbers of the files:";
    if (edited) list += "\nthe machine's text was edited and is in no file";
    if (content.problem)
      for (const std::string& change : content.problem->changes) list += "\n" + change;
    tooltip(list);
  }
  paint_pill(ImVec2(at.x, at.y + (height - high) / 2), high, fonts().small_bold, text, Tone::Warning);
}

/// Looks like a field; the palette is where one types.
void draw_find(UiState& ui, const Session& session, float width, float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), end(at.x + width, at.y + height);
  const Action& find = *find_action("find");
  if (ImGui::InvisibleButton("toolbar/find", ImVec2(width, height))) perform(find, session, ui);
  if (probe::on()) probe::last_item("toolbar/find");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool hovered = ImGui::IsItemHovered();
  list.AddRectFilled(at, end, hovered ? theme().hovered : theme().input, px(4));
  list.AddRect(at, end, hovered ? theme().accent : theme().edge, px(4));
  const ImVec2 keys = text_size(fonts().mono_small, keys_of(find));
  const char* label = width >= px(150) ? "Find op or command" : "Find";
  const bool both = text_size(fonts().body, label).x + keys.x + px(34) <= width;
  paint_text(fonts().body, ImVec2(at.x + px(10), at.y + (height - text_size(fonts().body, "X").y) / 2), theme().dim,
             fitted(fonts().body, label, width - px(16)));
  if (both) paint_text(fonts().mono_small, ImVec2(end.x - keys.x - px(10), at.y + (height - keys.y) / 2), theme().faint, keys_of(find));
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
}

void draw_recent_menu(const Session& session, UiState& ui) {
  const std::vector<std::string>& recent = session.settings().recent;
  if (!ImGui::BeginMenu("Open recent", !recent.empty())) return;
  for (const std::string& name : recent) {
    const bool clicked = ImGui::MenuItem(name.c_str());
    const bool entered = ui.menu_by_key && ImGui::IsItemFocused() && key_pressed(Key::Enter);
    if (entered && !clicked) ImGui::CloseCurrentPopup();
    if (clicked || entered) ui.commands.push(OpenFile{name, true});
  }
  ImGui::EndMenu();
}

}  // namespace

namespace {

/// Alt and the first letter of a menu; then arrows move, Enter takes, Esc leaves.
void open_menu_by_key(const char* menu, UiState& ui) {
  const ImGuiIO& io = ImGui::GetIO();
  const Key letter = static_cast<Key>(static_cast<int>(Key::A) + *menu - 'A');
  if (!io.KeyAlt || io.KeyCtrl || io.KeyShift || io.WantTextInput || in_dialog() || !key_pressed(letter)) return;
  ImGui::OpenPopup(menu);
  ui.menu_by_key = true;
}

/// ImGui moves through menus, and through nothing else: panes have keys of their own. Alt would mean the bar itself.
void let_keys_move(bool open, UiState& ui) {
  ImGuiIO& io = ImGui::GetIO();
  ui.menu_by_key &= open;
  if (ui.menu_by_key && !io.KeyAlt)
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  else
    io.ConfigFlags &= ~ImGuiConfigFlags_NavEnableKeyboard;
}

}  // namespace

void draw_menu_bar(const Session& session, UiState& ui) {
  if (!ImGui::BeginMainMenuBar()) return;
  bool any = false;
  for (const char* menu : menus()) {
    open_menu_by_key(menu, ui);
    const bool open = ImGui::BeginMenu(menu);
    any |= open;
    if (probe::on() && !open) probe::last_item(std::string("menu/") + menu);
    if (!open) continue;
    for (const Action& action : actions()) {
      if (std::strcmp(action.menu, menu) != 0) continue;
      if (action.line_before) ImGui::Separator();
      const std::string reason = why_not(action, session);
      std::string label = action.label;
      if (std::strcmp(action.id, "undo") == 0 && session.next_undo()) label += ": " + *session.next_undo();
      if (std::strcmp(action.id, "redo") == 0 && session.next_redo()) label += ": " + *session.next_redo();
      const bool checked = action.checked && action.checked(session);
      const bool clicked = ImGui::MenuItem((label + "##" + action.id).c_str(), keys_of(action).c_str(), checked, reason.empty());
      const bool entered = ui.menu_by_key && reason.empty() && ImGui::IsItemFocused() && key_pressed(Key::Enter);
      if (entered && !clicked) ImGui::CloseCurrentPopup();
      if (clicked || entered) perform(action, session, ui);
      if (probe::on()) probe::last_item(std::string("menu/") + action.id);
      if (std::strcmp(action.id, "open") == 0) draw_recent_menu(session, ui);
      if (!reason.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) tooltip(reason);
    }
    ImGui::EndMenu();
  }
  let_keys_move(any, ui);
  ImGui::EndMainMenuBar();
}

void draw_toolbar(const Session& session, const Models& models, UiState& ui) {
  const float height = px(32);
  const float gap = px(8);
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  const Action& solve = *find_action("solve");
  const Action& cancel = *find_action("cancel");
  const Action& explain = *find_action("explain");
  if (button("toolbar/open", "Open", ButtonKind::Plain, {}, {0, height})) perform(*find_action("open"), session, ui);
  ImGui::SameLine(0, gap);
  const bool running = session.live().active();
  // Where room is short only the button that can be used is there.
  const bool narrow = right < px(800), wide = right >= px(1180);
  if (!narrow || !running) {
    // One width for both words: what is right of it stays where it is.
    const std::string keys = narrow || keys_of(solve).empty() ? "" : " " + keys_of(solve);
    const std::string label = (session.solving().why_no_continue().empty() ? "Continue" : "Solve") + keys;
    const float room = text_size(fonts().bold, "Continue" + keys).x + 2 * ImGui::GetStyle().FramePadding.x;
    if (button("toolbar/solve", label, ButtonKind::Primary, why_not(solve, session), {room, height})) perform(solve, session, ui);
  }
  if (!narrow) ImGui::SameLine(0, gap);
  if ((!narrow || running) && button("toolbar/cancel", session.live().phase == LiveSolve::Phase::Stopping ? "Stopping" : "Cancel",
                                     ButtonKind::Plain, why_not(cancel, session), {0, height}))
    perform(cancel, session, ui);
  if (wide) {
    ImGui::SameLine(0, px(2));
    const std::string limit = fmt::format("{} s", session.settings().search_seconds);
    if (button("toolbar/limit", limit, ButtonKind::Flat, {}, {0, height})) begin_limit(ui);
    if (ImGui::IsItemHovered()) tooltip("time limit of searches and questions");
    ImGui::SameLine(0, gap);
    const std::string minus = fonts().built_in ? "-" : "−";
    if (button("toolbar/explain", "Why not II" + minus + "1?", ButtonKind::Plain,
               session.content().problem ? why_not(explain, session) : "no kernel is open on a machine", {0, height}))
      perform(explain, session, ui);
  }
  ImGui::SameLine(0, narrow ? gap : px(18));
  const float rest = right - ImGui::GetCursorPosX();
  const float find_width = std::clamp(rest * 0.22f, px(56), px(230));
  if (session.content().kernel || session.content().source) {
    const float subject = text_size(fonts().body, models.header.subject).x + px(28);
    const float chooser = (narrow ? px(50) : std::clamp(subject, px(150), rest * 0.34f)) +
                          (models.header.changes.empty() ? 0 : pill_width(fonts().small_bold, models.header.changes) + gap);
    const float room = rest - find_width - chooser - 2 * gap;
    bool terms = false;
    const float whole = whole_chip_width(models.header.whole, std::max(room - px(196), 0.0f), terms);
    draw_header_chip(models.header, height, std::min(room - (whole > 0 ? whole + gap : 0), px(620)), session, ui);
    ImGui::SameLine(0, gap);
    if (whole > 0) {
      draw_whole_chip(models.header.whole, terms, whole, height, ui);
      ImGui::SameLine(0, gap);
    }
    const std::string& changes = models.header.changes;
    const float chip = changes.empty() ? 0 : pill_width(fonts().small_bold, changes) + gap;
    const float left = right - ImGui::GetCursorPosX() - find_width - gap - px(28) - chip;
    draw_subject(session, models, ui, height, std::max(left, px(12)));
    if (chip > 0) {
      ImGui::SameLine(0, gap);
      draw_changes(session, changes, ui, height);
    }
  }
  ImGui::SameLine();
  ImGui::SetCursorPosX(right - find_width);
  draw_find(ui, session, find_width, height);
}

void draw_status_bar(const Session& session, const Models&, const UiState& ui) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const std::string& keys = keys_of("keys");
  std::string right = keys.substr(0, keys.find(' ')) + (keys.empty() ? "" : " keys");
  if (const int number = session.windows().window_number()) right = fmt::format("window {}   {}", number, right);
  if (ui.chart.range)
    right = drawable(describe(*ui.chart.range)) + "   " + right;
  else if (ui.chart.hovered_cycle && session.content().entry())
    right = "cycle " + grouped(*ui.chart.hovered_cycle) + "   " + right;
  const float room = width - text_size(fonts().small, right).x - px(30);
  paint_text(fonts().small, at, theme().dim, fitted(fonts().small, drawable(pretty(solver_line(session))), room));
  paint_text_right(fonts().small, at.x + width, at.y, theme().dim, right);
  ImGui::Dummy(ImVec2(width, px(12)));
}

}  // namespace heddle::app
