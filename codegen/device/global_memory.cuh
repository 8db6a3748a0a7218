// Registers from global memory that nobody writes meanwhile, one to four neighbours of 32 bits at a time, and to it.
#pragma once
#include "types.cuh"

DEVICE u32 load_pair(const unsigned short* from) {
  u32 x;
  asm("ld.global.nc.u32 %0, [%1];" : "=r"(x) : "l"(from));
  return x;
}
DEVICE void load_pair(const float* from, float& x, float& y) { asm("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(from)); }
DEVICE void load_global(const void* from, u32& x) { asm("ld.global.nc.u32 %0, [%1];" : "=r"(x) : "l"(from)); }
DEVICE void load_global(const void* from, u32& x, u32& y) { asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(from)); }
DEVICE void load_global(const void* from, u32& x, u32& y, u32& z, u32& w) {
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(from));
}
DEVICE void load_global(const void* from, float& x) { asm("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(from)); }
DEVICE void load_global(const void* from, float& x, float& y) {
  asm("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(from));
}
DEVICE void load_global(const void* from, float& x, float& y, float& z, float& w) {
  asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(from));
}
// And back: one of 16 bits, one to four of 32 bits.
DEVICE void write_half(void* to, u32 x) { asm volatile("{ .reg .b16 l, h; mov.b32 {l, h}, %1; st.global.b16 [%0], l; }" ::"l"(to), "r"(x) : "memory"); }
DEVICE void write_words(void* to, u32 x) { asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(x) : "memory"); }
DEVICE void write_words(void* to, u32 x, u32 y) { asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(x), "r"(y) : "memory"); }
DEVICE void write_words(void* to, u32 x, u32 y, u32 z, u32 w) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}
DEVICE void write_words(void* to, float x) { asm volatile("st.global.f32 [%0], %1;" ::"l"(to), "f"(x) : "memory"); }
DEVICE void write_words(void* to, float x, float y) { asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(x), "f"(y) : "memory"); }
DEVICE void write_words(void* to, float x, float y, float z, float w) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
}
/// A number of an index tensor.
DEVICE int look_up(const int* table, int place) {
  int x;
  asm("ld.global.nc.s32 %0, [%1];" : "=r"(x) : "l"(table + place));
  return x;
}
/// Rounded towards minus infinity; b > 0.
DEVICE int quotient_of(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
DEVICE int remainder_of(int a, int b) { return a - quotient_of(a, b) * b; }
