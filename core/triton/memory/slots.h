// Rings of loads that stages and clusters fill too early: Triton makes as many slots as stages lie between a load and its first reader, one
// more where that stands in a later cluster, or where a wgmma reads; and it lets the copy into a slot run where the load stands, whether or
// not everybody has read what was there.
#pragma once

#include <string>
#include <vector>

#include "core/triton/read/program.h"

namespace heddle::triton {

struct OverwrittenSlot {
  mlir::OpId load, reader;
  std::string sentence;
};

/// Of a scheduled loop. Rings between partitions have barriers that say when a slot is free, and are not judged.
std::vector<OverwrittenSlot> overwritten_slots(const TritonProgram& program, const LoopSite& loop);

}  // namespace heddle::triton
