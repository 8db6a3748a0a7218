// Where the boxes and lines of a graph go, by Graphviz: its program `dot`, run as a child process on a thread of its own.
//
// Why not the library: under the address sanitizer libgvc 2.43 reads freed memory (in its font plugin, at the second
// layout in one process), it cannot be interrupted, and a window linked to it would not start where it is missing. The
// child costs as much time (25 ms for 26 ops, 0.15 s for 200, 0.4 s for 400, 5 s for 1000), can be ended at any moment,
// and takes nothing with it when it fails. Only sizes and numbers go in; no name from a file does.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/jobs/worker.h"
#include "core/base/result.h"

namespace heddle::app {

/// Points of 1/72 inch; y grows downwards.
struct GraphPoint {
  float x = 0, y = 0;
};

struct GraphInput {
  struct Arc {
    std::size_t from = 0, to = 0;
    bool against = false;   ///< leads back: drawn from low to high like the others, the arrow at the other end
    float label_width = 0;  ///< 0: no room for a label
    bool operator==(const Arc&) const = default;
  };
  bool downwards = false;  ///< else from left to right
  float node_height = 38;
  std::vector<float> node_widths;
  std::vector<Arc> arcs;  ///< no two alike
  bool operator==(const GraphInput&) const = default;
};

struct GraphLayout {
  float width = 0, height = 0;
  std::vector<GraphPoint> nodes;  ///< centres
  struct Arc {
    std::vector<GraphPoint> curve;  ///< cubic Bézier pieces, 3 n + 1 points, from `from` to `to`
    GraphPoint label;               ///< centre; at the curve's middle where no room was asked for
  };
  std::vector<Arc> arcs;  ///< as the input's
};

/// The text that `dot` gets.
std::string layout_request(const GraphInput& input);
/// What `dot -Tplain` answered; a fault when it is not the answer to this input.
Result<GraphLayout> read_layout(const GraphInput& input, const std::string& plain);

/// Runs `program`. An environment error when it cannot be run, does not answer in time or is told to stop.
Result<GraphLayout> lay_out(const GraphInput& input, const std::string& program, std::stop_token stop,
                            std::chrono::milliseconds limit = std::chrono::minutes(2));

/// A layout under way. Destroying it ends the child.
class LayoutJob {
 public:
  LayoutJob(GraphInput input, std::string program);
  /// Null until it is done; then once.
  std::unique_ptr<Result<GraphLayout>> take();
  const GraphInput& input() const { return input_; }
  double seconds() const { return worker_.seconds(); }

 private:
  using Answer = std::shared_ptr<Result<GraphLayout>>;
  GraphInput input_;
  Worker<Answer> worker_;
};

}  // namespace heddle::app
