// Shared memory that an op takes only while it runs: exchange between warps.
#pragma once

#include <cstdint>
#include <string>

#include "core/triton/read/linear.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

struct Scratch {
  std::int64_t bytes = 0;
  std::string unsure;  ///< why the figure may differ from Triton's; empty: exact
};

/// Of any op; 0 for those that need none.
Scratch scratch_of(const TritonProgram& program, const mlir::Op& op);
/// Of moving a register tile to another layout.
Scratch scratch_of_convert(const Type& from, const Type& to, int target);
/// Elements of the buffer through which a tile goes from one layout to the other: all, or a part after the other where both keep the same
/// parts in the same registers. `target`: which matrix instructions there are (75: ldmatrix, 90: stmatrix); 0: none is used.
std::int64_t exchanged_elements(const Linear& from, const Linear& to, std::int64_t element_bits, int target);
/// Of a reduction of `inputs` operands of this type along a dimension. `in_rounds`: as present versions do it, see exchanges_in_rounds().
Scratch scratch_of_reduce(const std::vector<Type>& inputs, std::int64_t axis, bool in_rounds);
/// Until Triton 3.6 a reduction kept the partial results of all warps at once. Those versions print no `ttng.two-ctas`.
bool exchanges_in_rounds(const TritonProgram& program);
/// Before Triton 3.6 conversions between layouts went through a padded buffer, which is not counted. Those versions print no Python names.
bool pads_conversions(const TritonProgram& program);

}  // namespace heddle::triton
