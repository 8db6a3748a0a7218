// The state of an SM that runs event by event (core/simulate/sm_run.h): streams, CTAs, and what is issued and not yet served.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/simulate/cta_program.h"

namespace heddle {

inline constexpr Cycle kNotYet = -(Cycle{1} << 61), kLater = Cycle{1} << 61;
inline constexpr std::uint32_t kNobody = static_cast<std::uint32_t>(-1);

/// Served last at `now` as then at `then`, `shift` cycles later; or never, both times.
inline bool same_service(Cycle now, Cycle then, Cycle shift) { return now == then ? now == kNotYet : now - then == shift; }

/// The instruction stream of one group of one CTA, and its head: the next op.
struct SmStream {
  std::uint32_t cta = 0, group = 0;
  std::size_t tile = 0;  ///< of the CTA
  CtaSection section = CtaSection::Prologue;
  std::int64_t window = 0;
  std::size_t position = 0;
  bool done = false;
  Cycle last_issue = 0, window_end = 0;
  // The head.
  std::uint32_t op = 0;
  std::int64_t number = 0;      ///< iteration counted over all tiles, or the tile
  std::int64_t part = 0;        ///< the next to be served ...
  Cycle next = 0;               ///< ... not before this; part 0: not before `turn` and `ready`
  Cycle asked = 0;              ///< for part 0
  Cycle served = kNotYet;       ///< when the last part was
  std::uint32_t use = kNobody;  ///< the last that it had to wait for
  bool known = false;
  Cycle turn = 0, ready = kNotYet;
  std::uint32_t behind = kNobody;
  std::uint32_t waits_for = kNobody;  ///< the edge that is not satisfied yet ...
  std::uint32_t missing_op = 0;       ///< ... and what is missing
  std::int64_t missing = -1;
};

struct Cta {
  std::vector<std::int64_t> base{0};  ///< per tile, and one more: iterations before it
  std::vector<std::int64_t> count;    ///< per op: how often it has started
  std::vector<Cycle> time, extra;     ///< per op a ring: start, and how much longer its latency was
  Cycle end = 0;
  std::size_t open = 0;  ///< streams, and ops in lanes, that are not done with their tile
};

/// Asynchronous ops that one group has issued to interleaved units: they are served in order, beside the stream.
struct Lane {
  struct Issued {
    std::uint32_t op = 0;
    std::int64_t number = 0;
    bool first_tile = false;
    Cycle issue = 0, next = 0;
    std::int64_t part = 0;
  };
  std::uint32_t cta = 0, group = 0;
  std::deque<Issued> ops;
  Cycle served = kNotYet;  ///< when the last part was

  /// It stands as `then` did, `windows` iterations and `shift` cycles later.
  bool repeats(const Lane& then, std::int64_t windows, Cycle shift) const {
    return same_service(served, then.served, shift) &&
           std::equal(ops.begin(), ops.end(), then.ops.begin(), then.ops.end(), [&](const Issued& a, const Issued& b) {
             return a.op == b.op && a.part == b.part && a.number - b.number == windows && a.next - b.next == shift;
           });
  }
};

}  // namespace heddle
