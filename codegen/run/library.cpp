// Which library does what.
#include "codegen/run/library.h"

#include <dlfcn.h>

#include "core/base/environment.h"

namespace heddle::codegen {

const char* library_name(const LibraryPlan& plan) { return std::holds_alternative<LibraryGemm>(plan) ? "cuBLAS" : "cuDNN"; }

Result<std::vector<LibraryKernel>> open_library(const LibraryPlan& plan, const std::vector<TensorPlan>& tensors, const cuda::Driver& driver,
                                                cuda::Stream stream) {
  if (const auto* gemm = std::get_if<LibraryGemm>(&plan)) return open_cublas(*gemm, tensors, stream);
  return open_cudnn(std::get<LibraryAttention>(plan), tensors, driver, stream);
}

Result<void*> open_shared(const char* variable, std::initializer_list<const char*> places) {
  const Result<std::string> named = path_named_by(variable);
  if (!named) return named.error();
  if (!named->empty()) return dlopen(named->c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* place : places)
    if (void* library = dlopen(place, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

}  // namespace heddle::codegen
