// What Triton's pipeliner makes of a scheduled loop: which loads become asynchronous copies into a ring and how deep it is, which share a
// barrier, where mmas of tensor memory are waited for, and what is moved in front of the loop.
//
// - A ring has as many slots as there are stages from the load to its first reader; one more where a wgmma reads it from shared memory,
//   since that mma is waited for an iteration later. A load in the stage of its reader has none.
// - Where every reader stands in a later cluster than the load, the next copy is issued before they read: one slot more (from Triton 3.6
//   on; measured).
// - Where an mma of tensor memory is waited for later than it is read, its operands must last until then.
// - Pointers are copied by cp.async, which moves 4 bytes at least for each thread; loads of which fewer are known to be neighbours stay in
//   registers.
// - Loads by descriptor wait at one barrier together when nothing between them reads one of them.
#pragma once

#include <string>
#include <vector>

#include "core/triton/memory/places.h"
#include "core/triton/read/order.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

struct LoadPlan {
  mlir::OpId op;
  bool descriptor = false;                  ///< copied by TMA
  std::int64_t stage = -1, use_stage = -1;  ///< -1: not scheduled
  std::int64_t slots = 0;                   ///< 0: no ring
  std::int64_t bytes = 0, alignment = 16;   ///< of a slot
  int group = -1;                           ///< loads by descriptor with the same number wait at one ring of barriers
  std::vector<mlir::OpId> replaced;         ///< allocations that become the ring itself
  /// Who reads a slot only after the copy of `slots` iterations later has been issued into it.
  struct Overwritten {
    mlir::OpId reader;
    bool flies = false;  ///< it has begun by then, and reads on
  };
  std::vector<Overwritten> overwritten;
  std::string why;
};

struct ProductPlan {
  mlir::OpId op;
  std::int64_t stage = -1, wait_stage = -1;
  Position wait;              ///< behind which it no longer reads
  std::int64_t barriers = 0;  ///< 0: waited for at once, with a barrier of its own
  mlir::OpId accumulator;     ///< its allocation; invalid: not known
  std::int64_t copies = 1;    ///< of the accumulator
};

struct LoopPlan {
  mlir::OpId loop;
  bool scheduled = false;
  std::vector<LoadPlan> loads;
  std::vector<ProductPlan> products;
  std::vector<mlir::OpId> hoisted;  ///< allocations in the loop that move in front of it
  /// Allocations in the loop that an mma still reads so many iterations later: each iteration makes its own.
  std::vector<std::pair<mlir::OpId, std::int64_t>> outlasting;
};

LoopPlan plan_of_loop(const TritonProgram& program, const Places& places, mlir::OpId loop);

/// The allocation in shared memory that a load fills or could fill: of a descriptor, its own layout.
std::int64_t load_alignment(const TritonProgram& program, const Places& places, const mlir::Op& load);

/// Whether a load has zeros where its mask lets nothing through: an asynchronous copy writes them itself, other numbers come from
/// registers.
bool fills_with_zeros(const mlir::Module& module, const mlir::Op& load);

/// "tt.descriptor_load" and its like.
bool is_descriptor_load(std::string_view op_name);

/// Operands of an op without tokens in brackets.
std::vector<mlir::ValueId> plain_operands(const mlir::Op& op);

}  // namespace heddle::triton
