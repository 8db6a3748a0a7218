// What a predicted time is made of, as pieces of a bar that stand one after another.
#pragma once

#include <string>
#include <vector>

#include "core/simulate/time_parts.h"

namespace heddle::app {

struct TimePiece {
  std::string name, about;
  double from = 0, to = 0;  ///< us
  std::string time, share;
  std::string speed;  ///< TFLOP/s if nothing after it were there; empty where the kernel has none
};

struct TimeBar {
  std::vector<TimePiece> pieces;
  double predicted = 0;
  double measured = 0;  ///< us; 0: nothing was measured
};

/// Pieces of a time of `predicted` us at that speed (TFLOP/s; 0 where the kernel has none).
TimeBar build_time_bar(double predicted, double tflops, const std::vector<TimePart>& parts);

/// "tensor: 1.11 ms, 73.3 %", and below it what that is.
std::string about_piece(const TimePiece& piece);

}  // namespace heddle::app
