// Partitions run side by side, each in its own order, and wait for each other at barriers: for a tile that another one makes, and for a
// slot that another one still reads. What no order of instructions can untie is a circle of such waits, in which nothing ever moves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/triton/kernel/partition_flow.h"

namespace heddle::triton {

/// The ops of a circle in the order in which each waits for the next, and why it does ("waits for a slot that ... reads").
struct CircleOfWaits {
  std::vector<mlir::OpId> ops;
  std::string words;
};

/// Nothing: the partitions of the loop keep moving, as far as the text says how many slots there are.
std::optional<CircleOfWaits> circle_of_waits(const TritonProgram& program, const PartitionFlow& flow);

}  // namespace heddle::triton
