// The axis of a plot: a range of numbers and where its ticks are. No drawing.
#pragma once

#include <string>
#include <vector>

namespace heddle::app {

struct PlotScale {
  double low = 0, high = 1;
  std::vector<double> ticks;  ///< ascending, within [low, high]
  bool log = false;
  double share(double value) const;  ///< of the axis: 0 at `low`, 1 at `high`
  double value(double share) const;
};

/// Distance of at most `most` ticks over that length: 1, 2 or 5 times a power of ten; at least 1 for whole numbers.
double nice_step(double length, int most, bool whole);
/// [low, high] widened by `margin` of its length at both ends (a single value gets some room), with ticks. `whole`: of whole
/// numbers. Never starts below 0 where `low` does not. Infinite or reversed ends give the scale of 0 to 1.
PlotScale plot_scale(double low, double high, int most, bool whole, double margin = 0.06);
/// The same with equal room for equal factors, ticks at 1, 2, 5 times powers of ten, or more or fewer of their multiples. `margin` widens
/// by that part of the logarithm. Ends that are not above 0 give the scale of 1 to 10.
PlotScale log_scale(double low, double high, int most, double margin = 0.04);
/// "2 048", "0.25"
std::string tick_text(double value);

}  // namespace heddle::app
