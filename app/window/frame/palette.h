// The palette: one list over the window with everything that can be gone to or done, and a second use of it that finds ops
// and steps through them.
#pragma once

#include <string>

#include "app/session/commands.h"

namespace heddle::app {

class Session;
struct Models;
struct UiState;

struct PaletteState {
  enum class Scope { Everything, Commands, Ops, Kernels, Machines };
  Scope scope = Scope::Everything;
  bool wanted = false;  ///< opens in the next frame
  bool typing = false;  ///< the field has the keyboard
  bool open = false;
  char text[128] = "";
  int choice = 0;
  std::string found;  ///< what was last looked for in the scope of ops
  int found_at = -1;  ///< and which of the matches is shown

  void show(Scope what);
};

void draw_palette(const Session& session, const Models& models, UiState& ui);
/// Goes to the next (+1) or previous (-1) op that matches what was last looked for.
void find_again(const Session& session, UiState& ui, int direction);

}  // namespace heddle::app
