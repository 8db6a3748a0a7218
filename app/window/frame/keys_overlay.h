// The overlay that lists every key, gesture and mark, and where keys are changed.
#pragma once

#include <optional>
#include <string>

#include "app/platform/chord.h"

namespace heddle::app {

class Session;
struct UiState;

struct KeysOverlayState {
  bool opened = false;
  std::string editing;           ///< id of the action that waits for a chord
  std::optional<Chord> pressed;  ///< a chord that another action has
  std::string owner;             ///< that action's id
  char filter[64] = "";
};

void draw_keys_overlay(const Session& session, UiState& ui);

}  // namespace heddle::app
