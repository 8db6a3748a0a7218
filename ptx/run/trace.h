// What happened, in order of time: what roles, rings, the timeline and the report are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::ptx {

/// Thousandths of a cycle.
using Time = std::int64_t;
constexpr Time kCycle = 1000;

enum class EventKind : std::uint8_t {
  Wait,
  Arrive,
  Expect,
  NamedSync,
  NamedArrive,
  ClusterArrive,
  ClusterWait,
  Fence,
  Registers,
  Load,
  Store,
  StoreCommit,
  StoreWait,
  Copy,
  CopyCommit,
  CopyWait,
  Product,
  ProductFence,
  ProductCommit,
  ProductWait,
  TensorLoad,
  TensorStore,
  TensorWait,
  TensorCopy,
  TensorAlloc,
  TensorFree,
  Arithmetic,
  SharedRead,
  SharedWrite,
  GlobalRead,
  GlobalWrite,
  Dependents,
  Exit,
};

struct RunEvent {
  EventKind kind = EventKind::Wait;
  std::int16_t warp = 0;  ///< in the cluster
  std::int32_t pc = 0;
  Time begin = 0, end = 0;                        ///< of the warp; of a copy or product: of the unit that works
  Time issued = 0;                                ///< when the warp issued it
  std::uint64_t address = 0;                      ///< barrier, destination or source in shared memory, columns of tensor memory
  std::int64_t amount = 0;                        ///< bytes, arrivals, threads, registers, instructions
  std::uint64_t barrier = 0;                      ///< that a copy or commit signals
  std::int32_t phase = -1;                        ///< of the barrier: which one was waited for, or arrived in
  std::int32_t map = -1;                          ///< index into Launch::maps
  std::int32_t rows = 0, columns = 0, depth = 0;  ///< of a product: m, n, k
  std::uint64_t operand_a = 0, operand_b = 0;     ///< descriptors of a product
};

constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::Exit) + 1;

using Trace = std::vector<RunEvent>;
/// Of a run that goes on for longer only the first events are kept, so that one without an end does not fill memory.
constexpr std::size_t kMostEvents = 1'000'000;

}  // namespace heddle::ptx
