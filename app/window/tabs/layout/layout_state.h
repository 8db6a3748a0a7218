// What the Layout tab remembers between frames.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/layout_views.h"
#include "app/window/kit/column.h"
#include "app/window/tabs/layout/layout_model.h"
#include "core/base/id.h"

namespace heddle::app {

/// Where the grid stands: both grids of a pair share one, so that the same elements are beside each other.
struct LayoutGridView {
  float cell_x = 0, cell_y = 0;  ///< pixels per cell; 0: fits in the next frame
  float left = 0, top = 0;       ///< cells that are out of sight
  bool fitted = true;            ///< follows changes of the room until somebody zooms or pans
};

struct LayoutCursor {
  std::int64_t row = 0, column = 0;
  bool operator==(const LayoutCursor&) const = default;
};

enum class LayoutBeside { Nothing, Alternative, ScheduleB };
enum class LayoutPart { Grid, Banks, Alternatives };  ///< where there is no room for all

/// A view with what is worked out of it once.
struct LayoutScene {
  LayoutViews::Answer answer;
  std::string title;
  std::optional<LayoutBlocks> blocks;
  LayoutColour colour = LayoutColour::Lane;  ///< of the blocks

  const LayoutView* view() const { return answer && answer->view ? &*answer->view : nullptr; }
};

struct LayoutTabState {
  // What the person chose.
  std::string value, op;
  LayoutColour colour = LayoutColour::Lane;
  bool whole_register = false;  ///< a click chooses a register, not a lane
  LayoutBeside beside = LayoutBeside::Nothing;
  std::string alternative, alternative_instruction;  ///< the one beside, by its texts
  LayoutPart part = LayoutPart::Grid;
  std::optional<LayoutPick> pick;
  std::optional<std::int64_t> step;  ///< of the banks; unset: the worst one
  TableOrder order;
  bool own = false;       ///< a text by itself
  bool choosing = false;  ///< what the solver chooses, instead of the grid
  char text[4096] = "";
  char shape[64] = "";
  DType dtype = DType::F16;
  std::string access;

  // What is shown.
  LayoutViews views;
  LayoutScene a, b;
  std::vector<LayoutListRow> rows;
  std::shared_ptr<const Problem> rows_of;
  OpId followed;   ///< the selection that was followed
  int drawn = -9;  ///< the frame in which the tab was last shown

  // The grids.
  LayoutGridView grid;
  std::optional<LayoutCursor> cursor;  ///< under the mouse, or where the keyboard has put it
  bool by_mouse = false;
  bool reveal = false;  ///< the cursor comes into view
  bool hears_keys = false;
  int panning = -1;  ///< button
  float pan_x = 0, pan_y = 0;
  LayoutGridView pan_view;
  bool panned = false;

  bool working() const { return views.working(); }
};

}  // namespace heddle::app
