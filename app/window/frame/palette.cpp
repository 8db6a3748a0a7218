#include "app/window/frame/palette.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/fuzzy.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/tabs.h"
#include "core/base/letters.h"
#include "core/chart/chart_layout.h"
#include "core/library/library.h"
#include "core/schedule/constraint_text.h"

namespace heddle::app {
namespace {

struct Entry {
  std::vector<Command> commands;
  const Action* action = nullptr;
  std::string keys, why_not;
  std::string kernel = {};  ///< a shipped one, which a machine that is typed too is opened with
};

struct Contents {
  std::vector<Choice> choices;
  std::vector<Entry> entries;  ///< beside them

  void add(Choice choice, Entry entry) {
    choices.push_back(std::move(choice));
    entries.push_back(std::move(entry));
  }
};

void add_ops(Contents& out, const Session& session, const char* kind) {
  const Content& content = session.content();
  if (!content.problem) return;
  for (std::size_t i = 0; i < content.problem->ops.size(); ++i) {
    const Op& op = content.problem->ops[i];
    std::string detail = op.kind;
    if (const ScheduleEntry* entry = content.entry()) detail = "start " + grouped(entry->schedule.start(OpId(i))) + " · " + op.kind;
    out.add({"op/" + op.name, kind, op.name, detail}, {{SelectOp{OpId(i)}, zoom_to_selection()}, nullptr, {}, {}});
  }
}

void add_document(Contents& out, const Session& session) {
  const Content& content = session.content();
  for (std::size_t i = 0; i < content.schedules.size(); ++i) {
    const ScheduleEntry& entry = *content.schedules[i];
    out.add({"schedule/" + entry.name, "schedule", entry.name, "II " + grouped(entry.schedule.ii)}, {{SelectSchedule{i}}, nullptr, {}, {}});
  }
  for (std::size_t i = 0; i < content.constraints.size(); ++i) {
    const UserConstraint& constraint = content.constraints[i];
    const std::string text = describe(constraint);
    out.add({"constraint/" + std::to_string(i), "constraint", text, constraint.enabled ? "on" : "off"},
            {{ToggleConstraint{i}, show_tab(BottomTab::Constraints)}, nullptr, {}, {}});
  }
}

void add_shelf(Contents& out, Shelf shelf) {
  for (const LibraryEntry& entry : list_library(shelf)) {
    if (shelf == Shelf::Machines) {
      out.add({"machine/" + entry.name, "machine", entry.name, ""}, {{OpenMachine{entry.name, true}}, nullptr, {}, {}});
      continue;
    }
    std::string machines;
    for (const std::string& name : machines_for_shipped(entry.name)) machines += (machines.empty() ? "" : " ") + name;
    out.add({"kernel/" + entry.name, "kernel", entry.name, machines}, {{OpenKernel{entry.name, true}}, nullptr, {}, {}, entry.name});
  }
}

void add_actions(Contents& out, const Session& session) {
  for (const Action& action : actions())
    out.add({std::string("action/") + action.id, "command", action.label, action.menu},
            {{}, &action, keys_of(action), why_not(action, session)});
}

Contents contents_of(const Session& session, PaletteState::Scope scope, bool commands_only) {
  Contents out;
  if (commands_only) {
    add_actions(out, session);
    return out;
  }
  if (scope == PaletteState::Scope::Everything || scope == PaletteState::Scope::Ops)
    add_ops(out, session, scope == PaletteState::Scope::Ops ? "" : "op");
  if (scope == PaletteState::Scope::Everything) {
    add_document(out, session);
    add_actions(out, session);
    for (const Tab& tab : tabs()) out.add({std::string("tab/") + tab.id, "tab", tab.label, ""}, {{show_tab(tab.tab)}, nullptr, {}, {}});
    for (const std::string& name : session.settings().recent)
      out.add({"recent/" + name, "recent", base_name(name), name}, {{OpenFile{name, true}}, nullptr, {}, {}});
  }
  if (scope == PaletteState::Scope::Everything || scope == PaletteState::Scope::Kernels) add_shelf(out, Shelf::Kernels);
  if (scope == PaletteState::Scope::Everything || scope == PaletteState::Scope::Machines) add_shelf(out, Shelf::Machines);
  return out;
}

const char* hint_of(PaletteState::Scope scope) {
  switch (scope) {
    case PaletteState::Scope::Everything: return "op, schedule, kernel, machine, tab or command; > for commands only";
    case PaletteState::Scope::Commands: return "command";
    case PaletteState::Scope::Ops: return "find op: Enter goes to the next match, Shift+Enter back";
    case PaletteState::Scope::Kernels: return "open kernel";
    case PaletteState::Scope::Machines: return "open machine";
  }
  return "";
}

/// The label with its matched letters in bold; what does not fit is cut.
void paint_label(ImVec2 at, float room, Color ink, const std::string& label, const std::vector<std::size_t>& letters) {
  ImFont *plain = fonts().body, *bold = fonts().bold;
  if (letters.empty() || text_size(bold, label).x > room) return paint_text(plain, at, ink, fitted(plain, label, room));
  for (std::size_t i = 0; i < label.size();) {
    const bool matched = std::binary_search(letters.begin(), letters.end(), i);
    std::size_t end = i + 1;
    while (end < label.size() &&
           (std::binary_search(letters.begin(), letters.end(), end) == matched || (static_cast<unsigned char>(label[end]) & 0xC0) == 0x80))
      ++end;
    const std::string piece = label.substr(i, end - i);
    paint_text(matched ? bold : plain, at, matched ? theme().accent : ink, piece);
    const float width = text_size(matched ? bold : plain, piece).x;
    // Without a bold font, and for those who do not see the colour, a line tells them apart.
    if (matched) {
      const float y = at.y + text_size(plain, "X").y;
      ImGui::GetWindowDrawList()->AddLine(ImVec2(at.x, y), ImVec2(at.x + width - px(1), y), theme().accent);
    }
    at.x += width;
    i = end;
  }
}

struct Row {
  const Choice& choice;
  const Entry& entry;
  const std::vector<std::size_t>& letters;
};

/// True when it was clicked.
bool draw_row(const Row& row, bool chosen) {
  const float height = px(26);
  const RowArea area = pick_row(("palette/" + row.choice.id).c_str(), chosen, height);
  const bool can = row.entry.why_not.empty();
  const float middle = area.min.y + (height - text_size(fonts().body, "X").y) / 2;
  const float small = area.min.y + (height - text_size(fonts().small, "X").y) / 2;
  const float mono = area.min.y + (height - text_size(fonts().mono_small, "X").y) / 2;
  float right = area.max.x - px(10);
  const float kind = px(76);
  paint_text_right(fonts().small, right, small, theme().faint, row.choice.kind);
  right -= kind;
  if (!row.entry.keys.empty()) {
    paint_text_right(fonts().mono_small, right, mono, theme().dim, row.entry.keys);
    right -= text_size(fonts().mono_small, row.entry.keys).x + px(14);
  }
  const float left = area.min.x + px(10), room = right - left;
  paint_label(ImVec2(left, middle), room, can ? theme().text : theme().faint, row.choice.label, row.letters);
  const float label = text_size(fonts().bold, row.choice.label).x + px(14);
  const std::string& aside = can ? row.choice.detail : row.entry.why_not;
  if (room - label > px(50))
    paint_text(fonts().small, ImVec2(left + label, small), can ? theme().faint : theme().warning,
               fitted(fonts().small, aside, room - label));
  return area.clicked;
}

/// A word of what was typed that is the name of a machine which runs the kernel.
std::optional<std::string> machine_typed(std::string_view typed, const std::string& kernel) {
  for (const std::string& name : machines_for_shipped(kernel))
    for (std::size_t at = typed.find(name); at != std::string_view::npos; at = typed.find(name, at + 1))
      if ((at == 0 || typed[at - 1] == ' ') && (at + name.size() == typed.size() || typed[at + name.size()] == ' ')) return name;
  return std::nullopt;
}

/// Letters belong to the palette from the moment it is called; its field takes them over a frame or two later.
void take_early_letters(PaletteState& state) {
  const std::string typed = take_typed_text();
  const std::size_t length = std::strlen(state.text);
  if (length + typed.size() < sizeof state.text) std::memcpy(state.text + length, typed.c_str(), typed.size() + 1);
  if (key_pressed(Key::Backspace) && typed.empty() && length > 0) state.text[length - 1] = 0;
}

/// A field that gets the keyboard selects what is in it, and the next letter would replace what was typed so far.
int go_on_behind(ImGuiInputTextCallbackData* field) {
  bool& typing = static_cast<PaletteState*>(field->UserData)->typing;
  if (!std::exchange(typing, true)) field->CursorPos = field->SelectionStart = field->SelectionEnd = field->BufTextLen;
  return 0;
}

void choose(const Choice& choice, const Entry& entry, const Session& session, UiState& ui) {
  if (!entry.why_not.empty()) return;
  ui.commands.push(remember_choice(choice.id));
  if (!entry.kernel.empty())
    if (const auto machine = machine_typed(lower_case(ui.of<PaletteState>().text), entry.kernel))
      return ui.commands.push(OpenPair{entry.kernel, *machine});
  if (entry.action) perform(*entry.action, session, ui);
  for (const Command& command : entry.commands) ui.commands.push(command);
}

}  // namespace

void PaletteState::show(PaletteState::Scope what) {
  scope = what;
  typing = false;
  wanted = true;
  choice = 0;
  text[0] = 0;
}

void find_again(const Session& session, UiState& ui, int direction) {
  PaletteState& state = ui.of<PaletteState>();
  Contents contents;
  add_ops(contents, session, "");
  const auto ranked = rank(contents.choices, state.found, {});
  if (ranked.empty() || state.found.empty()) return;
  const int count = static_cast<int>(ranked.size());
  state.found_at = state.found_at < 0 ? (direction > 0 ? 0 : count - 1) : (state.found_at + direction + count) % count;
  for (const Command& command : contents.entries[ranked[static_cast<std::size_t>(state.found_at)].index].commands)
    ui.commands.push(command);
}

void draw_palette(const Session& session, const Models&, UiState& ui) {
  PaletteState& state = ui.of<PaletteState>();
  const bool appearing = state.wanted;
  if (state.wanted) {
    ImGui::OpenPopup("palette");
    state.wanted = false;
  }
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float width = std::min(px(680), display.x - px(16)), top = std::min(px(60), display.y * 0.08f);
  const float field = px(34), row = px(26), most = std::max(row, display.y - top - field - px(56));
  if (!state.typing && (appearing || state.open)) take_early_letters(state);
  const bool asked = state.scope == PaletteState::Scope::Everything && state.text[0] == '>';
  const bool commands_only = asked || state.scope == PaletteState::Scope::Commands;
  state.open = ImGui::IsPopupOpen("palette");
  if (!state.open) return;

  const Contents contents = contents_of(session, state.scope, commands_only);
  const auto ranking = [&] { return rank(contents.choices, asked ? state.text + 1 : state.text, session.settings().used); };
  auto ranked = ranking();
  const float list = std::min({row * std::max(1.0f, static_cast<float>(ranked.size())), row * 14, most});

  ImGui::SetNextWindowPos(ImVec2((display.x - width) / 2, top));
  ImGui::SetNextWindowSize(ImVec2(width, field + list + px(50)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(8), px(8)));
  const bool drawn =
      ImGui::BeginPopupModal("palette", nullptr,
                             ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                 ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  if (!drawn) return;
  if (appearing || ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(10), (field - text_size(fonts().body, "X").y) / 2));
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  if (ImGui::InputTextWithHint("##palette/field", hint_of(state.scope), state.text, sizeof state.text, ImGuiInputTextFlags_CallbackAlways,
                               go_on_behind, &state)) {
    state.choice = 0;
    state.found_at = -1;
    ranked = ranking();  // Enter may have come in the same frame
  }
  if (probe::on()) probe::last_item("palette/field");
  ImGui::PopStyleVar();
  const int last = static_cast<int>(ranked.size()) - 1;
  state.choice = std::clamp(state.choice, 0, std::max(last, 0));

  const bool enter = key_pressed(Key::Enter);
  const int before = state.choice;
  const int page = std::max(1, static_cast<int>(list / row) - 1);
  if (key_pressed(Key::Down, true)) state.choice = state.choice >= last ? 0 : state.choice + 1;
  if (key_pressed(Key::Up, true)) state.choice = state.choice <= 0 ? last : state.choice - 1;
  if (key_pressed(Key::PageDown, true)) state.choice = std::min(state.choice + page, last);
  if (key_pressed(Key::PageUp, true)) state.choice = std::max(state.choice - page, 0);
  const bool moved = state.choice != before;

  bool leave = key_pressed(Key::Escape);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGui::Dummy(ImVec2(1, px(4)));
  ImGui::BeginChild("choices", ImVec2(0, list));
  if (ranked.empty())
    paint_text(fonts().body, ImVec2(ImGui::GetCursorScreenPos().x + px(10), ImGui::GetCursorScreenPos().y + px(4)), theme().dim,
               state.scope == PaletteState::Scope::Ops && !session.content().problem ? "nothing is open" : "nothing matches");
  int taken = enter && last >= 0 ? state.choice : -1;
  // Only the rows in view are drawn: kernels may have thousands of ops.
  const int first = std::clamp(static_cast<int>(ImGui::GetScrollY() / row) - 1, 0, std::max(last, 0));
  const int end = std::min(first + static_cast<int>(list / row) + 3, last + 1);
  if (moved) {
    const float y = static_cast<float>(state.choice) * row;
    if (y < ImGui::GetScrollY()) ImGui::SetScrollY(y);
    if (y + row > ImGui::GetScrollY() + list) ImGui::SetScrollY(y + row - list);
  }
  ImGui::Dummy(ImVec2(1, static_cast<float>(first) * row));
  for (int i = first; i < end; ++i) {
    const RankedChoice& found = ranked[static_cast<std::size_t>(i)];
    if (draw_row({contents.choices[found.index], contents.entries[found.index], found.letters}, i == state.choice)) taken = i;
  }
  ImGui::Dummy(ImVec2(1, static_cast<float>(last + 1 - end) * row));
  ImGui::EndChild();
  ImGui::PopStyleVar();

  if (taken >= 0 && state.scope == PaletteState::Scope::Ops) {
    // Stays open, so that Enter steps through the matches.
    state.found = state.text;
    state.found_at = taken;
    const RankedChoice& found = ranked[static_cast<std::size_t>(taken)];
    choose(contents.choices[found.index], contents.entries[found.index], session, ui);
    if (!enter)
      leave = true;
    else if (ImGui::GetIO().KeyShift)
      state.choice = state.choice <= 0 ? last : state.choice - 1;
    else
      state.choice = state.choice >= last ? 0 : state.choice + 1;
    if (last == 0) leave = true;
    ImGui::SetKeyboardFocusHere(-1);
  } else if (taken >= 0) {
    const RankedChoice& found = ranked[static_cast<std::size_t>(taken)];
    if (contents.entries[found.index].why_not.empty()) {
      choose(contents.choices[found.index], contents.entries[found.index], session, ui);
      leave = true;
    }
  }
  const std::string foot = ranked.empty() ? "Esc closes"
                                          : std::to_string(ranked.size()) + (ranked.size() == 1 ? " match" : " matches") +
                                                "  ·  Enter takes, arrows move, Esc closes";
  const ImVec2 corner(ImGui::GetWindowPos().x + px(18), ImGui::GetWindowPos().y + ImGui::GetWindowSize().y - px(22));
  paint_text(fonts().small, corner, theme().faint, fitted(fonts().small, foot, width - px(36)));
  // A click beside it leaves it.
  if (!appearing && ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
      !ImGui::IsMouseHoveringRect(
          ImGui::GetWindowPos(),
          ImVec2(ImGui::GetWindowPos().x + ImGui::GetWindowSize().x, ImGui::GetWindowPos().y + ImGui::GetWindowSize().y), false))
    leave = true;
  if (leave) {
    ImGui::CloseCurrentPopup();
    state.open = false;
  }
  ImGui::EndPopup();
}

}  // namespace heddle::app
