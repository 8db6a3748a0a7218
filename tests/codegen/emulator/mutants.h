// What a text with things wrong calls (tests/codegen/text_mutants.h): each does what it should unless its mutant is on. N is the number of
// the first of a call's mutants.
#pragma once

#include "tensor_memory.h"

inline int emulated_mutant = 0;

/// HEDDLE_MUTANT=7; HEDDLE_LANES_8=32: the rule of phases; HEDDLE_SPAN=1:64: the swizzle of map 1.
inline void read_mutant() {
  if (const char* text = std::getenv("HEDDLE_MUTANT")) emulated_mutant = std::atoi(text);
  if (const char* text = std::getenv("HEDDLE_LANES_4")) banks::lanes_for_4 = std::atoi(text);
  if (const char* text = std::getenv("HEDDLE_LANES_8")) banks::lanes_for_8 = std::atoi(text);
  if (const char* text = std::getenv("HEDDLE_LANES_16")) banks::lanes_for_16 = std::atoi(text);
}
inline int emulated_span(int map, int span) {
  int of = -1, other = 0;
  if (const char* text = std::getenv("HEDDLE_SPAN"); text && std::sscanf(text, "%d:%d", &of, &other) == 2 && of == map) return other;
  return span;
}

template <int N>
void mutated_store_matrices(u32 a, u32 r0, u32 r1, u32 r2, u32 r3, HERE) {
  if (emulated_mutant == N) return store_matrices_transposed(a, r0, r1, r2, r3, where);
  if (emulated_mutant == N + 1) return store_matrices(a, r1, r0, r2, r3, where);
  if (emulated_mutant == N + 2) return store_matrices(a, r0, r2, r1, r3, where);
  store_matrices(a, r0, r1, r2, r3, where);
}
template <int N>
void mutated_load_matrices(u32 a, u32& r0, u32& r1, u32& r2, u32& r3, HERE) {
  if (emulated_mutant == N) return load_matrices_transposed(a, r0, r1, r2, r3, where);
  if (emulated_mutant == N + 1) return load_matrices(a, r1, r0, r2, r3, where);
  if (emulated_mutant == N + 2) return load_matrices(a, r0, r2, r1, r3, where);
  load_matrices(a, r0, r1, r2, r3, where);
}
template <int N>
void mutated_load_matrices_transposed(u32 a, u32& r0, u32& r1, u32& r2, u32& r3, HERE) {
  if (emulated_mutant == N) return load_matrices(a, r0, r1, r2, r3, where);
  if (emulated_mutant == N + 1) return load_matrices_transposed(a, r1, r0, r2, r3, where);
  if (emulated_mutant == N + 2) return load_matrices_transposed(a, r0, r2, r1, r3, where);
  load_matrices_transposed(a, r0, r1, r2, r3, where);
}
template <int N>
void mutated_store_pair(u32 a, float x, float y, HERE) {
  if (emulated_mutant == N) std::swap(x, y);
  store_pair(a, x, y, where);
}
template <int N>
void mutated_store_words(u32 a, u32 x, u32 y, u32 z, u32 w, HERE) {
  if (emulated_mutant == N) std::swap(x, y);
  if (emulated_mutant == N + 1) std::swap(y, z);
  store_words(a, x, y, z, w, where);
}
template <int N>
void mutated_load_words(u32 a, float& x, float& y, HERE) {
  load_words(a, x, y, where);
  if (emulated_mutant == N) std::swap(x, y);
}
template <int N>
void mutated_load_words(u32 a, u32& x, u32& y, u32& z, u32& w, HERE) {
  load_words(a, x, y, z, w, where);
  if (emulated_mutant == N) std::swap(x, y);
}
template <int N>
u64 mutated_matrix(u32 address, u32 leading) {
  if (emulated_mutant == N) return matrix_64(address, leading);
  if (emulated_mutant == N + 1) return matrix_32(address, leading);
  return matrix(address, leading);
}
template <int N>
u64 mutated_matrix_64(u32 address, u32 leading) {
  if (emulated_mutant == N) return matrix(address, leading);
  if (emulated_mutant == N + 1) return matrix_32(address, leading);
  return matrix_64(address, leading);
}
template <int N>
u64 mutated_matrix_32(u32 address, u32 leading) {
  if (emulated_mutant == N) return matrix(address, leading);
  if (emulated_mutant == N + 1) return matrix_64(address, leading);
  return matrix_32(address, leading);
}
/// Only two bytes of the inner permutes are read: those that these change.
template <int N>
u32 mutated_bytes_of(u32 x, u32 y, u32 which) {
  if (emulated_mutant == N) which ^= 0x1;
  if (emulated_mutant == N + 1) which ^= 0x10;
  return bytes_of(x, y, which);
}
// A packing shifted by a nibble, either way, and pairs of columns in another order. The text has those that it calls.
inline void bf16_of_i4(u32 x, u32& a, u32& b, u32& c, u32& d);
inline void bf16_of_i4_halves(u32 x, u32& a, u32& b, u32& c, u32& d);
template <int N, class Unpack>
void mutated_unpack(Unpack unpack, u32 x, u32& a, u32& b, u32& c, u32& d) {
  if (emulated_mutant == N) x = x << 4 | x >> 28;
  if (emulated_mutant == N + 1) x = x >> 4 | x << 28;
  unpack(x, a, b, c, d);
  if (emulated_mutant == N + 2) std::swap(b, c);
}
template <int N>
void mutated_bf16_of_i4(u32 x, u32& a, u32& b, u32& c, u32& d) {
  mutated_unpack<N>(bf16_of_i4, x, a, b, c, d);
}
template <int N>
void mutated_bf16_of_i4_halves(u32 x, u32& a, u32& b, u32& c, u32& d) {
  mutated_unpack<N>(bf16_of_i4_halves, x, a, b, c, d);
}
template <int N>
u32 mutated_from_lane(u32 x, int lane) {
  if (emulated_mutant == N) lane ^= 1;
  if (emulated_mutant == N + 1) lane ^= 4;
  return from_lane(x, lane);
}
