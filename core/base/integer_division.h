// Integer division that rounds the way schedules need it, for negative numbers too. Divisors are positive.
#pragma once

#include <cstdint>

namespace heddle {

/// Towards minus infinity.
constexpr std::int64_t floor_div(std::int64_t x, std::int64_t divisor) { return x / divisor - (x % divisor < 0); }
/// Towards plus infinity.
constexpr std::int64_t ceil_div(std::int64_t x, std::int64_t divisor) { return -floor_div(-x, divisor); }
/// In [0, divisor).
constexpr std::int64_t modulo(std::int64_t x, std::int64_t divisor) { return x - floor_div(x, divisor) * divisor; }

}  // namespace heddle
