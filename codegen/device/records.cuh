// The clocks of a recording build: what codegen/emit/records.h describes, written to memory by the kernel itself.
#pragma once
#include "types.cuh"

/// One record {point and iteration, clock}, unless the warp's slice is full; only warps that record have at < capacity.
DEVICE void record(u64* to, u32& at, u32 capacity, u32 point) {
  asm volatile(
      "{ .reg .pred p; .reg .u32 t; .reg .u64 a; setp.lt.u32 p, %0, %2; mov.u32 t, %%clock; mul.wide.u32 a, %0, 8; add.u64 a, a, %1;\n"
      "@p st.global.cs.v2.u32 [a], {%3, t}; @p add.u32 %0, %0, 1; }"
      : "+r"(at) : "l"(to), "r"(capacity), "r"(point) : "memory");
}
DEVICE u64 global_timer() { u64 t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t) :: "memory"); return t; }
DEVICE u64 sm_clock() { u64 t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t) :: "memory"); return t; }
DEVICE u32 sm_number() { u32 n; asm volatile("mov.u32 %0, %%smid;" : "=r"(n)); return n; }
DEVICE void block_begins(u64* head) { head[0] = global_timer(); head[1] = sm_clock(); head[2] = sm_number(); }
DEVICE void block_ends(u64* head) { head[3] = global_timer(); head[4] = sm_clock(); }
