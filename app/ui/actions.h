// One table of everything that has a key or stands in a menu. It feeds the menu bar, the keys overlay, the find box and
// the dispatch of keys, so that none of them can disagree.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/platform/imgui_compat.h"
#include "app/session/session.h"

namespace heddle::app {

struct Chord {
  Key key = Key::Count;  ///< Count: none
  bool ctrl = false, shift = false;
};

/// What a dialog must ask before a command can be made.
enum class Prompt { Nothing, SavePath, SvgPath };

struct Action {
  const char* id;    ///< "solve"; the probe knows menu items as "menu/<id>"
  const char* menu;  ///< "File"; empty: in no menu
  const char* label;
  const char* keys;  ///< as shown: "Shift+F5"
  Chord chord;
  bool by_chart = false;  ///< the chart handles the key itself
  Command (*make)(const Session&) = nullptr;
  std::string (*why_not)(const Session&) = nullptr;  ///< empty text: can be done
  bool (*checked)(const Session&) = nullptr;
  Prompt ask = Prompt::Nothing;
  bool line_before = false;  ///< a separator above it in its menu
};

std::span<const Action> actions();
const Action* find_action(std::string_view id);
/// Why it cannot be done now; empty when it can.
std::string why_not(const Action& action, const Session& session);
/// The action whose key went down in this frame, if it can be done. Keys without Ctrl are ignored while a text field
/// has the focus.
const Action* pressed_action(const Session& session);

}  // namespace heddle::app
