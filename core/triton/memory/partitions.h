// What a partitioned loop will take when its partitions become warps of their own: tiles that they hand to each other, the barriers of
// each, what they are given from outside, and their warps.
//
// - A load by descriptor gets a ring of num_stages slots and two rings of barriers, full and empty. Loads that one mma reads first
//   share those.
// - A tile of tensor memory that several partitions use gets two barriers for each slot: two slots where each round begins anew, one
//   where it goes on from what is there.
// - A register tile that another partition reads passes through one slot in shared memory, with two barriers.
#pragma once

#include <string>
#include <vector>

#include "core/triton/memory/places.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// A value that one partition makes and another one reads.
struct Exchange {
  mlir::OpId op;  ///< that makes it; of an argument of the loop, the loop
  std::string name;
  enum class What { Load, Tensor, Registers } what = What::Load;
  std::int64_t slots = 1;
  Type type;               ///< of a slot
  bool barriers = true;    ///< false: shares those of an earlier one
  bool both_taken = true;  ///< both barriers are waited for inside of the loop
};

struct Partitions {
  mlir::OpId loop;  ///< with `ttg.warp_specialize.tag`; invalid: nothing is partitioned
  std::vector<Exchange> exchanges;
  std::vector<Type> left;  ///< tiles that partitions after the first leave to the ops behind the loop
  std::int64_t captured_bytes = 0, captured = 0;
  std::vector<std::int64_t> warps;  ///< of partitions after the first
  /// An op on tensor memory, and the copy behind it for which Triton leaves their partition too few warps for it; invalid: there is none.
  mlir::OpId starved, starved_by;
  std::vector<std::string> doubts;
};

Partitions partitions_of(const TritonProgram& program, const Places& places);

/// Bytes in which a value is handed to a partition.
std::int64_t capture_bytes(const Type& type);

}  // namespace heddle::triton
