#include "app/window/kit/plot_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/chart/chart_layout.h"

namespace heddle::app {

double nice_step(double length, int most, bool whole) {
  const double least = length / std::max(most, 1);
  if (!(least > 0) || !std::isfinite(least)) return 1;
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (step * factor >= least * (1 - 1e-9)) {
      step *= factor;
      break;
    }
  return whole ? std::max(1.0, std::round(step)) : step;
}

PlotScale plot_scale(double low, double high, int most, bool whole, double margin) {
  if (!std::isfinite(low) || !std::isfinite(high) || high < low) return plot_scale(0, 1, most, whole, margin);
  PlotScale scale;
  const double length = high - low, room = length > 0 ? length * margin : std::max(std::abs(low) * 0.02, 1.0);
  scale.low = low >= 0 ? std::max(0.0, low - room) : low - room;
  scale.high = high + room;
  const double step = nice_step(scale.high - scale.low, most, whole);
  const double first = std::ceil(scale.low / step - 1e-9), last = std::floor(scale.high / step + 1e-9);
  for (double i = first; i <= last && scale.ticks.size() < 64; ++i) scale.ticks.push_back(i * step + 0.0);  // of -0.0 too
  return scale;
}

PlotScale log_scale(double low, double high, int most, double margin) {
  if (!std::isfinite(low) || !std::isfinite(high) || low <= 0 || high < low) return log_scale(1, 10, most, margin);
  PlotScale scale;
  scale.log = true;
  const double length = std::log(high / low), room = std::exp(length > 0 ? length * margin : std::log(1.1));
  scale.low = low / room;
  scale.high = high * room;
  // As many as fit of these, the scarcest first.
  for (const std::vector<double>& digits : {std::vector<double>{1},
                                            {1, 3},
                                            {1, 2, 5},
                                            {1, 2, 3, 5, 7},
                                            {1, 1.5, 2, 3, 4, 5, 6, 8},
                                            {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}}) {
    std::vector<double> ticks;
    for (double ten = std::pow(10.0, std::floor(std::log10(scale.low))); ten <= scale.high && ticks.size() < 64; ten *= 10)
      for (const double digit : digits)
        if (ten * digit >= scale.low && ten * digit <= scale.high) ticks.push_back(ten * digit);
    if (!scale.ticks.empty() && ticks.size() > static_cast<std::size_t>(std::max(most, 2))) break;
    scale.ticks = std::move(ticks);
  }
  // Over a short stretch round numbers at equal distances.
  if (scale.ticks.size() < 3 && scale.high < 4 * scale.low) scale.ticks = plot_scale(scale.low, scale.high, most, false, 0).ticks;
  return scale;
}

double PlotScale::share(double value) const {
  if (log) return value > 0 ? std::log(value / low) / std::log(high / low) : -1;
  return (value - low) / std::max(high - low, 1e-12);
}

double PlotScale::value(double share) const { return log ? low * std::pow(high / low, share) : low + share * (high - low); }

std::string tick_text(double value) {
  if (std::abs(value - std::round(value)) < 1e-9 && std::abs(value) < 1e15) return grouped(static_cast<std::int64_t>(std::llround(value)));
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace heddle::app
