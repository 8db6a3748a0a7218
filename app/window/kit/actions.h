// One table of everything that can be done: it feeds the menu bar, the palette, the keys overlay and the dispatch of keys,
// so that none of them can disagree. Adding a command is adding one line to the table in frame/action_table.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/chord.h"
#include "app/session/session.h"

namespace heddle::app {

struct UiState;

/// What a dialog must ask before a command can be made.
enum class Prompt {
  Nothing,
  SavePath,
  ProjectPath,
  ConstraintsPath,
  SharePath,
  KernelPath,
  PackagePath,
  TorchPath,
  KernelTextPath,
  MachineTextPath,
  TtgirPath,
  LayoutPath
};

struct Action {
  using Make = Command (*)(const Session&);
  using Run = void (*)(const Session&, UiState&);
  using Reason = std::string (*)(const Session&);
  using Check = bool (*)(const Session&);

  const char* id;    ///< "solve"; the probe knows menu items as "menu/<id>", settings files name keys by it
  const char* menu;  ///< "File"; empty: in no menu
  const char* label;
  const char* keys = "";     ///< unless settings say otherwise: chords apart by spaces, "A Left"
  Make make = nullptr;       ///< what it does, as a command
  Run run = nullptr;         ///< or as a change of what only the window knows
  bool by_chart = false;     ///< the chart does it (see chart_wants), and hears its keys
  Reason why_not = nullptr;  ///< empty text: can be done
  Check checked = nullptr;
  Prompt prompt = Prompt::Nothing;
  bool line_before = false;  ///< a separator above it in its menu

  // Words for the table: each gives the action back with one thing more said about it.
  Action needs(Reason reason) const { return with(&Action::why_not, reason); }
  Action ticked(Check check) const { return with(&Action::checked, check); }
  Action asks(Prompt what) const { return with(&Action::prompt, what); }
  Action does(Run what) const { return with(&Action::run, what); }
  Action in_chart() const { return with(&Action::by_chart, true); }
  Action below_line() const { return with(&Action::line_before, true); }

 private:
  template <class T>
  Action with(T Action::*member, T value) const {
    Action out = *this;
    out.*member = value;
    return out;
  }
};

std::span<const Action> actions();
/// The menus of the bar, left to right.
std::span<const char* const> menus();
const Action* find_action(std::string_view id);
/// Why it cannot be done now; empty when it can.
std::string why_not(const Action& action, const Session& session);
/// Does what an action stands for: pushes its command, or opens the dialog that it needs first. Nothing when it cannot be
/// done.
void perform(const Action& action, const Session& session, UiState& ui);

// ---- keys ------------------------------------------------------------------------------------------------------------

/// Puts other keys in force for some actions, by id; all others have those of the table. For the whole process, like the
/// theme.
void apply_keys(const std::map<std::string, std::string>& changed);
/// The chords that are in force.
const std::vector<Chord>& chords_of(const Action& action);
/// As shown in menus: "Ctrl+P", "A  Left".
const std::string& keys_of(const Action& action);
/// By id; empty when there is none of that name.
const std::string& keys_of(std::string_view id);
/// One of its chords went down in this frame, with exactly its modifiers. Chords without Ctrl or a function key are ignored
/// while a text field has the focus.
bool went_down(const Action& action, bool repeat = false);
/// The action whose key went down in this frame, if it can be done; those of the chart are left to the chart.
const Action* pressed_action(const Session& session);
/// The chart asks: was this action's key pressed, or was it chosen in a menu or the palette (`requested` holds it then, and
/// gives it up)?
bool chart_wants(std::vector<std::string_view>& requested, std::string_view id, bool keys = true, bool repeat = false);

}  // namespace heddle::app
