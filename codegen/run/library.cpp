#include "codegen/run/library.h"

namespace heddle::codegen {

const char* library_name(const LibraryPlan& plan) { return std::holds_alternative<LibraryGemm>(plan) ? "cuBLAS" : "cuDNN"; }

Result<std::vector<LibraryKernel>> open_library(const LibraryPlan& plan, const std::vector<TensorPlan>& tensors, const cuda::Driver& driver,
                                                cuda::Stream stream) {
  if (const auto* gemm = std::get_if<LibraryGemm>(&plan)) return open_cublas(*gemm, tensors, stream);
  return open_cudnn(std::get<LibraryAttention>(plan), tensors, driver, stream);
}

}  // namespace heddle::codegen
