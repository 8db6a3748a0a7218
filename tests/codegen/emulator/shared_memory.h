// Shared memory by address, numbers of 16 bits, and what the lanes of a warp exchange.
#pragma once

#include "block.h"

inline float bf16_value(std::uint16_t x) {
  const u32 bits = u32{x} << 16;
  float y;
  std::memcpy(&y, &bits, 4);
  return y;
}
inline std::uint16_t bf16_bits(float x) {
  u32 bits;
  std::memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline u32 pack_bf16(float low, float high) { return bf16_bits(low) | u32{bf16_bits(high)} << 16; }
inline float low_bf16(u32 x) { return bf16_value(static_cast<std::uint16_t>(x)); }
inline float high_bf16(u32 x) { return bf16_value(static_cast<std::uint16_t>(x >> 16)); }
inline float round_bf16_(float x) { return bf16_value(bf16_bits(x)); }
inline u32 __float_as_uint(float x) {
  u32 bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
inline float __uint_as_float(u32 bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
inline float exp2_(float x) { return std::exp2(x); }
inline float log2_(float x) { return std::log2(x); }
inline float recip_(float x) { return 1.0f / x; }
inline float rsqrt_(float x) { return 1.0f / std::sqrt(x); }
inline float sqrt_(float x) { return std::sqrt(x); }
inline float tanh_(float x) { return std::tanh(x); }
inline float sin_(float x) { return std::sin(x); }
inline float sigmoid_(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// ---- shared memory

inline unsigned char* at(u32 address, u32 bytes, int block = here) {
  if (u64{address} + bytes > sizeof shared || address % bytes != 0) die("bad shared address " + std::to_string(address));
  return memory[block] + address;
}
/// The swizzles exchange address bits: 4 to 6 with their exclusive or with 7 to 9; of 64 bytes 4 and 5 with 7 and 8, of 32 bytes 4 with 7.
inline u32 swizzled(u32 address, int span = 128) { return address ^ ((address >> 3) & static_cast<u32>(span - 16)); }
template <class T>
T load_shared(u32 address) {
  T x;
  std::memcpy(&x, at(address, sizeof(T)), sizeof(T));
  return x;
}
template <class T>
void store_shared(u32 address, T x) {
  std::memcpy(at(address, sizeof(T)), &x, sizeof(T));
}
inline void store_word(u32 a, float x) { store_shared(a, x); }
inline void store_word(u32 a, u32 x) { store_shared(a, x); }
inline void load_word(u32 a, float& x) { x = load_shared<float>(a); }
inline void load_word(u32 a, u32& x) { x = load_shared<u32>(a); }
inline int warp_index() { return threads_of_block / 32 * here + threadIdx.x / 32; }
/// Addresses of each lane's pair stores in turn; lanes of a warp issue them together.
inline std::vector<u32> pair_stores[32 * kMostBlocks][32];
/// How often 16 lanes that store pairs at the same time meet in one of the 32 banks, at worst. 0: nobody stored pairs.
inline int pair_store_ways() {
  int worst = 0;
  for (const auto& lanes : pair_stores)
    for (std::size_t i = 0; i < lanes[0].size(); ++i)
      for (int half = 0; half < 32; half += 16) {
        int met[32] = {};
        for (int lane = half; lane < half + 16; ++lane)
          for (u32 word = 0; word < 2; ++word) worst = std::max(worst, ++met[(lanes[lane].at(i) / 4 + word) % 32]);
      }
  return worst;
}
inline void store_pair(u32 a, float x, float y) {
  at(a, 8);
  pair_stores[warp_index()][threadIdx.x % 32].push_back(a);
  store_shared(a, x), store_shared(a + 4, y);
}
inline void store_words(u32 a, u32 x, u32 y, u32 z, u32 w) {
  at(a, 16);
  store_shared(a, x), store_shared(a + 4, y), store_shared(a + 8, z), store_shared(a + 12, w);
}
inline void load_words(u32 a, float& x, float& y) {
  at(a, 8);
  x = load_shared<float>(a), y = load_shared<float>(a + 4);
}
inline void load_words(u32 a, u32& x, u32& y, u32& z, u32& w) {
  at(a, 16);
  x = load_shared<u32>(a), y = load_shared<u32>(a + 4), z = load_shared<u32>(a + 8), w = load_shared<u32>(a + 12);
}

inline u32 load_pair(const std::uint16_t* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % 4 != 0) die("a pair of 16-bit numbers at an odd place");
  return from[0] | u32{from[1]} << 16;
}
inline void load_pair(const float* from, float& x, float& y) { x = from[0], y = from[1]; }

inline float exchange[32 * kMostBlocks][32];
inline float __shfl_sync(u32, float x, int lane) {
  if (lane != threadIdx.x % 32) die("a shuffle from another lane");
  return x;
}
inline float __shfl_xor_sync(u32, float x, int mask) {
  const int warp = warp_index(), lane = threadIdx.x % 32;
  exchange[warp][lane] = x;
  meet(warp_key(), 32);
  const float y = exchange[warp][lane ^ mask];
  meet(warp_key(), 32);
  return y;
}
inline bool __any_sync(u32, bool one) {
  float any = one ? 1.0f : 0.0f;
  for (int mask = 16; mask > 0; mask /= 2) any = std::max(any, __shfl_xor_sync(0, any, mask));
  return any > 0;
}

/// stmatrix x4: thread 8m + r gives the address of row r of matrix m; thread t holds of each matrix row t/4, columns 2(t%4)
/// and the next, as the halves of one register.
inline u32 rows_of[32 * kMostBlocks][32];
inline void store_matrices(u32 a, u32 r0, u32 r1, u32 r2, u32 r3) {
  const int warp = warp_index(), lane = threadIdx.x % 32;
  at(a, 16);
  rows_of[warp][lane] = a;
  meet(warp_key(), 32);
  const u32 registers[4] = {r0, r1, r2, r3};
  for (int m = 0; m < 4; ++m) store_shared(rows_of[warp][8 * m + lane / 4] + lane % 4 * 4, registers[m]);
  meet(warp_key(), 32);
}
