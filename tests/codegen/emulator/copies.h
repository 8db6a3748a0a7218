// Copies of single threads into shared memory, at once or as late as they can, and the arrivals behind them.
#pragma once

#include <utility>

#include "shared_memory.h"

/// Of a fiber, since its last arrival; what is late comes with that.
inline std::map<int, std::vector<std::function<void()>>> open_copies;

inline void copy_bytes(u32 to, const void* from, u32 bytes, u32 size) {
  if (bytes > size) die("more bytes than a copy has");
  if (bytes > 0 && reinterpret_cast<u64>(from) % size != 0) die("a copy from an address that is no multiple of its bytes");
  at(to, size);
  const auto copy = [=] {
    ++shared_writes;
    std::memset(at(to, size), 0, size);
    if (bytes > 0) std::memcpy(at(to, size), from, bytes);
  };
  if (late_copies)
    open_copies[fiber()].push_back(copy);
  else
    copy();
}
inline void copy_16(u32 to, const void* from, u32 bytes = 16) { copy_bytes(to, from, bytes, 16); }
inline void copy_8(u32 to, const void* from, u32 bytes = 8) { copy_bytes(to, from, bytes, 8); }
inline void copy_4(u32 to, const void* from, u32 bytes = 4) { copy_bytes(to, from, bytes, 4); }
inline void arrive_when_copied(u32 barrier) {
  start(late_copies, [barrier, copies = std::exchange(open_copies[fiber()], {})] {
    for (const auto& copy : copies) copy();
    arrive(barrier);
  });
}
