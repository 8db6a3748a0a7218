// Numbers of 16, 8 and 4 bits as what the wrappers of codegen/device/narrow.cuh do with them, written from the formats alone: sign,
// exponent and mantissa after the PTX ISA, whole numbers in two's complement.
#pragma once

#include "descriptors.h"
#include "shared_memory.h"

using emulator::Number;

inline float number(Number format, u32 bits) {
  if (format == Number::Bf16) return bf16_value(static_cast<std::uint16_t>(bits));
  static const auto table = [] {
    std::vector<std::vector<float>> values(4);
    for (const Number n : {Number::F16, Number::E4m3, Number::E5m2})
      for (u32 b = 0; b < (n == Number::F16 ? 0x10000u : 0x100u); ++b)
        values[static_cast<std::size_t>(n)].push_back(emulator::value_of(n, b));
    return values;
  }();
  return table[static_cast<std::size_t>(format)][bits];
}
constexpr int bytes_of_number(Number format) { return format == Number::F16 || format == Number::Bf16 ? 2 : 1; }

/// The nearest number, ties to the even one: among all that there are. Beyond the largest: that one (`saturates`) or infinity.
inline u32 nearest_bits(Number format, float x, bool saturates) {
  const u32 signs = bytes_of_number(format) == 2 ? 0x8000u : 0x80u, sign = std::signbit(x) ? signs : 0;
  if (std::isnan(x)) return signs - 1;
  const double wanted = std::fabs(static_cast<double>(x));
  u32 low = 0, high = 0;  // magnitudes grow with their bits
  for (u32 step = signs / 2; step > 0; step /= 2)
    if (const float y = number(format, low + step); std::isfinite(y) && y <= wanted) low += step;
  high = low + 1;
  const double below = number(format, low);
  float above = number(format, high);
  if (!std::isfinite(above)) {
    if (saturates) return sign | low;
    if (wanted == below) return sign | low;
    above = static_cast<float>(below + (below - number(format, low - 1)));  // where the next one would be
    const double middle = (below + above) / 2;
    return sign | (wanted < middle ? low : high);
  }
  const double middle = (below + above) / 2;
  return sign | (wanted < middle || (wanted == middle && low % 2 == 0) ? low : high);
}

inline u32 pack_f16(float low, float high) { return nearest_bits(Number::F16, low, false) | nearest_bits(Number::F16, high, false) << 16; }
inline float low_f16(u32 x) { return number(Number::F16, x & 0xffff); }
inline float high_f16(u32 x) { return number(Number::F16, x >> 16); }
inline float round_f16_(float x) { return low_f16(pack_f16(x, 0)); }
inline u32 pack_narrow(Number format, float a, float b, float c, float d) {
  return nearest_bits(format, a, true) | nearest_bits(format, b, true) << 8 | nearest_bits(format, c, true) << 16 |
         nearest_bits(format, d, true) << 24;
}
inline u32 pack_e4m3(float a, float b, float c, float d) { return pack_narrow(Number::E4m3, a, b, c, d); }
inline u32 pack_e5m2(float a, float b, float c, float d) { return pack_narrow(Number::E5m2, a, b, c, d); }
inline float round_e4m3_(float x) { return number(Number::E4m3, nearest_bits(Number::E4m3, x, true)); }
inline float round_e5m2_(float x) { return number(Number::E5m2, nearest_bits(Number::E5m2, x, true)); }
inline void f16_of(Number format, u32 x, u32& a, u32& b) {
  const auto of = [&](int k) { return number(format, x >> (8 * k) & 0xff); };
  a = pack_f16(of(0), of(1)), b = pack_f16(of(2), of(3));
}
inline void f16_of_e4m3(u32 x, u32& a, u32& b) { f16_of(Number::E4m3, x, a, b); }
inline void f16_of_e5m2(u32 x, u32& a, u32& b) { f16_of(Number::E5m2, x, a, b); }

// ---- whole numbers

/// Number k of `bits` bits of a register, lowest first.
inline float whole_at(u32 x, int k, int bits) {
  const int n = static_cast<int>(x >> (k * bits) & ((1u << bits) - 1));
  return static_cast<float>(n >= 1 << (bits - 1) ? n - (1 << bits) : n);
}
/// Of each half.
template <class Less>
u32 halves(u32 x, u32 y, Less less) {
  return less(x & 0xffff, y & 0xffff) | less(x >> 16, y >> 16) << 16;
}
inline u32 less_bf16(u32 x, u32 y) {
  return halves(x, y, [](u32 a, u32 b) { return nearest_bits(Number::Bf16, number(Number::Bf16, a) - number(Number::Bf16, b), false); });
}
inline u32 less_f16(u32 x, u32 y) {
  return halves(x, y, [](u32 a, u32 b) { return nearest_bits(Number::F16, number(Number::F16, a) - number(Number::F16, b), false); });
}
inline u32 nibbles_under(u32 x, u32 exponent) { return (x & 0x000f000f) ^ exponent; }
/// prmt: byte k of the result is byte `which >> 4 k` of the eight.
inline u32 bytes_of(u32 x, u32 y, u32 which) {
  const u64 both = x | u64{y} << 32;
  u32 result = 0;
  for (int k = 0; k < 4; ++k) {
    const u32 byte = which >> (4 * k) & 15;
    if (byte > 7) die("a sign that is spread over a byte");
    result |= static_cast<u32>(both >> (8 * byte) & 0xff) << (8 * k);
  }
  return result;
}
inline u32 pack_i8(float a, float b, float c, float d) {
  u32 bits = 0;
  int k = 0;
  for (const float x : {a, b, c, d})
    bits |= (static_cast<u32>(static_cast<int>(std::isnan(x) ? 0.0f : std::min(std::max(std::nearbyint(x), -128.0f), 127.0f))) & 0xff)
            << 8 * k++;
  return bits;
}
