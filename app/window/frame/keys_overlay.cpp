// From the top: gestures of the mouse and the legend of the chart; then keys in columns by menu, each row a button that takes a new chord.
#include "app/window/frame/keys_overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "app/session/commands.h"
#include "app/window/frame/marks_legend.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/fuzzy.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

struct Gesture {
  const char *keys, *what;
};
constexpr Gesture kMouse[] = {{"wheel", "zoom at the cursor"},
                              {"Shift + wheel", "pan in time"},
                              {"Ctrl + wheel", "fine zoom"},
                              {"Alt + wheel", "row height"},
                              {"wheel on the labels", "scroll rows"},
                              {"click", "select an op; Ctrl adds, Shift extends"},
                              {"click on the ruler", "plant or remove a flag"},
                              {"double click", "zoom to a bar; on nothing: fit all"},
                              {"drag a bar", "propose another place for it"},
                              {"drag on nothing", "measure, snapped; Alt: freely"},
                              {"right drag", "pan; also Shift or Space + drag"},
                              {"middle drag", "zoom to the stretch; Ctrl: out"},
                              {"middle click", "zoom to a bar"},
                              {"right click", "what can be done there"},
                              {"drag the overview", "move the view"},
                              {"double click a splitter", "its usual place"},
                              {"drop files", "open them"},
                              {"Alt + F, E, V ...", "the menus"},
                              {"Tab, arrows, Enter", "panes, and what is in them"}};

/// One that has this chord too, besides `but`; null when there is none.
const Action* owner_of(const Chord& chord, const Action& but) {
  for (const Action& action : actions()) {
    if (&action == &but) continue;
    const auto& chords = chords_of(action);
    if (std::find(chords.begin(), chords.end(), chord) != chords.end()) return &action;
  }
  return nullptr;
}

const Action* rival_of(const Action& action) {
  for (const Chord& chord : chords_of(action))
    if (const Action* other = owner_of(chord, action)) return other;
  return nullptr;
}

/// The settings' spelling: chords apart by one space.
std::string spelled(const std::vector<Chord>& chords) {
  std::string text;
  for (const Chord& chord : chords) text += (text.empty() ? "" : " ") + to_string(chord);
  return text;
}

void stop_editing(KeysOverlayState& state) {
  state.editing.clear();
  state.owner.clear();
  state.pressed.reset();
}

void draw_action(const Action& action, const Session& session, UiState& ui) {
  KeysOverlayState& state = ui.of<KeysOverlayState>();
  const bool editing = state.editing == action.id;
  const bool changed = session.settings().keys.count(action.id) > 0;
  const RowArea row = pick_row((std::string("keys/row/") + action.id).c_str(), editing, px(22));
  const float y = row.min.y + (px(22) - text_size(fonts().small, "X").y) / 2;
  const float mono = row.min.y + (px(22) - text_size(fonts().mono_small, "X").y) / 2;
  const Action* rival = rival_of(action);
  const std::string keys = editing ? "press keys ..." : keys_of(action).empty() ? "-" : keys_of(action);
  const Color ink = editing ? theme().accent : rival ? theme().warning : keys == "-" ? theme().faint : theme().accent;
  paint_text_right(fonts().mono_small, row.max.x - px(6), mono, ink, keys);
  const float room = row.max.x - row.min.x - px(24) - text_size(fonts().mono_small, keys).x;
  paint_text(changed ? fonts().small_bold : fonts().small, ImVec2(row.min.x + px(6), y), theme().text,
             fitted(changed ? fonts().small_bold : fonts().small, action.label, room));
  if (row.hovered && !editing)
    tooltip(std::string(action.label) + (rival ? std::string(": also the key of ") + rival->label : std::string()) +
            (changed ? fmt::format("; built in: {}", *action.keys ? action.keys : "none") : "") + ". Click, then press the new keys.");
  if (row.clicked && !editing) {
    stop_editing(state);
    state.editing = action.id;
  }
}

