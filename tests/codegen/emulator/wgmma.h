// wgmma with matrix descriptors and register fragments, of 16 and of 8 bits; it finishes at once.
#pragma once

#include "descriptors.h"
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
/// What a descriptor says, which the text's own functions have made.
template <Number T>
emulator::SpanMatrix operand(u64 descriptor, bool mn_major) {
  emulator::SpanMatrix m = emulator::span_matrix_of(descriptor);
  if (!m.fault.empty()) die(m.fault);
  if (mn_major && bytes_of_number(T) == 1) die("numbers of 8 bits that do not lie along k");
  return m;
}
template <Number T>
float element(const emulator::SpanMatrix& m, int row, int k, bool mn_major) {
  constexpr int kBytes = bytes_of_number(T);
  u32 bits = 0;
  std::memcpy(&bits, at_place(emulator::place_of(m, row, k, mn_major, kBytes), kBytes), kBytes);
  return number(T, bits);
}
/// m64nNk16, or k32 of 8 bits, for this thread: a_row(row, k) is A.
template <int N, Number T, class A>
void multiply(float* d, A a, u64 b, int add, bool mn_major) {
  constexpr int kDeep = T == Number::E4m3 || T == Number::E5m2 ? 32 : 16;
  const emulator::SpanMatrix columns = operand<T>(b, mn_major);
  const int t = threadIdx.x % 128, top = t / 32 * 16 + t % 32 / 4, q = t % 4;
  float rows[2][kDeep];
  for (int h = 0; h < 2; ++h)
    for (int k = 0; k < kDeep; ++k) rows[h][k] = a(top + 8 * h, k);
  for (int j = 0; j < N / 8; ++j)
    for (int e = 0; e < 2; ++e) {
      float column[kDeep];
      for (int k = 0; k < kDeep; ++k) column[k] = element<T>(columns, 8 * j + 2 * q + e, k, mn_major);
      for (int h = 0; h < 2; ++h) {
        float sum = add ? d[4 * j + 2 * h + e] : 0.0f;
        for (int k = 0; k < kDeep; ++k) sum += rows[h][k] * column[k];
        d[4 * j + 2 * h + e] = sum;
      }
    }
}
template <int N, bool AMnMajor, bool MnMajor, Number TA, Number TB>
void product(float (&d)[N / 2], u64 a, u64 b, int add) {
  const emulator::SpanMatrix rows = operand<TA>(a, AMnMajor);
  multiply<N, TB>(
      d, [&](int row, int k) { return element<TA>(rows, row, k, AMnMajor); }, b, add, MnMajor);
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
