// Small plots: steps, points and marked lines over two axes, linear or logarithmic. Sizes follow the scale, colours the theme; what
// matters is told by shape and word too, never by colour alone.
#pragma once

#include <imgui.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/window/kit/theme.h"

namespace heddle::app {

enum class PlotMark {
  Filled,  ///< proved
  Hollow,  ///< found, not proved
  AtLeast  ///< an arrow upwards: only a bound is known
};

enum class PlotShape { Circle, Square, Triangle, Diamond, Turned };  ///< Turned: a triangle on its tip

struct PlotPoint {
  double x = 0, y = 0;
  PlotMark mark = PlotMark::Filled;
  Color color = 0;       ///< 0: the accent
  bool current = false;  ///< with a ring around it
  std::string label;     ///< beside the point, where there is room
  std::string about;     ///< while the mouse is over it
  PlotShape shape = PlotShape::Circle;
};

/// A stretch of a curve, from one x to another.
struct PlotPiece {
  double x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  bool dashed = false;  ///< not proved
};

struct PlotCurve {
  std::string name;  ///< in the legend; empty: not there
  Color color = 0;
  std::vector<PlotPiece> pieces;  ///< neighbours are joined by a riser
};

/// An upright line.
struct PlotLine {
  double x = 0;
  std::string label;
  Color color = 0;
  bool dashed = false;
};

/// The line y = x with a band around it, from `low` to `high` times x.
struct PlotBand {
  double low = 1, high = 1;
};

struct PlotAxis {
  std::string title;
  bool log = false;
  bool whole = true;                      ///< whole numbers only
  std::optional<double> low, high;        ///< none: as the data wants
  std::string (*text)(double) = nullptr;  ///< of ticks; null: grouped numbers
  std::vector<std::string> words;         ///< not empty: the axis has these at 0, 1, 2 ... and no numbers
};

struct PlotModel {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotCurve> curves;
  std::vector<PlotLine> lines;
  std::vector<PlotPoint> points;
  std::optional<PlotBand> band;
};

/// Which point the keyboard is at.
struct PlotState {
  std::optional<std::size_t> chosen;
  bool focused = false;  ///< the last click was in the plot: Page Up and Page Down walk over the points, Enter picks
};

struct PlotAnswer {
  std::optional<std::size_t> hovered, picked;  ///< points
  bool secondary = false;                      ///< picked with the right button
  bool twice = false;                          ///< picked by a double click
  bool by_key = false;                         ///< picked with Enter
  std::optional<double> x;                     ///< under the mouse
};

/// The mark of a point, for legends too.
struct PlotDot {
  PlotShape shape;
  bool filled;
  float radius;
  Color color;
};
void paint_plot_mark(ImDrawList& draw, ImVec2 center, const PlotDot& dot);

/// Takes `size` of the current window. The probe knows the plot as `name` and its points as "name/point/I".
PlotAnswer draw_plot(const std::string& name, const PlotModel& model, ImVec2 size, PlotState& state);

}  // namespace heddle::app
