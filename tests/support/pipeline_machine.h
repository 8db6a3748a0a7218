// Runs a pipeline program the way hardware would: mbarriers with phases, in-order groups, asynchronous ops that finish
// late, groups that advance in any order.
#pragma once

#include <random>
#include <string>

#include "core/analysis/pipeline_program.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::test {

/// Runs `iterations` of the loop, which must be at least every group's number of stages. Empty when every op of every
/// iteration ran once, no group was stuck, every op found its operands finished, and no slot was overwritten while it
/// was read; else the first thing that went wrong.
std::string run_pipeline(const Problem& problem, const Schedule& schedule, const PipelineProgram& program, int iterations,
                         std::mt19937& random);

}  // namespace heddle::test
