// PyTorch's current stream: the fake runtime's only one.
#pragma once

#include "cuda_runtime.h"

namespace c10::cuda {

struct CUDAStream {
  cudaStream_t stream() const { return nullptr; }
};
inline CUDAStream getCurrentCUDAStream() { return {}; }

}  // namespace c10::cuda
