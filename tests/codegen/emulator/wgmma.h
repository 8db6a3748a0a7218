// wgmma with matrix descriptors and register fragments, of 16 and of 8 bits; it finishes at once.
#pragma once

#include "narrow.h"
#include "shared_memory.h"

inline void product_fence() {}
inline void product_commit() {}
template <int N>
void product_wait() {}
template <int N>
void pin(float (&)[N]) {}
template <int N>
void fresh(float (&d)[N]) {
  std::fill(d, d + N, NAN);
}
template <int N>
void keep(u32 (&)[N]) {}
inline void keep_in_register(u32&) {}
inline u64 matrix_of(u32 address, u32 leading, u32 span, u64 kind) {
  if (address >= 1u << 18) die("a matrix beyond shared memory");
  return (u64)(address >> 4) | ((u64)(leading >> 4) << 16) | ((u64)(8 * span >> 4) << 32) | (kind << 62);
}
inline u64 matrix(u32 address, u32 leading) { return matrix_of(address, leading, 128, 1); }
inline u64 matrix_64(u32 address, u32 leading) { return matrix_of(address, leading, 64, 2); }
inline u64 matrix_32(u32 address, u32 leading) { return matrix_of(address, leading, 32, 3); }
inline u64 behind(u64 matrix, u32 offset) {
  if ((matrix & 0x3fff) + (offset >> 4) > 0x3fff || offset % 16 != 0) die("an offset that leaves the address of a matrix");
  return matrix + (offset >> 4);
}
/// Element of an operand under a descriptor, whose rows lie in spans of 128, 64 or 32 bytes with the swizzle of that name: address bits
/// from 4 on are exchanged by those from 7 on. K-major: 8 rows of a span each, then `stride` to the next 8. The other way round (16 bits
/// only): 8 values of k, then `stride`; the columns of a span, then `leading`.
template <Number T>
float element(u64 descriptor, int row, int k, bool mn_major) {
  const auto field = [&](int first, int count) { return static_cast<u32>(descriptor >> first & ((1ull << count) - 1)); };
  const u32 start = field(0, 14) << 4, leading = field(16, 14) << 4, stride = field(32, 14) << 4, kind = field(62, 2);
  if (kind == 0) die("a matrix without swizzle");
  if (field(14, 2) != 0 || field(30, 2) != 0 || field(46, 16) != 0) die("a bit of a matrix descriptor that must be zero");
  const int span = 256 >> kind, bytes = bytes_of_number(T), panel = span / bytes;
  if (mn_major && bytes == 1) die("numbers of 8 bits that do not lie along k");
  const u32 address = mn_major ? start + static_cast<u32>(row / panel) * leading + static_cast<u32>(k / 8) * stride +
                                     static_cast<u32>(k % 8 * span + row % panel * bytes)
                               : start + static_cast<u32>(row / 8) * stride + static_cast<u32>(row % 8 * span + k * bytes);
  const u32 place = swizzled(address, span);
  return number(T, bytes == 1 ? load_shared<std::uint8_t>(place) : load_shared<std::uint16_t>(place));
}
/// m64nNk16, or k32 of 8 bits, for this thread: a_row(row, k) is A.
template <int N, Number T, class A>
void multiply(float* d, A a, u64 b, int add, bool mn_major) {
  constexpr int kDeep = T == Number::E4m3 || T == Number::E5m2 ? 32 : 16;
  const int t = threadIdx.x % 128, top = t / 32 * 16 + t % 32 / 4, q = t % 4;
  float rows[2][kDeep];
  for (int h = 0; h < 2; ++h)
    for (int k = 0; k < kDeep; ++k) rows[h][k] = a(top + 8 * h, k);
  for (int j = 0; j < N / 8; ++j)
    for (int e = 0; e < 2; ++e) {
      float column[kDeep];
      for (int k = 0; k < kDeep; ++k) column[k] = element<T>(b, 8 * j + 2 * q + e, k, mn_major);
      for (int h = 0; h < 2; ++h) {
        float sum = add ? d[4 * j + 2 * h + e] : 0.0f;
        for (int k = 0; k < kDeep; ++k) sum += rows[h][k] * column[k];
        d[4 * j + 2 * h + e] = sum;
      }
    }
}
template <int N, bool AMnMajor, bool MnMajor, Number TA, Number TB>
void product(float (&d)[N / 2], u64 a, u64 b, int add) {
  multiply<N, TB>(
      d, [&](int row, int k) { return element<TA>(a, row, k, AMnMajor); }, b, add, MnMajor);
}
inline u32 fragments[8 * kMostBlocks][128][4];
template <int N, bool, bool MnMajor, Number TA, Number TB>
void product(float (&d)[N / 2], u32 a0, u32 a1, u32 a2, u32 a3, u64 b, int add) {
  // Register i of thread t: i & 1 is rows + 8, i & 2 is the other 16 bytes of k; four threads share 16 bytes.
  const int group = warp_index() / 4, t = threadIdx.x % 128;
  const u32 own[4] = {a0, a1, a2, a3};
  std::copy(own, own + 4, fragments[group][t]);
  meet(group_key(), 128);
  const auto a = [&](int row, int k) {
    const int byte = k * bytes_of_number(TA), owner = row / 16 * 32 + row % 8 * 4 + byte % 16 / 4;
    const u32 word = fragments[group][owner][(row % 16 / 8) + 2 * (byte / 16)];
    return bytes_of_number(TA) == 1 ? number(TA, word >> 8 * (byte % 4) & 0xff) : number(TA, word >> 8 * (byte % 4) & 0xffff);
  };
  multiply<N, TB>(d, a, b, add, MnMajor);
  meet(group_key(), 128);
}
