// One routine for all small floating types (scale so that the last kept bit is 1, round, scale back), and the usual bit
// trick for bf16, which carries nearly all the traffic.
#include "core/kernel/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heddle {
namespace {

struct Format {
  int mantissa_bits;
  int min_exponent;  ///< of the smallest normal number
  float largest;
  bool saturates;
};

float round_small(const Format& format, float x) {
  if (std::isnan(x) || x == 0.0f) return x;
  if (std::isinf(x)) return format.saturates ? std::copysign(format.largest, x) : x;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| = 0.5..1 times 2^exponent
  const int last_bit = std::max(exponent - 1, format.min_exponent) - format.mantissa_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(x), -last_bit)), last_bit);
  if (std::fabs(rounded) <= format.largest) return static_cast<float>(rounded);
  return std::copysign(format.saturates ? format.largest : std::numeric_limits<float>::infinity(), x);
}

float round_bf16(float x) {
  if (std::isnan(x)) return x;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u);
}

float round_i32(float x) {
  if (std::isnan(x)) return 0.0f;
  // The largest float below 2^31 is 2^31 - 128.
  return std::clamp(std::nearbyint(x), -2147483648.0f, 2147483520.0f);
}

}  // namespace

float round_to(DType dtype, float x) {
  switch (dtype) {
    case DType::F32: return x;
    case DType::Bf16: return round_bf16(x);
    case DType::F16: return round_small({10, -14, 65504.0f, false}, x);
    case DType::F8e4m3: return round_small({3, -6, 448.0f, true}, x);
    case DType::F8e5m2: return round_small({2, -14, 57344.0f, true}, x);
    case DType::I32: return round_i32(x);
    case DType::I8: return std::clamp(round_i32(x), -128.0f, 127.0f);
    case DType::I4: return std::clamp(round_i32(x), -8.0f, 7.0f);
  }
  return x;
}

void round_all(DType dtype, std::span<float> values) {
  if (dtype == DType::F32) return;
  for (float& x : values) x = round_to(dtype, x);
}

}  // namespace heddle
