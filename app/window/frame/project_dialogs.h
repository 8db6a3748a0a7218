// Dialogs about files: export, leaving with unsaved work; and the bar that offers recovered work.
#pragma once

#include <imgui.h>

#include <cstddef>
#include <string>

#include "app/session/session.h"

namespace heddle::app {

struct UiState;

struct ExportDialogState {
  bool wanted = false, just_opened = false;
  bool again = false;  ///< comes back when the picture is taken that it stood in front of
  Export request;
  std::size_t earlier = 0;  ///< exports before it was opened
  char path[1024] = "";
};

void draw_export_dialog(const Session& session, UiState& ui);
void draw_leave_dialog(Session& session, UiState& ui);
/// Asks before recovered work is thrown away.
void draw_discard_dialog(const Session& session, UiState& ui);

/// Recovered work and other sentences that should not be missed; 0: there are none.
float notice_height(const Session& session);
void draw_notices(const Session& session, UiState& ui);

/// "attention_forward_hopper on h100 * - fa3.heddle.json - Heddle"
std::string window_title(const Session& session);
/// What files about the document are called before their ending: "attention_forward_hopper.h100", or as the project.
std::string file_stem(const Session& session);
/// Saves the project there, writes picture and trace beside it, copies the command.
void share_as(UiState& ui, const std::string& project);

}  // namespace heddle::app
