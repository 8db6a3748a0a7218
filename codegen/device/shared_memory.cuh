// Registers to shared memory and back.
#pragma once
#include "types.cuh"

DEVICE void store_matrices(u32 a, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
}
DEVICE void store_word(u32 a, float x) { asm volatile("st.shared.f32 [%0], %1;" ::"r"(a), "f"(x) : "memory"); }
DEVICE void store_word(u32 a, u32 x) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(x) : "memory"); }
DEVICE void load_word(u32 a, float& x) { asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(a) : "memory"); }
DEVICE void load_word(u32 a, u32& x) { asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(a) : "memory"); }
DEVICE void store_pair(u32 a, float x, float y) { asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(a), "f"(x), "f"(y) : "memory"); }
DEVICE void store_words(u32 a, u32 x, u32 y, u32 z, u32 w) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}
DEVICE void load_words(u32 a, float& x, float& y) { asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(a) : "memory"); }
DEVICE void load_words(u32 a, u32& x, u32& y, u32& z, u32& w) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(a) : "memory");
}
// By name, so that a text has those that it uses only: one, two or four registers, and matrices whose rows are the registers' columns.
DEVICE void store_byte(u32 a, u32 x) { asm volatile("st.shared.u8 [%0], %1;" ::"r"(a), "r"(x) : "memory"); }
DEVICE void store_half(u32 a, u32 x) { asm volatile("st.shared.u16 [%0], %1;" ::"r"(a), "r"(x) : "memory"); }
DEVICE void store_two(u32 a, u32 x, u32 y) { asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(a), "r"(x), "r"(y) : "memory"); }
DEVICE void store_matrix(u32 a, u32 r0) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(a), "r"(r0) : "memory");
}
DEVICE void store_two_matrices(u32 a, u32 r0, u32 r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(a), "r"(r0), "r"(r1) : "memory");
}
DEVICE void store_matrix_transposed(u32 a, u32 r0) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(a), "r"(r0) : "memory");
}
DEVICE void store_two_matrices_transposed(u32 a, u32 r0, u32 r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(a), "r"(r0), "r"(r1) : "memory");
}
DEVICE void store_matrices_transposed(u32 a, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(a), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
}
DEVICE void load_byte(u32 a, u32& x) { asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(a) : "memory"); }
DEVICE void load_half(u32 a, u32& x) { asm volatile("ld.shared.u16 %0, [%1];" : "=r"(x) : "r"(a) : "memory"); }
DEVICE void load_two(u32 a, u32& x, u32& y) { asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(a) : "memory"); }
DEVICE void load_matrix(u32 a, u32& r0) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r0) : "r"(a) : "memory");
}
DEVICE void load_two_matrices(u32 a, u32& r0, u32& r1) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(a) : "memory");
}
DEVICE void load_matrices(u32 a, u32& r0, u32& r1, u32& r2, u32& r3) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a) : "memory");
}
DEVICE void load_matrix_transposed(u32 a, u32& r0) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r0) : "r"(a) : "memory");
}
DEVICE void load_two_matrices_transposed(u32 a, u32& r0, u32& r1) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(a) : "memory");
}
DEVICE void load_matrices_transposed(u32 a, u32& r0, u32& r1, u32& r2, u32& r3) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a) : "memory");
}
/// A register of another lane of the warp, whose lanes are all here.
DEVICE u32 from_lane(u32 x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
