// What Triton's warp specialization takes of memory and warps: what partitions are handed, how many warps they keep, and how deep the rings
// between them are.
#pragma once

#include <string>
#include <vector>

#include "core/triton/memory/places.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// Which captures of a `ttg.warp_specialize` are still there when memory is allocated: constants and what no partition needs are gone.
std::vector<bool> kept_captures(const TritonProgram& program, mlir::OpId specialize);

/// Warps of each region that has a number, as Triton leaves them: partitions keep half of their warps as long as their largest tile fits
/// the registers that are then there.
std::vector<std::int64_t> partition_warps(const TritonProgram& program, mlir::OpId specialize);

/// Each reads and writes a quarter of the rows of tensor memory.
inline constexpr std::int64_t kTensorWarps = 4;

/// Warps below which an op lets Triton cut no partition; 0: it does not care.
std::int64_t least_warps(const mlir::Op& op);

/// What a partition needs before its warps are cut down.
struct PartitionNeed {
  std::int64_t warps = 4, least = 1, registers = 0;  ///< registers: of 32 bits, of its largest tile, all threads together
  /// Ops in the order in which they run: Triton 3.9 keeps the least of the last op that has one, even where an earlier one needs more.
  void add(const TritonProgram& program, const mlir::Op& op);
};
std::vector<std::int64_t> shrunk_warps(const TritonProgram& program, std::vector<PartitionNeed> needs);

/// A tile that one partition hands to another through a ring.
struct PartitionHandOff {
  mlir::OpId op;  ///< that makes it
  std::int64_t slots = 1;
  std::string why;
};

/// Rings of the loads of a loop that will be, or is, partitioned; empty where it is not.
std::vector<PartitionHandOff> specialized_loads(const TritonProgram& program, const Places& places, const LoopSite& loop);

/// Whether Triton will specialize the loop: it or one around it asks for that, on a target where it works.
bool will_specialize(const TritonProgram& program, const LoopSite& loop);

}  // namespace heddle::triton
