// The frames of micro-benchmarks: the SM's clock around one kind of tile instruction. What is timed comes as functions of the repeat r.
// codegen/calibrate/micro.h says what the numbers are.
#pragma once
#include "types.cuh"

DEVICE u32 clock_now() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
/// Goes on when x is there.
DEVICE void settle(float x) { asm volatile("{ .reg .pred p; setp.eq.f32 p, %0, 0f7F7FFFFF; @p trap; }" :: "f"(x) : "memory"); }
DEVICE void settle(u32 x) { asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0xFEDCBA98; @p trap; }" :: "r"(x) : "memory"); }
DEVICE void read_global(const void* p, u32& x, u32& y, u32& z, u32& w) {
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(p) : "memory");
}
DEVICE void store_global(void* p, u32 x, u32 y, u32 z, u32 w) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}

/// One by one, then many in a row. `issue` begins the instruction, `there` waits for its result; the same for those in a row.
template <int Repeats, int Burst, class Issue, class There, class BurstIssue, class BurstThere>
DEVICE void time_single(u64* out, Issue issue, There there, BurstIssue burst_issue, BurstThere burst_there) {
#pragma unroll 1
  for (int r = 0; r < Repeats; ++r) {
    __syncthreads();
    const u32 begin = clock_now();
    issue(r);
    const u32 issued = clock_now();
    there(r);
    const u32 end = clock_now();
    if (threadIdx.x == 0) out[1 + 2 * r] = issued - begin, out[2 + 2 * r] = end - begin;
  }
  __syncthreads();
  const u32 begin = clock_now();
#pragma unroll 1
  for (int r = Repeats; r < Repeats + Burst; ++r) burst_issue(r);
  burst_there(0);
  const u32 end = clock_now();
  if (threadIdx.x == 0) out[0] = end - begin;
}

/// A loop whose passes need each other's results, twice: the second time with warm caches.
template <int Passes, class Pass, class There>
DEVICE void time_loop(u64* out, Pass pass, There there) {
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    __syncthreads();
    const u32 begin = clock_now();
#pragma unroll 1
    for (int r = 0; r < Passes; ++r) pass(r);
    there(0);
    const u32 end = clock_now();
    if (threadIdx.x == 0) *out = end - begin;
  }
}
