#include "app/window/parts/time_bar_model.h"

#include <fmt/format.h>

#include "core/answers/simulation.h"

namespace heddle::app {

TimeBar build_time_bar(double predicted, double tflops, const std::vector<TimePart>& parts) {
  TimeBar bar;
  bar.predicted = predicted;
  double sum = 0;
  for (const TimePart& part : parts) {
    const double from = sum;
    sum += part.microseconds;
    bar.pieces.push_back({part.name, part.about, from, sum, time_text(part.microseconds),
                          fmt::format("{:.1f} %", 100 * part.microseconds / predicted),
                          tflops > 0 && sum > 0 ? fmt::format("{:.0f}", tflops * predicted / sum) : ""});
  }
  return bar;
}

std::string about_piece(const TimePiece& piece) { return fmt::format("{}: {}, {}\n{}", piece.name, piece.time, piece.share, piece.about); }

}  // namespace heddle::app
