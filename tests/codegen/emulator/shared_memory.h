// Shared memory by address, numbers of 16 bits, and what the lanes of a warp exchange.
#pragma once

#include "banks.h"

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

[[noreturn]] inline void bad_place(u32 place) { die("bad shared address " + std::to_string(place)); }
/// By place in `block`, as matrix descriptors name it.
inline unsigned char* at_place(u32 place, u32 bytes, int block = here) {
  if (u64{place} + bytes > sizeof shared || place % bytes != 0) bad_place(place);
  return memory[block] + place;
}
/// At the place of the thread's own address, in `block`.
inline unsigned char* at(u32 address, u32 bytes, int block = here) { return at_place(place_in_block(address), bytes, block); }
/// The swizzle of `span` bytes exchanges address bits: those from 4 on with their exclusive or with those from 7 on, as many as make rows
/// of the span; none for 0.
inline u32 swizzled(u32 address, int span) {
  if (span != 0 && span != 32 && span != 64 && span != 128) die("a swizzle of " + std::to_string(span) + " bytes");
  return span == 0 ? address : address ^ ((address >> 3) & static_cast<u32>(span - 16));
}
template <class T>
T load_shared(u32 address) {
  T x;
  std::memcpy(&x, at(address, sizeof(T)), sizeof(T));
  return x;
}
template <class T>
void store_shared(u32 address, T x) {
  ++shared_writes;
  std::memcpy(at(address, sizeof(T)), &x, sizeof(T));
}
/// One instruction of a lane, `bytes` at once.
inline void note_access(banks::Kind kind, u32 a, u32 bytes, const Where& where) {
  at(a, bytes);
  banks::note(kind, a, static_cast<int>(bytes), where);
}
template <class T, class... More>
void store_all(u32 a, const Where& where, T first, More... more) {
  note_access(banks::Kind::Store, a, sizeof(T) * (1 + sizeof...(more)), where);
  store_shared(a, first);
  (store_shared(a += sizeof(T), more), ...);
}
template <class T, class... More>
void load_all(u32 a, const Where& where, T& first, More&... more) {
  note_access(banks::Kind::Load, a, sizeof(T) * (1 + sizeof...(more)), where);
  first = load_shared<T>(a);
  ((more = load_shared<T>(a += sizeof(T))), ...);
}
#define HERE const Where& where = Where::current()
inline void store_word(u32 a, float x, HERE) { store_all(a, where, x); }
inline void store_word(u32 a, u32 x, HERE) { store_all(a, where, x); }
inline void load_word(u32 a, float& x, HERE) { load_all(a, where, x); }
inline void load_word(u32 a, u32& x, HERE) { load_all(a, where, x); }
inline int warp_index() { return banks::warp_number(); }
inline void store_pair(u32 a, float x, float y, HERE) { store_all(a, where, x, y); }
inline void store_words(u32 a, u32 x, u32 y, u32 z, u32 w, HERE) { store_all(a, where, x, y, z, w); }
inline void store_byte(u32 a, u32 x, HERE) { store_all(a, where, static_cast<std::uint8_t>(x)); }
inline void store_half(u32 a, u32 x, HERE) { store_all(a, where, static_cast<std::uint16_t>(x)); }
inline void store_two(u32 a, u32 x, u32 y, HERE) { store_all(a, where, x, y); }
inline void load_byte(u32 a, u32& x, HERE) {
  std::uint8_t byte;
  load_all(a, where, byte);
  x = byte;
}
inline void load_half(u32 a, u32& x, HERE) {
  std::uint16_t half;
  load_all(a, where, half);
  x = half;
}
inline void load_two(u32 a, u32& x, u32& y, HERE) { load_all(a, where, x, y); }
inline void load_words(u32 a, float& x, float& y, HERE) { load_all(a, where, x, y); }
inline void load_words(u32 a, u32& x, u32& y, u32& z, u32& w, HERE) { load_all(a, where, x, y, z, w); }

