// What vendors' own libraries compute of the same, opened at run time, as further contenders of a timing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/run/driver.h"
#include "codegen/run/plan.h"
#include "core/base/result.h"

namespace heddle::codegen {

struct LibraryKernel {
  std::string name;  ///< "cuBLAS 13.1.0"
  /// Starts it on these buffers, indexed like the plan's tensors. Empty, or what the library says against it.
  std::function<std::string(const std::vector<cuda::Memory>&)> launch;
};

/// "cuBLAS", "cuDNN"
const char* library_name(const LibraryPlan& plan);

/// The kernels that the library offers for this, in its own order of preference; at least one. Environment errors, a sentence
/// each: it is not installed, too old, has nothing for this. Pre: a current context.
Result<std::vector<LibraryKernel>> open_library(const LibraryPlan& plan, const std::vector<TensorPlan>& tensors, const cuda::Driver& driver,
                                                cuda::Stream stream);

/// HEDDLE_CUBLAS names the library, else libcublas.so.13 or .12 is looked for. Pre: tensors are bf16 or f16, or f32.
Result<std::vector<LibraryKernel>> open_cublas(const LibraryGemm& gemm, const std::vector<TensorPlan>& tensors, cuda::Stream stream);

/// HEDDLE_CUDNN names the library, else libcudnn.so.9 is looked for. Pre: tensors are bf16 or f16, of the shapes that `attention` says.
Result<std::vector<LibraryKernel>> open_cudnn(const LibraryAttention& attention, const std::vector<TensorPlan>& tensors,
                                              const cuda::Driver& driver, cuda::Stream stream);

}  // namespace heddle::codegen
