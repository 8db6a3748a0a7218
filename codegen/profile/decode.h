// Records of a recording build (codegen/emit/records.h) as numbers: cycles per iteration, the SM's clock, and what each op did
// when, beside what the schedule says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "codegen/emit/records.h"
#include "codegen/program/program.h"
#include "core/problem/problem.h"
#include "core/records/measurement.h"
#include "core/schedule/schedule.h"

namespace heddle::codegen {

struct LoopTimes {
  double cycles_per_iteration = 0;  ///< of the slowest role, median over blocks and warps; 0: no records
  double clock_mhz = 0;             ///< SM clock against the global timer, median over blocks; 0: too short to say
  int blocks = 0;                   ///< that have records
};

/// Any bytes: what makes no sense is left out.
LoopTimes decode_loop(const RecordPlan& plan, const Program& program, std::span<const std::uint8_t> bytes);

/// Fills everything but the two times and `trusted`. Starts count from the start that the schedule gives the iteration: each
/// iteration is laid over the prediction at its first mma (or first op that computes). `measured_ii`: cycles between
/// successive first mmas. Any bytes.
KernelProfile decode_ops(const RecordPlan& plan, const Kernel& kernel, const Problem& problem, const Schedule& schedule,
                         const Program& program, std::span<const std::uint8_t> bytes, std::optional<double>& measured_ii);

}  // namespace heddle::codegen
