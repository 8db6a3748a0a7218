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
constexpr int kDeep = bytes_of_number(T) == 1 ? 32 : 16;  ///< numbers of one instruction along k
template <Number T>
using Bits = std::conditional_t<bytes_of_number(T) == 1, std::uint8_t, std::uint16_t>;
/// Two rows, the first an even one, as far as an instruction goes. What swizzles leave together is read at once: 16 bytes, or two rows of
/// k.
template <Number T>
inline void two_rows(const emulator::SpanMatrix& m, int row, bool mn_major, float (&first)[kDeep<T>], float (&second)[kDeep<T>]) {
  constexpr int kBytes = bytes_of_number(T), kTogether = 16 / kBytes;
  Bits<T> bits[kTogether];
  if (mn_major) {
    for (int k = 0; k < kDeep<T>; ++k) {
      std::memcpy(bits, at_place(emulator::place_of(m, row, k, true, kBytes), 2 * kBytes), 2 * kBytes);
      first[k] = number(T, bits[0]), second[k] = number(T, bits[1]);
    }
    return;
  }
  for (int of = 0; of < 2; ++of)
    for (int k = 0; k < kDeep<T>; k += kTogether) {
      std::memcpy(bits, at_place(emulator::place_of(m, row + of, k, false, kBytes), 16), 16);
      for (int i = 0; i < kTogether; ++i) (of ? second : first)[k + i] = number(T, bits[i]);
    }
}
/// Rows of this thread's part of the result: the first, and 8 further on.
inline int top_row() { return threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4; }
/// m64nNk16, or k32 of 8 bits, for this thread: `top` and `low` are its rows of A.
template <int N, Number T>
void multiply(float* d, const float (&top)[kDeep<T>], const float (&low)[kDeep<T>], u64 b, int add, bool mn_major) {
  const emulator::SpanMatrix columns = operand<T>(b, mn_major);
  float left[kDeep<T>], right[kDeep<T>];
  for (int j = 0; j < N / 8; ++j, d += 4) {
    two_rows<T>(columns, 8 * j + threadIdx.x % 4 * 2, mn_major, left, right);
    float s0 = add ? d[0] : 0.0f, s1 = add ? d[1] : 0.0f, s2 = add ? d[2] : 0.0f, s3 = add ? d[3] : 0.0f;
    for (int k = 0; k < kDeep<T>; ++k) s0 += top[k] * left[k], s1 += top[k] * right[k], s2 += low[k] * left[k], s3 += low[k] * right[k];
    d[0] = s0, d[1] = s1, d[2] = s2, d[3] = s3;
  }
}
template <int N, bool AMnMajor, bool MnMajor, Number TA, Number TB>
void product(float (&d)[N / 2], u64 a, u64 b, int add) {
  const emulator::SpanMatrix rows = operand<TA>(a, AMnMajor);
  const int odd = top_row() % 2;
  float top[2][kDeep<TA>], low[2][kDeep<TA>];
  two_rows<TA>(rows, top_row() - odd, AMnMajor, top[0], top[1]);
  two_rows<TA>(rows, top_row() - odd + 8, AMnMajor, low[0], low[1]);
  multiply<N, TB>(d, top[odd], low[odd], b, add, MnMajor);
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
  float top[kDeep<TA>], low[kDeep<TA>];
  for (int k = 0; k < kDeep<TA>; ++k) top[k] = a(top_row(), k), low[k] = a(top_row() + 8, k);
  multiply<N, TB>(d, top, low, b, add, MnMajor);
  meet(group_key(), 128);
}
