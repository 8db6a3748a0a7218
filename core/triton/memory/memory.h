// What a Triton kernel takes of shared memory, tensor memory and warps, counted from its text as Triton's own passes will allocate it, so
// that it is known before the launch. Exact from the form that decides it: scheduled texts of kernels that are not warp specialized,
// partitioned or specialized texts of those that are, and final texts (tests compare with what Triton says).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/triton/read/program.h"

namespace heddle::triton {

struct TritonBuffer {
  enum class What { Ring, Resident, Barriers, Scratch, Accumulator, Operand };
  What what = What::Ring;
  std::string name;          ///< the value's, "s_7"
  std::string why;           ///< "3 slots: loaded in stage 0, read in stage 2"
  std::int64_t bytes = 0;    ///< of a slot in shared memory
  std::int64_t columns = 0;  ///< of a slot in tensor memory
  std::int64_t slots = 1;
  bool synchronous = false;  ///< a load that is not pipelined: its latency is exposed
  mlir::OpId op;             ///< that allocates or loads it
};

/// "ring", "resident" ...
const char* to_string(TritonBuffer::What what);

struct TritonMemory {
  std::int64_t shared_bytes = 0;
  std::int64_t tmem_columns = 0;      ///< as allocated: a power of two of at least 32, or 0
  std::int64_t tmem_needed = 0;       ///< before rounding; may be more than there is
  std::int64_t warps = 0;             ///< of the CTA, all partitions and the default group together
  std::vector<TritonBuffer> buffers;  ///< those alive at the peak first
  std::string unsure;                 ///< why the figures may differ from Triton's; empty: exact
};

TritonMemory memory_of(const TritonProgram& program);

/// The ring of every load in the loop, by the rules of Triton's pipeliner: how many slots, or why none.
std::vector<TritonBuffer> rings_of(const TritonProgram& program, const LoopSite& loop);

}  // namespace heddle::triton
