// A loop as Triton's partition-scheduling sees it (3.9): ops on tiles, whose `ttg.partition` it obeys, and helpers (indices, addresses,
// loads by pointer), which it copies into every partition that reads them, whatever their own list says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/triton/read/program.h"

namespace heddle::triton {

struct PartitionFlow {
  PartitionFlow(const TritonProgram& program, const LoopSite& loop);

  struct Edge {
    std::size_t from, to;  ///< of `ops`
    int distance = 0;      ///< iterations
    bool token = false;    ///< nothing but a token passes
  };
  std::vector<mlir::OpId> ops;                             ///< the loop's body without its terminator
  std::vector<bool> tile;                                  ///< parallel: makes or takes what a load by descriptor or an mma began
  std::vector<std::vector<std::int64_t>> partitions;       ///< parallel: `ttg.partition`
  std::vector<Edge> edges;                                 ///< tokens of tensor memory included
  std::vector<std::vector<std::size_t>> readers, sources;  ///< parallel: their edges
};

/// The loop whose warps are specialized: itself or one around it that has `tt.warp_specialize`; itself where none has.
mlir::OpId specialized_loop(const TritonProgram& program, mlir::OpId loop);

/// `ttng.tmem_load`, `ttng.tmem_store`: by warps, in registers.
bool touches_tensor_memory(std::string_view op_name);
/// Expand, broadcast, a change of layout, views of memory.
bool is_partition_view(std::string_view op_name);
/// The `ttng.tmem_alloc` that an op's accumulator or first operand lies in; invalid where there is none.
mlir::ValueId tensor_storage(const TritonProgram& program, const mlir::Op& op);

}  // namespace heddle::triton
