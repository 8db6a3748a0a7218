// Integers that are data: loaded, computed on and made numbers of (weights of 4 bits), or flags that choose between numbers. All other
// integer tiles are offsets, bounds and row numbers, which belong to the loads and masks that they are for.
#pragma once

#include <string>
#include <vector>

#include "core/triton/read/type.h"

namespace heddle::triton {

struct TritonProgram;

/// For every op of the module, whether it computes integer or flag tiles that are data.
std::vector<bool> data_ops(const mlir::Module& module, const std::vector<Type>& types);

/// What an op of role Elements computes of x0, x1 ..., of numbers (expression_of) or of data; empty where it is not known.
std::string expression_in(const TritonProgram& program, const mlir::Op& op);

}  // namespace heddle::triton
