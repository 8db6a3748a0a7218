// The keys that are in force, and which of them went down.
#include <algorithm>

#include "app/platform/imgui_compat.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/focus.h"

namespace heddle::app {
namespace {

struct Bound {
  std::vector<Chord> chords;
  std::string shown;
};

std::vector<Bound> bind(const std::map<std::string, std::string>& changed) {
  std::vector<Bound> all;
  for (const Action& action : actions()) {
    const auto found = changed.find(action.id);
    Bound bound;
    bound.chords = parse_chords(found == changed.end() ? action.keys : found->second);
    bound.shown = to_string(bound.chords);
    all.push_back(std::move(bound));
  }
  return all;
}

/// In the order of actions().
std::vector<Bound>& in_force() {
  static std::vector<Bound> bound = bind({});
  return bound;
}

const Bound& bound_of(const Action& action) { return in_force()[static_cast<std::size_t>(&action - actions().data())]; }

/// Text fields take letters, and have their own undo, copy and paste.
bool typed(const Chord& chord) {
  if (chord.key >= Key::F1 && chord.key <= Key::F12) return false;
  if (!chord.ctrl) return true;
  return !chord.shift && (chord.key == Key::Z || chord.key == Key::Y || chord.key == Key::C || chord.key == Key::V || chord.key == Key::X ||
                          chord.key == Key::A);
}

/// Keys that move through a list where a pane with one has the focus.
bool moves(const Chord& chord) {
  if (chord.ctrl || chord.shift || chord.alt) return false;
  switch (chord.key) {
    case Key::Up:
    case Key::Down:
    case Key::Home:
    case Key::End:
    case Key::Enter:
    case Key::Space:
    case Key::Escape: return true;
    default: return false;
  }
}

}  // namespace

void apply_keys(const std::map<std::string, std::string>& changed) { in_force() = bind(changed); }

const std::vector<Chord>& chords_of(const Action& action) { return bound_of(action).chords; }
const std::string& keys_of(const Action& action) { return bound_of(action).shown; }

const std::string& keys_of(std::string_view id) {
  static const std::string none;
  const Action* action = find_action(id);
  return action ? keys_of(*action) : none;
}

bool went_down(const Action& action, bool repeat) {
  const ImGuiIO& io = ImGui::GetIO();
  return std::any_of(chords_of(action).begin(), chords_of(action).end(), [&](const Chord& chord) {
    if (chord.ctrl != io.KeyCtrl || chord.shift != io.KeyShift || chord.alt != io.KeyAlt) return false;
    if (io.WantTextInput && typed(chord)) return false;
    if (action.by_chart && focus::pane() != FocusPane::Chart && moves(chord)) return false;
    return key_pressed(chord.key, repeat);
  });
}

const Action* pressed_action(const Session& session) {
  for (const Action& action : actions())
    if (!action.by_chart && went_down(action) && why_not(action, session).empty()) return &action;
  return nullptr;
}

bool chart_wants(std::vector<std::string_view>& requested, std::string_view id, bool keys, bool repeat) {
  if (std::erase(requested, id) > 0) return true;
  const Action* action = find_action(id);
  return keys && action && went_down(*action, repeat);
}

}  // namespace heddle::app