/// What the keyboard says while an action waits for its chord.
void take_chord(UiState& ui) {
  KeysOverlayState& state = ui.of<KeysOverlayState>();
  const Action* action = find_action(state.editing);
  if (!action || state.pressed) return;
  const ImGuiIO& io = ImGui::GetIO();
  for (int k = 0; k < static_cast<int>(Key::Count); ++k) {
    const Key key = static_cast<Key>(k);
    if (!key_pressed(key)) continue;
    if (key == Key::Escape) return stop_editing(state);
    const Chord chord{key, io.KeyCtrl, io.KeyShift, io.KeyAlt};
    if (const Action* owner = owner_of(chord, *action)) {
      state.pressed = chord;
      state.owner = owner->id;
      return;
    }
    ui.commands.push(use_keys(action->id, spelled({chord})));
    return stop_editing(state);
  }
}

/// The line under the columns: what is being changed, a conflict, or how to begin.
void draw_foot(const Session& session, UiState& ui) {
  KeysOverlayState& state = ui.of<KeysOverlayState>();
  const float height = px(30);
  const Action* action = find_action(state.editing);
  const Action* owner = find_action(state.owner);
  ImGui::AlignTextToFramePadding();
  if (action && owner && state.pressed) {
    colored_text(theme().warning, fmt::format("{} belongs to \"{}\".", to_string(*state.pressed), owner->label));
    ImGui::SameLine();
    if (button("keys/take", fmt::format("Give it to \"{}\"", action->label), ButtonKind::Primary, {}, {0, height})) {
      std::vector<Chord> rest = chords_of(*owner);
      std::erase(rest, *state.pressed);
      ui.commands.push(use_keys(owner->id, spelled(rest)));
      ui.commands.push(use_keys(action->id, spelled({*state.pressed})));
      stop_editing(state);
    }
    ImGui::SameLine();
    if (button("keys/keep", "Leave it", ButtonKind::Plain, {}, {0, height})) stop_editing(state);
  } else if (action) {
    colored_text(theme().accent, fmt::format("New keys for \"{}\"; Esc leaves it as it is.", action->label));
    ImGui::SameLine();
    if (button("keys/none", "No key", ButtonKind::Plain, {}, {0, height})) {
      ui.commands.push(use_keys(action->id, ""));
      stop_editing(state);
    }
    ImGui::SameLine();
    const bool changed = session.settings().keys.count(action->id) > 0;
    if (button("keys/reset", "Built-in", ButtonKind::Plain, changed ? "" : "it has the built-in keys", {0, height})) {
      ui.commands.push(use_keys(action->id, std::nullopt));
      stop_editing(state);
    }
  } else {
    if (button("keys/reset_all", "Reset all keys", ButtonKind::Plain, session.settings().keys.empty() ? "no key was changed" : "",
               {0, height}))
      ui.commands.push(use_built_in_keys());
  }
}

struct Block {
  std::string title;
  std::vector<const Action*> actions;
  bool mouse = false, legend = false;
  std::size_t rows() const { return 2 + (mouse ? std::size(kMouse) : legend ? mark_count() : actions.size()); }
};

