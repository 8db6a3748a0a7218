// The recording build of a kernel: the same text with one more argument, a piece of memory into which every warp writes a
// record of 8 bytes, {which point | iteration, SM clock}, at the points that matter. No atomics: a warp has its own slice, and
// once that is full it writes no more. What a record means is decided here and read by codegen/profile.
//
//   Loop  two records per warp, where the steady loop begins and where it ends: cycles per iteration, at no cost
//   Ops   a window of the steady loop, in it a record wherever an op of the role begins or ends, or a wait begins or ends
//
// A synchronous op ends when its results are in registers (they are pinned before the clock is read), an asynchronous one when
// the wait for it returns: in its own role for mmas and stores, in the reading role for loads.
//
// Memory: per recorded block a head of kRecordHead words of 64 bits, then `capacity` records for each of its warps.
// Head: global timer (ns), SM clock and SM number when the block begins, global timer and SM clock when its first role ends.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/program/program.h"

namespace heddle::codegen {

enum class Recording { None, Loop, Ops };

struct RecordEvent {
  enum class Kind { LoopBegin, LoopEnd, Begin, End, WaitBegin, WaitEnd };
  Kind kind = Kind::Begin;
  OpRef op;                    ///< Begin, End: whose; WaitBegin, WaitEnd: which load is waited for
  std::int64_t iteration = 0;  ///< after the loop's counter
};

/// One place in the text where the clock is read; several events may meet there.
struct RecordPoint {
  std::size_t role = 0;
  std::vector<RecordEvent> events;
};

inline constexpr int kRecordHead = 8;
inline constexpr std::uint32_t kRecordPointBits = 12;  ///< of the word beside the clock; the rest is the loop's counter

struct RecordPlan {
  Recording recording = Recording::None;
  std::vector<RecordPoint> points;                   ///< a record names its index
  int warps = 0;                                     ///< of the block
  int capacity = 0;                                  ///< records per warp
  int blocks = 8;                                    ///< that record, from the first
  std::int64_t first_iteration = 0, iterations = 0;  ///< the window, as near as the roles' loops allow
  std::int64_t loop_iterations = 0;                  ///< of the longest steady loop
  std::int64_t words() const { return static_cast<std::int64_t>(blocks) * (kRecordHead + static_cast<std::int64_t>(warps) * capacity); }
};

}  // namespace heddle::codegen
