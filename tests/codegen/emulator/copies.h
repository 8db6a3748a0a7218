// Copies of single threads into shared memory, at once or as late as they can, and the arrivals behind them.
#pragma once

#include "shared_memory.h"

inline void copy_bytes(u32 to, const void* from, u32 bytes, u32 size) {
  if (bytes > size) die("more bytes than a copy has");
  if (bytes > 0 && reinterpret_cast<u64>(from) % size != 0) die("a copy from an address that is no multiple of its bytes");
  at(to, size);
  start(late_copies, [=] {
    ++shared_writes;
    std::memset(at(to, size), 0, size);
    if (bytes > 0) std::memcpy(at(to, size), from, bytes);
  });
}
inline void copy_16(u32 to, const void* from, u32 bytes = 16) { copy_bytes(to, from, bytes, 16); }
inline void copy_8(u32 to, const void* from, u32 bytes = 8) { copy_bytes(to, from, bytes, 8); }
inline void copy_4(u32 to, const void* from, u32 bytes = 4) { copy_bytes(to, from, bytes, 4); }
/// What is late ends in the order in which it began.
inline void arrive_when_copied(u32 barrier) {
  start(late_copies, [=] { arrive(barrier); });
}
