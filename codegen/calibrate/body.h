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
  std::string burst, burst_settle;  ///< the same for many in a row, or of the second loop; empty: op and settle
  std::string chain, chain_settle;  ///< of the third loop; empty: none
  bool map = false, pointer = false;
  int threads = 128;
  int groups = 1;  ///< MicroKernel::groups: so many times the threads; `op` is what each of them does
  std::vector<std::int64_t> box;
  std::string products;  ///< text of wgmma wrappers
  std::string sink;      ///< at the end: whatever was computed is used
};

/// The dims stand in the first line of the text.
MicroKernel micro_kernel(std::string rule, Scope dims, const MicroBody& body, MicroKernel::Method method = MicroKernel::Method::Single,
                         DType scratch = DType::Bf16);

/// Four warpgroups move `words` registers w[i] to shared memory or back, by `moves` from the address `at`, which is `place` or, every
/// other time, 32 KB behind it. What is loaded is combined in each pass, so that no load leaves the loop.
MicroBody shared_moves(std::int64_t words, bool store, const std::string& place, const std::string& moves);

}  // namespace heddle::codegen
