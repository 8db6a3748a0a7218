// What cuTensorMapEncodeTiled is called with for a map of a kernel, wherever it is called: by `heddle run`, and by the host code that a
// package has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/emit/emit.h"

namespace heddle::codegen {

/// Innermost dimension first.
struct MapArguments {
  int type = 0;           ///< of cuda.h, as in driver.h
  int element_bytes = 1;  ///< two numbers of 4 bits are one
  std::vector<std::uint64_t> extents;
  std::vector<std::uint64_t> strides;  ///< bytes, of all dimensions but the innermost
  std::vector<unsigned> box;
  int swizzle = 0;  ///< of cuda.h
  bool operator==(const MapArguments&) const = default;
};

MapArguments map_arguments(const TensorMapPlan& plan, DType dtype);

/// Whether code for `arch` runs on a device of that compute capability: sm_100f is for the whole family, sm_90a, sm_100a and sm_103a are
/// for their own kind only.
bool runs_on(const std::string& arch, int major, int minor);
/// GPUs that it runs on: "H100, H200".
const char* gpus_of(const std::string& arch);

}  // namespace heddle::codegen
