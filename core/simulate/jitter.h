// Latencies that vary: how much longer or shorter one op of one iteration takes. A pure function of seed, op and iteration, so
// that two schedules of one problem meet the same delays, in whatever order they run. Where it is known which latencies an op has and how
// often (Op::spread), they are drawn, each by itself; other ops are as far off as they are asked to be.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/analysis/bracket.h"
#include "core/base/id.h"
#include "core/base/random.h"
#include "core/problem/problem.h"

namespace heddle {

enum class JitterShape {
  Uniform,  ///< anything up to `percent` more or less
  Normal,   ///< a standard deviation of `percent` (a sum of four uniform numbers: nothing beyond 3.5 of them)
  Tail,     ///< never less; an exponential with a mean of `percent`, as in queues for memory
};
const char* to_string(JitterShape shape);  ///< "uniform", "normal", "tail"

struct LatencyJitter {
  int percent = 0;  ///< of the op's latency; 0: constant
  JitterShape shape = JitterShape::Uniform;
  std::uint64_t seed = 1;
  bool every_op = false;  ///< all ops; else those of variable latency
};

/// 64 random bits of mixed counters.
inline std::uint64_t jitter_bits(std::uint64_t seed, std::uint64_t op, std::uint64_t iteration) {
  return mixed_bits(seed * 0xd1342543de82ef95ull + op * 0x9e3779b97f4a7c15ull + iteration * 0xbf58476d1ce4e5b9ull);
}

/// Cycles to add to a latency; never below -latency.
inline Cycle jitter_of(const LatencyJitter& jitter, Cycle latency, std::uint64_t op, std::uint64_t iteration) {
  if (jitter.percent == 0 || latency <= 0) return 0;
  const std::uint64_t bits = jitter_bits(jitter.seed, op, iteration);
  const double spread = static_cast<double>(latency) * jitter.percent / 100.0;
  double factor = 0;
  switch (jitter.shape) {
    case JitterShape::Uniform: factor = static_cast<double>(bits >> 11) * 0x1p-52 - 1; break;
    case JitterShape::Normal: {
      double sum = 0;
      for (int i = 0; i < 4; ++i) sum += static_cast<double>((bits >> (16 * i)) & 0xffff) / 65535.0;
      factor = (sum - 2) * 1.7320508075688772;  // four uniform numbers have a deviation of 1 / sqrt(3)
      break;
    }
    case JitterShape::Tail: factor = -std::log(static_cast<double>((bits >> 11) + 1) * 0x1p-53); break;
  }
  const auto more = static_cast<Cycle>(std::floor(spread * factor + 0.5));
  return more < -latency ? -latency : more;
}

/// The op's latency is not the same in every iteration.
inline bool varies(const LatencyJitter& jitter, const Op& op) {
  return !op.spread.empty() || (jitter.percent != 0 && (jitter.every_op || op.variable_latency));
}
inline bool latencies_vary(const LatencyJitter& jitter, const Problem& problem) { return jitter.percent != 0 || latencies_vary(problem); }

/// Cycles to add to the latency of an op that varies.
inline Cycle lateness(const LatencyJitter& jitter, const Op& op, std::uint64_t index, std::uint64_t iteration) {
  if (op.spread.empty()) return jitter_of(jitter, op.latency, index, iteration);
  const auto wide = static_cast<unsigned __int128>(jitter_bits(jitter.seed, index, iteration));
  const auto number = static_cast<std::int64_t>((wide * static_cast<std::uint64_t>(kWholeShare)) >> 64);
  return op.spread.cases[drawn_case(op.spread.cases, number)].cycles - op.spread.chosen();
}

}  // namespace heddle
