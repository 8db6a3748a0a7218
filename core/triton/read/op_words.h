// Ops in words for people: the name of what they make, their line in the text, and the line of Python that they come from.
#pragma once

#include <string>

#include "core/triton/read/program.h"

namespace heddle::triton {

/// "kernels.py:125"; empty where the text does not say.
std::string source_of(const TritonProgram& program, const mlir::Op& op);
/// "%p_17 (math.exp2, line 75, kernels.py:129)".
std::string describe_op(const TritonProgram& program, const mlir::Op& op);
/// "%p_17", or the op's name where it has no result.
std::string name_of(const TritonProgram& program, const mlir::Op& op);

}  // namespace heddle::triton
