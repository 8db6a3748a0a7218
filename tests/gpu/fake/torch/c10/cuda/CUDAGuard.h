// The device that a package for PyTorch makes current: the fake runtime has one.
#pragma once

#include "ATen/ATen.h"

namespace c10::cuda {

struct CUDAGuard {
  explicit CUDAGuard(Device device) { cudaSetDevice(device.index); }
};

}  // namespace c10::cuda