std::vector<Block> blocks(const char* filter) {
  std::vector<Block> out;
  if (*filter == 0) {
    out.push_back({"MOUSE", {}, true, false});
    out.push_back({"MARKS IN THE CHART", {}, false, true});
  }
  const auto collect = [&](const char* title, auto belongs) {
    Block block{title, {}, false, false};
    for (const Action& action : actions())
      if (belongs(action) && fuzzy_match(std::string(action.label) + " " + keys_of(action), filter)) block.actions.push_back(&action);
    if (!block.actions.empty()) out.push_back(std::move(block));
  };
  collect("IN THE CHART", [](const Action& a) { return a.by_chart; });
  for (const char* menu : menus()) collect(menu, [&](const Action& a) { return !a.by_chart && std::strcmp(a.menu, menu) == 0; });
  for (Block& block : out)
    std::transform(block.title.begin(), block.title.end(), block.title.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  collect("ELSEWHERE", [](const Action& a) { return !a.by_chart && *a.menu == 0; });
  return out;
}

void draw_block(const Block& block, const Session& session, UiState& ui) {
  section(block.title);
  for (const Action* action : block.actions) draw_action(*action, session, ui);
  const float line = px(22), width = ImGui::GetContentRegionAvail().x;
  if (block.mouse)
    for (const Gesture& gesture : kMouse) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      paint_text_right(fonts().small, at.x + width - px(6), at.y + px(3), theme().accent, gesture.keys);
      paint_text(fonts().small, ImVec2(at.x + px(6), at.y + px(3)), theme().text,
                 fitted(fonts().small, gesture.what, width - px(24) - text_size(fonts().small, gesture.keys).x));
      ImGui::Dummy(ImVec2(width, line));
    }
  if (block.legend) draw_marks_of_chart();
}

}  // namespace

void draw_keys_overlay(const Session& session, UiState& ui) {
  KeysOverlayState& state = ui.of<KeysOverlayState>();
  if (session.view().keys_overlay && !state.opened) {
    ImGui::OpenPopup("keys");
    state.opened = true;
    state.filter[0] = 0;
    stop_editing(state);
  }
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  if (!begin_modal("keys", ImVec2(px(1320), px(820)))) {
    if (state.opened && session.view().keys_overlay) ui.commands.push(toggle_keys());
    state.opened = false;
    return;
  }
  {
    const FontScope scope(fonts().title);
    ImGui::TextUnformatted("Keys and mouse");
  }
  const float field = std::min(px(200), display.x * 0.3f);
  ImGui::SameLine(ImGui::GetWindowSize().x - px(20) - field);
  input_field("keys/filter", "filter", state.filter, sizeof state.filter, field);
  const float height = ImGui::GetContentRegionAvail().y - px(40), width = ImGui::GetContentRegionAvail().x;
  const int columns = std::clamp(static_cast<int>(width / px(285)), 1, 4);
  const std::vector<Block> all = blocks(state.filter);
  std::size_t rows = 0;
  for (const Block& block : all) rows += block.rows();
  const std::size_t share = rows / static_cast<std::size_t>(columns) + 1;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), 0));
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(px(8), 0));
  ImGui::BeginChild("list", ImVec2(0, height));
  if (all.empty()) colored_text(theme().dim, "nothing matches");
  if (!all.empty() && ImGui::BeginTable("columns", columns, ImGuiTableFlags_SizingStretchSame)) {
    ImGui::TableNextColumn();
    std::size_t filled = 0;
    int column = 0;
    for (const Block& block : all) {
      // The next column begins with the block that would lie for the most part below the share.
      if (filled > 0 && filled + block.rows() / 2 > share && column + 1 < columns) {
        ImGui::TableNextColumn();
        ++column;
        filled = 0;
      }
      filled += block.rows();
      draw_block(block, session, ui);
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  const bool was_editing = !state.editing.empty();
  if (!ImGui::GetIO().WantTextInput) take_chord(ui);
  ImGui::Dummy(ImVec2(1, px(2)));
  draw_foot(session, ui);
  ImGui::SameLine(ImGui::GetWindowSize().x - px(20) - px(90));
  const Action& keys = *find_action("keys");
  const bool leave = !was_editing && (key_pressed(Key::Escape) || (went_down(keys) && !ImGui::IsWindowAppearing()));
  if (button("keys/close", "Close", ButtonKind::Primary, {}, {px(90), px(30)}) || leave) {
    ui.commands.push(toggle_keys());
    ImGui::CloseCurrentPopup();
    state.opened = false;
  }
  ImGui::EndPopup();
}

}  // namespace heddle::app
