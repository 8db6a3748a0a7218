// The recording build's wrappers over the emulator: a clock that goes on with everything that happens.
#pragma once

#include "tests/codegen/emulator/tensor_memory.h"

/// 64 cycles per event of the emulator, and one per reading.
inline u64 emulated_clock() {
  static u64 readings = 0;
  return static_cast<u64>(progress) * 64 + ++readings;
}
inline void record(u64* to, u32& at, u32 capacity, u32 point) {
  if (at < capacity) to[at++] = static_cast<u64>(static_cast<u32>(emulated_clock())) << 32 | point;
}
/// An SM at 1500 MHz.
inline u64 global_timer() { return emulated_clock() * 2 / 3; }
inline u64 sm_clock() { return emulated_clock(); }
inline void block_begins(u64* head) {
  head[0] = global_timer();
  head[1] = sm_clock();
  head[2] = static_cast<u64>(blockIdx.x);
}
inline void block_ends(u64* head) {
  head[3] = global_timer();
  head[4] = sm_clock();
}
