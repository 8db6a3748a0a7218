// Notes in the chart: the list of them, and the editor of one.
#pragma once

#include <imgui.h>

#include <cstddef>
#include <optional>

#include "app/session/note.h"

namespace heddle::app {

class Session;
struct UiState;

struct NoteEditorState {
  bool wanted = false, just_opened = false;
  std::optional<std::size_t> index;  ///< of the note that is edited; none: a new one
  Note note;
  char text[512] = "";
  ImVec2 at{0, 0};
};

void draw_note_editor(const Session& session, UiState& ui);

/// Opens the editor for the selected op, else for the cycle under the mouse, else for the middle of the chart. A note that is
/// there already is edited.
void begin_note(const Session& session, UiState& ui);
void edit_note(const Session& session, UiState& ui, std::size_t index);
/// The list of notes with their verbs; nothing when there are none.
void draw_notes(const Session& session, UiState& ui);

}  // namespace heddle::app
