// What a kernel will allocate, as far as its text decides it: pieces of shared and tensor memory with their lives, each with the buffer it
// belongs to. One planner for every form: what later passes add is added here.
#pragma once

#include <string>
#include <vector>

#include "core/triton/memory/allocate.h"
#include "core/triton/memory/memory.h"
#include "core/triton/memory/places.h"
#include "core/triton/memory/scratch.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// An allocation in tensor memory.
struct TensorAlloc {
  TritonBuffer buffer;
  TensorPiece piece;
};

struct MemoryPlan {
  std::vector<MemoryPiece> shared;
  std::vector<TensorPiece> tensor;
  std::vector<TritonBuffer> shared_buffers, tensor_buffers;  ///< parallel to the pieces
  std::vector<std::string> doubts;                           ///< why the figures may differ from Triton's

  void add(TritonBuffer buffer, MemoryPiece piece);
  void add(TensorAlloc alloc);
  void doubt(std::string why);
};

/// Bytes between the starts of two allocations of this layout, and where Triton lets them begin.
std::int64_t alignment_of(const Type& type, bool old_dialects);

/// The name of an op's first result, or the op's own.
std::string name_of(const TritonProgram& program, mlir::OpId op);

/// Explicit allocations, scratch, and what `ttg.warp_specialize` needs: of final texts all there is.
MemoryPlan plan_of_final(const TritonProgram& program, const Places& places);

/// Of a text that is still to be pipelined: what stands in it, and what the pipeliner and later passes will add.
MemoryPlan plan_of_scheduled(const TritonProgram& program, const Places& places);

/// Pieces that several planners make alike.
MemoryPiece piece_at(const Places& places, mlir::OpId op, std::int64_t bytes, std::int64_t alignment, Life life);
TensorAlloc tensor_alloc(const TritonProgram& program, const Places& places, mlir::OpId op, Life life, std::int64_t copies);
void add_scratch(MemoryPlan& plan, const TritonProgram& program, const Places& places, mlir::OpId op);
void add_scratch(MemoryPlan& plan, const TritonProgram& program, const Places& places, mlir::OpId op, const Scratch& needed);
void add_specialize(MemoryPlan& plan, const TritonProgram& program, const Places& places, mlir::OpId op);
void add_warp_states(MemoryPlan& plan, const TritonProgram& program, const Places& places);
void tie_rows(MemoryPlan& plan, const TritonProgram& program, const Places& places);

/// Warps of the CTA.
std::int64_t warps_of(const TritonProgram& program, const Places& places);

}  // namespace heddle::triton
