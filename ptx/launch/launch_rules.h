// What a driver would refuse in a launch, or what cannot be run: said before anything is.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "ptx/launch/launch.h"

namespace heddle::ptx {

/// Everything wrong, each with the pointer that it has in a launch file ("/maps/0/box"). Sources: CUDA driver API, cuTensorMapEncodeTiled
/// (ranks, extents, strides, boxes, swizzles) and cuLaunchKernelEx; CUDA C++ Programming Guide, "Compute Capabilities" (sizes of grids,
/// blocks, clusters and shared memory), "Function Parameters" (32 764 bytes).
std::vector<Fault> faults_of(const Launch& launch);

/// Bytes of a tensor map (CUtensorMap), wherever it lies.
inline constexpr std::uint64_t kMapBytes = 128;
inline constexpr std::uint64_t kMostParameterBytes = 32'764;

}  // namespace heddle::ptx
