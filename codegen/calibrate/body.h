// What differs between micro-kernels, and the text around it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/calibrate/micro.h"

namespace heddle::codegen {

struct MicroBody {
  std::string setup;                ///< once
  std::string op;                   ///< the instruction, issued
  std::string settle;               ///< until its result is there
  std::string burst, burst_settle;  ///< the same for many in a row; empty: op and settle
  bool map = false, pointer = false;
  int threads = 128;
  std::vector<std::int64_t> box;
  std::string products;  ///< text of wgmma wrappers
  std::string sink;      ///< at the end: whatever was computed is used
};

/// The dims stand in the first line of the text.
MicroKernel micro_kernel(std::string rule, Scope dims, const MicroBody& body, MicroKernel::Method method = MicroKernel::Method::Single,
                         DType scratch = DType::Bf16);

}  // namespace heddle::codegen
