// What of a sweep is shown, and in which order: the filter's words, the ranges brushed on axes, the column it is sorted by; and
// the few of many points that a plot draws.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/batch/sweep_table.h"

namespace heddle::app {

/// Columns of the table before and behind those of the axes.
enum class SweepColumn {
  Number,
  Status,
  Value,
  Ratio,
  Bound,
  Axis,
  Ii,
  Stages,
  Groups,
  Warps,
  Smem,
  Registers,
  Tflops,
  Seconds,
  By,
  Fidelity,
  Why
};
struct SweepColumnRef {
  SweepColumn column = SweepColumn::Number;
  std::size_t axis = 0;  ///< of Axis
  bool operator==(const SweepColumnRef&) const = default;
};
/// Those with anything in them; `all`: not only the telling ones.
std::vector<SweepColumnRef> sweep_columns(const SweepTable& table, bool all);
std::string column_title(const SweepTable& table, SweepColumnRef column);
bool column_of_numbers(const SweepTable& table, SweepColumnRef column);
std::string cell_of(const SweepTable& table, const SweepPoint& point, SweepColumnRef column);
/// As a number to sort and filter by; kNone for words and for what is not known.
double number_in(const SweepTable& table, const SweepPoint& point, SweepColumnRef column);

/// A range of positions on an axis, 0 to 1; axis == the number of axes: that of values.
struct SweepBrush {
  std::size_t axis = 0;
  double low = 0, high = 1;
  bool operator==(const SweepBrush&) const = default;
};

struct SweepChoice {
  std::string filter;  ///< words that must occur, and comparisons: "status=proved TILE_N=256 stages>=2"
  std::vector<SweepBrush> brushes;
  SweepColumnRef sort;
  bool descending = false;
  bool operator==(const SweepChoice&) const = default;
};

/// Indices of points. Those without what it is sorted by come last, whichever way.
std::vector<std::uint32_t> select_points(const SweepTable& table, const SweepChoice& choice);

/// The scale that values are drawn on: from the least bound or value to the greatest value.
struct SweepValueScale {
  double low = 0, high = 1;
  bool any = false;
  double position(double value) const;  ///< 0 to 1
};
SweepValueScale value_scale(const SweepTable& table);
/// Where a point lies on the axis of values: those without a value stand above all others.
inline constexpr double kValueShare = 0.9;  ///< of the axis is for values
double value_position(const SweepValueScale& scale, const SweepPoint& point);

/// So many of these points that a picture shows what all would: the best, then evenly through the rest. All where they fit.
std::vector<std::uint32_t> thinned(const SweepTable& table, const std::vector<std::uint32_t>& chosen, std::size_t most);

/// The best value so far after each evaluation that found a better one.
struct ConvergenceStep {
  double evaluation = 0, value = 0;
};
struct Convergence {
  std::vector<ConvergenceStep> steps;
  double evaluations = 0;  ///< the last one's number
};
Convergence convergence_of(const SweepTable& table);

/// "5 of 72 configurations · best 2 110 000 cycles (#4), 1.4 % above the bound 2 080 000 · 3 proved, 1 refused"
std::string sweep_headline(const SweepTable& table);
/// One paragraph about a point: number, status, value, configuration, why.
std::string about_point(const SweepTable& table, const SweepPoint& point);
/// Tab-separated, with a header line.
std::string sweep_as_text(const SweepTable& table, const std::vector<std::uint32_t>& order);

}  // namespace heddle::app
