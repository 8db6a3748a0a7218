// What the constraint lists remember between frames.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace heddle::app {

struct ConstraintsState {
  char add[256] = "";
  std::string add_fault;
  float list_end = 0;  ///< of the rows in the left pane as they were last drawn, from the top of what scrolls
  bool focus_add = false;
  bool layouts_open = false;           ///< in asking for prices
  std::optional<std::size_t> editing;  ///< the row whose demand is being typed
  bool editing_in_tab = false;         ///< in the table of the tab, else in the left pane
  char edit[256] = "";
  std::string edit_fault;
  bool focus_edit = false;
};

}  // namespace heddle::app
