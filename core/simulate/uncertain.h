// The numbers of a machine file are not known exactly. Here: what else they could be, and how well a schedule's order stands that.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/schedule/outcome.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// One problem under numbers that are off in different ways: same ops, edges, units and rings.
struct UncertainNumbers {
  std::vector<Problem> samples;  ///< the pace of arithmetic falls from the first to the last
  StreamCosts streams;           ///< the machine's; its pace is in the samples
};

/// The pace of arithmetic is spread evenly over what the machine file states; latencies of each kind of op are off by up to
/// kLatencyPercent, both ways (an assumption). Same seed, same samples.
inline constexpr int kLatencyPercent = 10;
UncertainNumbers uncertain_numbers(const Problem& problem, const Machine& machine, int count = 24, std::uint64_t seed = 1);

/// Cycles per iteration of the schedule's order, as hardware runs it (Arbitration::Interleaved), over all samples. Both 0 where it
/// deadlocks, or when stopped.
PeriodSpread period_spread(const UncertainNumbers& numbers, const Schedule& schedule, const std::stop_token& stop = {});

}  // namespace heddle
