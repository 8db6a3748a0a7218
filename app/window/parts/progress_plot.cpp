#include "app/window/parts/progress_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/window/kit/plot.h"
#include "app/window/parts/header_model.h"

namespace heddle::app {

void draw_progress_plot(const LiveSolve& live, ImVec2 size) {
  PlotModel plot;
  plot.title = "over time";
  plot.y.title = std::string("II");  // GCC 12 takes the plain literal for an uninitialized copy
  plot.x.whole = false;
  plot.x.low = 0;
  plot.x.high = std::max(live.seconds, 1e-3);
  // Where all of it takes less than a second, hundredths of one would all read the same.
  plot.x.text = live.seconds < 1 ? +[](double seconds) { return fmt::format("{:.4g} ms", 1000 * seconds + 0.0); } : seconds_text;
  PlotCurve bound{"bound", theme().accent, {}}, best{"best", theme().good, {}};
  for (std::size_t i = 0; i < live.history.size(); ++i) {
    const LiveSolve::Point& p = live.history[i];
    const double from = std::min(p.seconds, *plot.x.high),
                 to = i + 1 < live.history.size() ? std::min(live.history[i + 1].seconds, *plot.x.high) : *plot.x.high;
    bound.pieces.push_back({from, to, static_cast<double>(p.bound), static_cast<double>(p.bound), false});
    if (p.best) best.pieces.push_back({from, to, static_cast<double>(*p.best), static_cast<double>(*p.best), false});
  }
  plot.curves = {std::move(bound), std::move(best)};
  PlotState unused;  // there are no points to choose
  draw_plot("explain/progress", plot, size, unused);
}

}  // namespace heddle::app
