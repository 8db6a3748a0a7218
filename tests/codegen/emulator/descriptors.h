// The two descriptors of tcgen05, bit by bit after PTX ISA 9.0: what they say, or what is wrong with them. And the numbers of 8 and 16 bits
// that they name. Only what generated texts use is allowed: no sparsity, 128-byte swizzle, 128 rows to a block.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace emulator {

enum class Number { F16, Bf16, E4m3, E5m2 };

/// Sign, exponent, mantissa; `finite`: no infinities, and one NaN (e4m3).
inline float small_float(unsigned bits, int exponent_bits, int mantissa_bits, bool finite) {
  const int bias = (1 << (exponent_bits - 1)) - 1, all = (1 << exponent_bits) - 1, most = (1 << mantissa_bits) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & all, mantissa = static_cast<int>(bits) & most;
  float x = NAN;
  if (exponent == 0)
    x = std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits);
  else if (exponent < all || (finite && mantissa < most))
    x = std::ldexp(static_cast<float>(mantissa + most + 1), exponent - bias - mantissa_bits);
  else if (!finite && mantissa == 0)
    x = INFINITY;
  return bits >> (exponent_bits + mantissa_bits) & 1 ? -x : x;
}
inline float value_of(Number format, unsigned bits) {
  if (format == Number::E4m3) return small_float(bits, 4, 3, true);
  if (format == Number::E5m2) return small_float(bits, 5, 2, false);
  if (format == Number::F16) return small_float(bits, 5, 10, false);
  const std::uint32_t wide = bits << 16;
  float x;
  std::memcpy(&x, &wide, 4);
  return x;
}

/// Of one tcgen05.mma.
struct Shape {
  int m = 0, n = 0, k = 0;
  int bytes = 2;  ///< of a number
  Number a = Number::Bf16, b = Number::Bf16;
  bool negate_a = false, negate_b = false;
  bool a_mn_major = false, b_mn_major = false;
  std::string fault;  ///< empty: none
};
/// `eight`: of kind::f8f6f4, else of kind::f16. `pair`: cta_group::2.
inline Shape shape_of(std::uint32_t bits, bool eight, bool pair) {
  const auto field = [&](int first, int count) { return static_cast<int>(bits >> first & ((1u << count) - 1)); };
  Shape s;
  s.bytes = eight ? 1 : 2;
  s.k = eight ? 32 : 16;
  s.n = field(17, 6) * 8;
  s.m = field(24, 5) * 16;
  s.negate_a = field(13, 1), s.negate_b = field(14, 1);
  s.a_mn_major = field(15, 1), s.b_mn_major = field(16, 1);
  const Number first = eight ? Number::E4m3 : Number::F16, second = eight ? Number::E5m2 : Number::Bf16;
  s.a = field(7, 3) == 0 ? first : second;
  s.b = field(10, 3) == 0 ? first : second;
  if (field(0, 3) != 0) s.fault = "a product of a sparse matrix";
  if (field(3, 1) != 0) s.fault = "saturation, which only integers have";
  if (field(4, 2) != 1) s.fault = "a result that is not f32";
  if (field(6, 1) != 0 || field(23, 1) != 0 || field(29, 1) != 0) s.fault = "a reserved bit of an instruction descriptor";
  if (field(7, 3) > 1 || field(10, 3) > 1) s.fault = "an unknown format of a product's numbers";
  if (!eight && s.a != s.b) s.fault = "a product of f16 and bf16";
  if (field(30, 2) != 0) s.fault = "a shift, which only tcgen05.mma.ws has";
  if (s.m != (pair ? 256 : 128)) s.fault = "a product of " + std::to_string(s.m) + " rows";
  const int step = pair ? 32 : 16;
  if (s.n < step || s.n > 256 || s.n % step != 0) s.fault = "a product of " + std::to_string(s.n) + " columns";
  return s;
}

/// Of a matrix in shared memory. Addresses and distances are bytes.
struct Matrix {
  std::uint32_t start = 0, leading = 0, stride = 0;
  std::string fault;
};
inline Matrix matrix_of(std::uint64_t bits) {
  const auto field = [&](int first, int count) { return static_cast<std::uint32_t>(bits >> first & ((1ull << count) - 1)); };
  Matrix m{field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, {}};
  if (field(14, 2) != 0 || field(30, 2) != 0) m.fault = "a reserved bit of a matrix descriptor";
  if (field(46, 3) != 1) m.fault = "a matrix descriptor of another architecture";
  if (field(49, 3) != 0) m.fault = "a base offset, though patterns begin at multiples of 1024 bytes";
  if (field(52, 1) != 0) m.fault = "an absolute leading dimension";
  if (field(53, 8) != 0) m.fault = "a bit of a matrix descriptor that must be zero";
  if (field(61, 3) != 2) m.fault = "another swizzle than that of 128 bytes";
  if (m.stride % 1024 != 0) m.fault = "groups of 8 rows that do not begin with the pattern";
  return m;
}

/// Of wgmma: rows in spans of 128, 64 or 32 bytes with the swizzle of that name.
struct SpanMatrix {
  std::uint32_t start = 0, leading = 0, stride = 0;
  int span = 128;
  std::string fault;
};
inline SpanMatrix span_matrix_of(std::uint64_t bits) {
  const auto field = [&](int first, int count) { return static_cast<std::uint32_t>(bits >> first & ((1ull << count) - 1)); };
  SpanMatrix m{field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, static_cast<int>(256u >> field(62, 2)), {}};
  if (field(62, 2) == 0) m.fault = "a matrix without swizzle";
  if (field(14, 2) != 0 || field(30, 2) != 0 || field(46, 16) != 0) m.fault = "a bit of a matrix descriptor that must be zero";
  if (m.stride % static_cast<std::uint32_t>(8 * std::min(m.span, 128)) != 0)
    m.fault = "groups of 8 rows that do not begin with the pattern";
  return m;
}
/// Address bits from 4 on are exchanged by those from 7 on. K-major: 8 rows of a span each, then `stride` to the next 8. The other way
/// round (16 bits only): 8 values of k, then `stride`; the columns of a span, then `leading`.
inline std::uint32_t place_of(const SpanMatrix& m, int row, int k, bool mn_major, int bytes) {
  const int panel = m.span / bytes;
  const int offset =
      mn_major ? row / panel * static_cast<int>(m.leading) + k / 8 * static_cast<int>(m.stride) + k % 8 * m.span + row % panel * bytes
               : row / 8 * static_cast<int>(m.stride) + row % 8 * m.span + k * bytes;
  const std::uint32_t address = m.start + static_cast<std::uint32_t>(offset);
  return address ^ (address >> 3 & static_cast<std::uint32_t>(m.span - 16));
}

/// The 128-byte swizzle exchanges address bits: 4 to 6 with their exclusive or with 7 to 9.
inline std::uint32_t swizzled_place(std::uint32_t address) { return address ^ (address >> 3 & 0x70); }
/// Where an element of an operand lies. K-major: 8 rows of 128 bytes, then `stride` to the next 8. The other way round: 8 values of k,
/// then `stride`; 128 bytes of columns, then `leading`.
inline std::uint32_t place_of(const Matrix& m, int row, int k, bool mn_major, int bytes) {
  const int panel = 128 / bytes;
  const int offset =
      mn_major ? row / panel * static_cast<int>(m.leading) + k / 8 * static_cast<int>(m.stride) + k % 8 * 128 + row % panel * bytes
               : row / 8 * static_cast<int>(m.stride) + row % 8 * 128 + k * bytes;
  return swizzled_place(m.start + static_cast<std::uint32_t>(offset));
}

}  // namespace emulator
