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
/// An operand in shared memory as numbers, made once for all threads of a warpgroup: two rows together, by k. They hold while nobody writes
/// to shared memory.
struct Numbers {
  u64 descriptor = 0;
  int block = -1, kind = 0;
  long writes = -1;
  std::vector<float> values;
};
using Operands = std::array<Numbers, 64>;  ///< by their descriptors
template <Number T>
const float* two_rows(const float* values, int row) {
  return values + row / 2 * 2 * kDeep<T>;
}
/// The first row is an even one. What swizzles leave together is read at once: 16 bytes, or two rows of k.
template <Number T>
void read_two_rows(const emulator::SpanMatrix& m, int row, bool mn_major, float* to) {
  constexpr int kBytes = bytes_of_number(T), kTogether = 16 / kBytes;
  Bits<T> bits[kTogether];
  if (mn_major) {
    for (int k = 0; k < kDeep<T>; ++k) {
      std::memcpy(bits, at_place(emulator::place_of(m, row, k, true, kBytes), 2 * kBytes), 2 * kBytes);
      to[2 * k] = number(T, bits[0]), to[2 * k + 1] = number(T, bits[1]);
    }
    return;
  }
  for (int of = 0; of < 2; ++of)
    for (int k = 0; k < kDeep<T>; k += kTogether) {
      std::memcpy(bits, at_place(emulator::place_of(m, row + of, k, false, kBytes), 16), 16);
      for (int i = 0; i < kTogether; ++i) to[2 * (k + i) + of] = number(T, bits[i]);
    }
}
template <Number T>
const float* numbers_of(Operands& known, u64 descriptor, int rows, bool mn_major) {
  Numbers& numbers = known[descriptor * 0x9e3779b97f4a7c15 >> 58];
  const int kind = rows * 8 + static_cast<int>(T) * 2 + mn_major;
  if (numbers.descriptor == descriptor && numbers.block == here && numbers.kind == kind && numbers.writes == shared_writes)
    return numbers.values.data();
  const emulator::SpanMatrix m = operand<T>(descriptor, mn_major);
  numbers.values.resize(static_cast<std::size_t>(rows * kDeep<T>));
  for (int row = 0; row < rows; row += 2) read_two_rows<T>(m, row, mn_major, &numbers.values[static_cast<std::size_t>(row * kDeep<T>)]);
  numbers.descriptor = descriptor, numbers.block = here, numbers.kind = kind, numbers.writes = shared_writes;
  return numbers.values.data();
}
inline Operands of_a, of_b;
/// Rows of this thread's part of the result: the first, and 8 further on.
inline int top_row() { return threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4; }
/// Two rows of A by two of B: four numbers of a thread, which it sums side by side.
using Four = float __attribute__((vector_size(16)));
/// m64nNk16, or k32 of 8 bits, for this thread: `rows` is its two rows of A, each number twice.
template <int N, Number T>
void multiply(float* d, const Four (&rows)[kDeep<T>], u64 b, int add, bool mn_major) {
  const float* columns = two_rows<T>(numbers_of<T>(of_b, b, N, mn_major), threadIdx.x % 4 * 2);
  for (int j = 0; j < N / 8; ++j, d += 4, columns += 8 * kDeep<T>) {
    Four sums = {};
    if (add) std::memcpy(&sums, d, sizeof sums);
    for (int k = 0; k < kDeep<T>; ++k) sums += rows[k] * Four{columns[2 * k], columns[2 * k + 1], columns[2 * k], columns[2 * k + 1]};
    std::memcpy(d, &sums, sizeof sums);
  }
}
template <int N, bool AMnMajor, bool MnMajor, Number TA, Number TB>
void product(float (&d)[N / 2], u64 a, u64 b, int add) {
  const float* all = numbers_of<TA>(of_a, a, 64, AMnMajor);
  const float *top = two_rows<TA>(all, top_row()) + top_row() % 2, *low = two_rows<TA>(all, top_row() + 8) + top_row() % 2;
  Four rows[kDeep<TA>];
  for (int k = 0; k < kDeep<TA>; ++k) rows[k] = Four{top[2 * k], top[2 * k], low[2 * k], low[2 * k]};
  multiply<N, TB>(d, rows, b, add, MnMajor);
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
  Four rows[kDeep<TA>];
  for (int k = 0; k < kDeep<TA>; ++k) {
    const float top = a(top_row(), k), low = a(top_row() + 8, k);
    rows[k] = Four{top, top, low, low};
  }
  multiply<N, TB>(d, rows, b, add, MnMajor);
  meet(group_key(), 128);
}
