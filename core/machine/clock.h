// Which clock turns cycles into time: the maximum, what a loaded device sustains, or one that a user gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/machine/machine.h"

namespace heddle {

struct ClockChoice {
  enum class Kind : std::uint8_t { Sustained, Max, Fixed };
  Kind kind = Kind::Sustained;
  std::int64_t mhz = 0;                 ///< Fixed
  std::optional<std::int64_t> power_w;  ///< limit of this device; else the machine file's
  bool zeros = false;                   ///< the data is all zeros
  double speed = 1;                     ///< of this device over the one that the machine file's clock stands for (speed_of)
};

struct ClockAnswer {
  double mhz = 0;
  std::string text;  ///< "1568 MHz sustained at 700 W, tensor cores busy 91 %"
};

/// `tensor_use`: how busy the tensor cores are, between 0 and 1; `arithmetic_use`: the same of the units of arithmetic and special
/// functions, added up.
ClockAnswer clock_of(const Machine& machine, const ClockChoice& choice, double tensor_use, double arithmetic_use = 0);

/// "cublas_8192=700": the measured speed of an anchor over the machine file's.
Result<double> speed_of(const Machine& machine, const std::string& measured);

}  // namespace heddle