inline u32 load_pair(const std::uint16_t* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % 4 != 0) die("a pair of 16-bit numbers at an odd place");
  return from[0] | u32{from[1]} << 16;
}
inline void load_pair(const float* from, float& x, float& y) { x = from[0], y = from[1]; }
inline int look_up(const int* table, int place) { return table[place]; }
inline void write_half(void* to, u32 x) { std::memcpy(to, &x, 2); }
template <class T, class... More>
void write_words(void* to, T first, More... more) {
  constexpr std::size_t kBytes = sizeof(T) * (1 + sizeof...(More));
  if (reinterpret_cast<u64>(to) % kBytes != 0) die("a store to an address that is no multiple of its bytes");
  const T all[] = {first, more...};
  std::memcpy(to, all, kBytes);
}
/// One vector of 32-bit words.
template <class T, class... More>
void load_global(const void* from, T& first, More&... more) {
  if (reinterpret_cast<std::uintptr_t>(from) % (4 * (1 + sizeof...(more))) != 0) die("a vector of global memory at an odd place");
  const char* at = static_cast<const char*>(from);
  std::memcpy(&first, at, 4);
  (std::memcpy(&more, at += 4, 4), ...);
}

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
inline u32 lane_words[32 * kMostBlocks][32];
inline u32 from_lane(u32 x, int lane) {
  const int warp = warp_index();
  lane_words[warp][threadIdx.x % 32] = x;
  meet(warp_key(), 32);
  const u32 y = lane_words[warp][lane & 31];
  meet(warp_key(), 32);
  return y;
}
inline bool __any_sync(u32, bool one) {
  float any = one ? 1.0f : 0.0f;
  for (int mask = 16; mask > 0; mask /= 2) any = std::max(any, __shfl_xor_sync(0, any, mask));
  return any > 0;
}

/// stmatrix and ldmatrix: thread 8m + r gives the address of row r of matrix m; thread t holds of each matrix row t/4, columns 2(t%4)
/// and the next, as the halves of one register. Transposed: column t/4, rows 2(t%4) and the next.
inline u32 rows_of[32 * kMostBlocks][32];
inline void give_rows(u32 a, int matrices, banks::Kind kind, const Where& where) {
  const int lane = threadIdx.x % 32;
  if (lane < 8 * matrices) note_access(kind, a, 16, where);
  rows_of[warp_index()][lane] = a;
  meet(warp_key(), 32);
}
template <bool Transposed, int Matrices>
void store_fragments(u32 a, const u32 (&registers)[Matrices], const Where& where) {
  give_rows(a, Matrices, banks::Kind::MatrixStore, where);
  const int warp = warp_index(), lane = threadIdx.x % 32;
  for (int m = 0; m < Matrices; ++m)
    if (!Transposed)
      store_shared(rows_of[warp][8 * m + lane / 4] + lane % 4 * 4, registers[m]);
    else
      for (int half = 0; half < 2; ++half)
        store_shared(rows_of[warp][8 * m + lane % 4 * 2 + half] + lane / 4 * 2, static_cast<std::uint16_t>(registers[m] >> 16 * half));
  meet(warp_key(), 32);
}
template <bool Transposed, int Matrices>
void load_fragments(u32 a, u32 (&registers)[Matrices], const Where& where) {
  give_rows(a, Matrices, banks::Kind::MatrixLoad, where);
  const int warp = warp_index(), lane = threadIdx.x % 32;
  for (int m = 0; m < Matrices; ++m)
    if (!Transposed)
      registers[m] = load_shared<u32>(rows_of[warp][8 * m + lane / 4] + lane % 4 * 4);
    else
      registers[m] = load_shared<std::uint16_t>(rows_of[warp][8 * m + lane % 4 * 2] + lane / 4 * 2) |
                     u32{load_shared<std::uint16_t>(rows_of[warp][8 * m + lane % 4 * 2 + 1] + lane / 4 * 2)} << 16;
  meet(warp_key(), 32);
}
#define MATRICES(NAME, TRANSPOSED)                                                                                          \
  inline void store_matrix##NAME(u32 a, u32 r0, HERE) { store_fragments<TRANSPOSED, 1>(a, {r0}, where); }                   \
  inline void store_two_matrices##NAME(u32 a, u32 r0, u32 r1, HERE) { store_fragments<TRANSPOSED, 2>(a, {r0, r1}, where); } \
  inline void store_matrices##NAME(u32 a, u32 r0, u32 r1, u32 r2, u32 r3, HERE) {                                           \
    store_fragments<TRANSPOSED, 4>(a, {r0, r1, r2, r3}, where);                                                             \
  }                                                                                                                         \
  inline void load_matrix##NAME(u32 a, u32& r0, HERE) {                                                                     \
    u32 r[1];                                                                                                               \
    load_fragments<TRANSPOSED>(a, r, where);                                                                                \
    r0 = r[0];                                                                                                              \
  }                                                                                                                         \
  inline void load_two_matrices##NAME(u32 a, u32& r0, u32& r1, HERE) {                                                      \
    u32 r[2];                                                                                                               \
    load_fragments<TRANSPOSED>(a, r, where);                                                                                \
    r0 = r[0], r1 = r[1];                                                                                                   \
  }                                                                                                                         \
  inline void load_matrices##NAME(u32 a, u32& r0, u32& r1, u32& r2, u32& r3, HERE) {                                        \
    u32 r[4];                                                                                                               \
    load_fragments<TRANSPOSED>(a, r, where);                                                                                \
    r0 = r[0], r1 = r[1], r2 = r[2], r3 = r[3];                                                                             \
  }
MATRICES(, false)
MATRICES(_transposed, true)
#undef MATRICES
