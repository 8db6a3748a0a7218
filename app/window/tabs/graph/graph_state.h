// What the Graph tab remembers between frames.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/graph_layout.h"
#include "app/window/tabs/graph/graph_model.h"

namespace heddle::app {

constexpr std::size_t kMostGraphOps = 400;  ///< laid out without asking

struct GraphState {
  // What the person chose.
  bool table = false;             ///< edges as a table instead
  std::optional<bool> downwards;  ///< the way of the data; unset: as the place suggests
  bool edit = false;              ///< the form beside the picture
  bool follow = true;             ///< a selection made elsewhere is brought into view
  GraphCycle cycle = GraphCycle::Period;
  TableOrder order{"from"};
  std::string program = "dot";

  // Layouts: the one that is shown, those of before, and the one under way.
  struct Known {
    GraphInput input;
    std::shared_ptr<const GraphLayout> layout;
  };
  std::vector<Known> known;  ///< newest last, a few
  std::unique_ptr<LayoutJob> job;
  std::optional<GraphInput> failed;  ///< no use asking again
  Error error;
  std::optional<GraphInput> anyway;  ///< too large, but wanted
  bool working() const { return job != nullptr; }

  // What is drawn, and for which state of the session.
  std::shared_ptr<const GraphLayout> shown;
  std::optional<GraphModel> model;
  std::uint64_t built_revision = 0;
  GraphCycle built_cycle = GraphCycle::Period;

  // The picture.
  GraphView view;
  CanvasSize canvas;
  bool fitted = true;       ///< follows changes of the canvas until somebody zooms or pans
  bool hears_keys = false;  ///< the mouse is over the picture, or there is no chart: keys of charts are for it
  bool centred = false;     ///< the last F centred: the next one fits
  std::optional<std::size_t> hovered, hovered_arc;
  double hovered_for = 0;              ///< seconds
  std::optional<std::size_t> pressed;  ///< node of the context menu
  int panning = -1;                    ///< button
  GraphPoint pan_mouse;                ///< where it began, pixels
  GraphView pan_view;
  bool panned = false;
  OpId seen;  ///< selection that has been followed
};

}  // namespace heddle::app
