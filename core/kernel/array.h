// A dense row-major array of floats: a tile or a global tensor while a kernel is executed on the CPU.
//
// Every element type is held as float; values are rounded to their type when they are written (core/kernel/rounding.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/kernel/op_shapes.h"

namespace heddle {

struct Array {
  std::vector<std::int64_t> shape;
  std::vector<float> data;

  std::int64_t size() const { return static_cast<std::int64_t>(data.size()); }
};

struct GlobalTensor {
  DType dtype = DType::F32;
  TensorRole role = TensorRole::Input;
  Array array;
};

using TensorMap = std::map<std::string, GlobalTensor, std::less<>>;

}  // namespace heddle
