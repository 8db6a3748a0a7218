// Registers from global memory that nobody writes meanwhile, one to four neighbours of 32 bits at a time.
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
/// A number of an index tensor.
DEVICE int look_up(const int* table, int place) {
  int x;
  asm("ld.global.nc.s32 %0, [%1];" : "=r"(x) : "l"(table + place));
  return x;
}
/// Rounded towards minus infinity; b > 0.
DEVICE int quotient_of(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
DEVICE int remainder_of(int a, int b) { return a - quotient_of(a, b) * b; }
