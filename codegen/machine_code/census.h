// How many instructions of which kind a compiled kernel has. What is not known is counted, not named.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/machine_code/instructions.h"

namespace heddle::codegen {

struct Census {
  std::int64_t instructions = 0;
  std::map<int, std::int64_t> by_key;

  /// wgmma, A in shared memory or in registers, of 16 and of 8 bits
  std::int64_t products() const { return of(0x9f0) + of(0xdf0) + of(0x9f3) + of(0xdf3); }
  std::int64_t tensor_products() const { return of(0x5ea) + of(0x9ea); }  ///< tcgen05.mma, A in shared or in tensor memory
  std::int64_t product_waits() const { return of(0x9c5); }                ///< fences and waits of wgmma
  std::int64_t of(int key) const {
    const auto it = by_key.find(key);
    return it == by_key.end() ? 0 : it->second;
  }
};

Census census_of(const std::vector<MachineInstruction>& code);

/// "wgmma 40 · wgmma fence or wait 16 · exponential and other MUFU 268 ..."
std::string census_text(const Census& census);

}  // namespace heddle::codegen
