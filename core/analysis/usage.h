// What a schedule uses over one II window: unit profiles, live shared and tensor memory, registers per group. Feeds lanes,
// summaries and the numbers of the solve report.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/analysis/usage_curve.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct Usage {
  std::vector<UsageCurve> units;      ///< amount in use, per unit
  std::vector<Cycle> busy;            ///< cycles of the window in which the unit is used at all, per unit
  UsageCurve smem_live;               ///< bytes of slots holding a live copy, residents included
  UsageCurve tmem_live;               ///< columns
  std::vector<UsageCurve> registers;  ///< per group, per thread: live values, inputs from other groups, residents, overhead
  std::vector<int> register_peak;     ///< per group, at op starts as problem.h defines it
  std::vector<int> register_budget;   ///< the peak rounded up to the granule (producer_registers where untouched)
  std::int64_t smem_bytes = 0;        ///< allocated: depth * size + residents
  std::int64_t tmem_columns = 0;      ///< allocated, before rounding to a power of two
  int warps = 0;
};

/// Pre: the schedule has one placement per op, one depth per channel and groups that exist (any timing is fine).
Usage compute_usage(const Problem& problem, const Schedule& schedule);

/// The same for a run of `iterations` iterations from a cold start: profiles over the absolute cycles [0, length), `busy` of
/// all of them. What the first iterations read from before the loop is there from cycle 0. Pre: as above, and length >= 1.
Usage compute_run_usage(const Problem& problem, const Schedule& schedule, int iterations, Cycle length);

/// What an objective of this name ("ii", "stages", "warps", "smem", "tmem", "registers") is worth on a schedule: cycles, counts,
/// allocated bytes and columns, the largest register budget. Nothing for other names. Pre: as for compute_usage.
std::optional<std::int64_t> objective_value(const Problem& problem, const Schedule& schedule, std::string_view objective);

}  // namespace heddle
