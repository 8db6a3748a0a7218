// Sums and products that stop at +-2^62 instead of wrapping: numbers in files may be absurd, verdicts about them must not be.
#pragma once

#include <cstdint>

namespace heddle {

inline constexpr std::int64_t kSaturated = std::int64_t{1} << 62;

inline std::int64_t saturate(std::int64_t x) { return x > kSaturated ? kSaturated : x < -kSaturated ? -kSaturated : x; }

inline std::int64_t sat_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? kSaturated : -kSaturated;
  return saturate(product);
}

inline std::int64_t sat_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? -kSaturated : kSaturated;
  return saturate(sum);
}

}  // namespace heddle
