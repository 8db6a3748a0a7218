// Registers from global memory that nobody writes meanwhile, two neighbours at a time.
#pragma once
#include "types.cuh"

DEVICE u32 load_pair(const unsigned short* from) {
  u32 x;
  asm("ld.global.nc.u32 %0, [%1];" : "=r"(x) : "l"(from));
  return x;
}
DEVICE void load_pair(const float* from, float& x, float& y) { asm("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(from)); }
