// The line on top of a tab whose answer comes from the solver: the button that asks, or Cancel and what is being worked on,
// and whether the answer below is one to the question as it stands now. And the two buttons for copying.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/jobs/ask_options.h"
#include "app/session/session.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {

struct UiState;

/// `verb` is what the button says ("Sweep"); the probe knows the buttons as "NAME/ask" and "NAME/cancel", NAME being the topic's.
/// Leaves the cursor behind the last piece, on the same line.
void draw_question_bar(const Session& session, UiState& ui, Topic topic, const AskOptions& options, const char* verb);
/// How the answer stands, in words: "23 points after 4 steps · 1.2 s", "answer to an earlier question"; empty when there is nothing
/// to say. Drawn dim, or as a warning where the answer is old.
void draw_question_state(const Session& session, Topic topic);
/// "Copy" (a table, tab-separated) and "Copy as command"; the probe knows them as "NAME/copy" and "NAME/command".
void draw_copy_buttons(const std::string& name, const Session& session, UiState& ui, const std::function<std::string()>& table,
                       const std::string& command);
/// "Copy as command": greyed, with the reason, where there is no such line.
void copy_command_button(const char* name, const Session& session, UiState& ui, const std::string& line, ImVec2 size = {});

/// "layouts open": whether layouts and instructions are left to the solver, too; the probe knows it as "NAME/layouts". True when pressed.
bool layouts_choice(Topic topic, const Session& session, bool on);
/// A button that is one of several to choose from, or that is on or off. True when it was pressed.
bool choice(const char* name, std::string_view label, bool on, const std::string& why_not = {});
/// Goes on in the same line when that many pixels are left in it, else begins a new one.
void same_line_if_room(float width);
/// The room that a button with this label takes.
float button_width(std::string_view label);

}  // namespace heddle::app
