// The vendor's own matrix product, opened at run time, as the other contender of a timing.
#pragma once

#include <functional>
#include <string>

#include "codegen/run/driver.h"
#include "codegen/run/plan.h"
#include "core/base/result.h"

namespace heddle::codegen {

struct LibraryKernel {
  std::string name;             ///< "cuBLAS 13.1.0"
  /// Starts it on these buffers, indexed like the plan's tensors; 0, or the library's error code.
  std::function<int(const std::vector<cuda::Memory>&)> launch;
};

/// HEDDLE_CUBLAS names the library, else libcublas.so.13 or .12. Pre: a current context; `gemm`'s tensors are bf16 or f16, or f32.
Result<LibraryKernel> open_gemm(const LibraryGemm& gemm, const std::vector<TensorPlan>& tensors, cuda::Stream stream);

}  // namespace heddle::codegen
