// The list of schedules in the left pane: which is A, which is B, how they stand, and everything one does with them.
#pragma once

#include <cstddef>
#include <optional>

namespace heddle::app {

class Session;
struct UiState;

struct ScheduleListState {
  std::optional<std::size_t> renaming;  ///< row whose name is being typed
  char name[128] = "";
  bool just_opened = false;
  bool focused = false;  ///< the arrow keys walk through the list
};

/// What it wants to be as high as.
float schedule_list_height(const Session& session);
/// While the list has the focus: up and down choose A, Enter makes the row B, F2 renames, Delete removes.
void draw_schedule_list(const Session& session, UiState& ui);
/// What was dragged out of the list and dropped on the last item becomes A or B.
void accept_schedule(const Session& session, UiState& ui, bool as_b);

}  // namespace heddle::app
