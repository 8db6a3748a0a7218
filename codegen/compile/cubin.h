// How many instructions of which kind a compiled kernel has, without a disassembler: the low 12 bits of every 16-byte
// instruction of the ELF file's .text sections name the operation. The keys were found by compiling small differences for
// sm_90a with CUDA 13.0; what is not known is counted, not named.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heddle::codegen {

struct Census {
  std::int64_t instructions = 0;
  std::map<int, std::int64_t> by_key;

  std::int64_t products() const { return of(0x9f0) + of(0xdf0); }  ///< wgmma, A in shared memory or in registers
  std::int64_t product_waits() const { return of(0x9c5); }         ///< fences and waits of wgmma
  std::int64_t of(int key) const {
    const auto it = by_key.find(key);
    return it == by_key.end() ? 0 : it->second;
  }
};

/// Any bytes: what is no such ELF file is an input error.
Result<Census> census_of(std::string_view cubin);

/// "wgmma 40 · wgmma fence or wait 16 · exponential and other MUFU 268 ..."
std::string census_text(const Census& census);

}  // namespace heddle::codegen
