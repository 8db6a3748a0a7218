// What a kernel computes, in PyTorch's own functions, for the test that a package brings.
#pragma once

#include <optional>
#include <string>

#include "core/kernel/kernel.h"

namespace heddle::codegen {

struct TorchFormula {
  std::string body;      ///< of a function of the tensors by their names: sets `wanted`, a dictionary in f32
  std::string prepared;  ///< the same: changes inputs that follow from others, in place; empty: none
  double largest_error;  ///< root mean square, of that of the result
};

/// Of `kernel.reference`; with `scaled`, functions of a factor `scale` too, which may be None. Nothing where PyTorch has no such function,
/// or tensors are not the formula's.
std::optional<TorchFormula> torch_formula(const Kernel& kernel, bool scaled);

}  // namespace heddle::codegen
