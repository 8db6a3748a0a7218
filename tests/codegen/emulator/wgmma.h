// wgmma with matrix descriptors and register fragments; it finishes at once.
#pragma once

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
inline u64 matrix(u32 address, u32 leading) {
  if (address >= 1u << 18) die("a matrix beyond shared memory");
  return (u64)(address >> 4) | ((u64)(leading >> 4) << 16) | ((u64)(1024 >> 4) << 32) | (1ull << 62);
}
inline u64 behind(u64 matrix, u32 offset) {
  if ((matrix & 0x3fff) + (offset >> 4) > 0x3fff || offset % 16 != 0) die("an offset that leaves the address of a matrix");
  return matrix + (offset >> 4);
}
/// Element of an operand under a descriptor with 128-byte swizzle. K-major: 8 rows of 128 bytes, then `stride` to the next 8.
/// The other way round: 8 values of k, then `stride`; 64 columns, then `leading`.
inline float element(u64 descriptor, int row, int k, bool mn_major) {
  const u32 start = static_cast<u32>(descriptor & 0x3fff) << 4, leading = static_cast<u32>((descriptor >> 16) & 0x3fff) << 4,
            stride = static_cast<u32>((descriptor >> 32) & 0x3fff) << 4;
  const u32 address = mn_major ? start + static_cast<u32>(row / 64) * leading + static_cast<u32>(k / 8) * stride +
                                     static_cast<u32>(k % 8 * 128 + row % 64 * 2)
                               : start + static_cast<u32>(row / 8) * stride + static_cast<u32>(row % 8 * 128 + k * 2);
  return bf16_value(load_shared<std::uint16_t>(swizzled(address)));
}
/// m64nNk16 for this thread: a_row(row, k) is A.
template <int N, class A>
void multiply(float* d, A a, u64 b, int add, bool mn_major) {
  const int t = threadIdx.x % 128, top = t / 32 * 16 + t % 32 / 4, q = t % 4;
  float rows[2][16];
  for (int h = 0; h < 2; ++h)
    for (int k = 0; k < 16; ++k) rows[h][k] = a(top + 8 * h, k);
  for (int j = 0; j < N / 8; ++j)
    for (int e = 0; e < 2; ++e) {
      float column[16];
      for (int k = 0; k < 16; ++k) column[k] = element(b, 8 * j + 2 * q + e, k, mn_major);
      for (int h = 0; h < 2; ++h) {
        float sum = add ? d[4 * j + 2 * h + e] : 0.0f;
        for (int k = 0; k < 16; ++k) sum += rows[h][k] * column[k];
        d[4 * j + 2 * h + e] = sum;
      }
    }
}
template <int N, bool AMnMajor, bool MnMajor>
void product(float (&d)[N / 2], u64 a, u64 b, int add) {
  multiply<N>(
      d, [&](int row, int k) { return element(a, row, k, AMnMajor); }, b, add, MnMajor);
}
inline u32 fragments[8 * kMostBlocks][128][4];
template <int N, bool, bool MnMajor>
void product(float (&d)[N / 2], u32 a0, u32 a1, u32 a2, u32 a3, u64 b, int add) {
  // Register i of thread t: i & 1 is rows + 8, i & 2 is columns + 8.
  const int group = warp_index() / 4, t = threadIdx.x % 128;
  const u32 own[4] = {a0, a1, a2, a3};
  std::copy(own, own + 4, fragments[group][t]);
  meet(group_key(), 128);
  const auto a = [&](int row, int k) {
    const int owner = row / 16 * 32 + row % 8 * 4 + k % 8 / 2;
    const u32 pair = fragments[group][owner][(row % 16 / 8) + 2 * (k / 8)];
    return k % 2 ? high_bf16(pair) : low_bf16(pair);
  };
  multiply<N>(d, a, b, add, MnMajor);
  meet(group_key(), 128);
}
