#include "codegen/machine_code/census.h"

#include <array>

#include <fmt/format.h>

namespace heddle::codegen {
namespace {

struct Key {
  int key;
  const char* name;
};
constexpr std::array<Key, 25> kKeys{{{0x9f0, "wgmma (A in shared memory)"},
                                     {0xdf0, "wgmma (A in registers)"},
                                     {0x9f3, "wgmma of 8 bits (A in shared memory)"},
                                     {0xdf3, "wgmma of 8 bits (A in registers)"},
                                     {0x9c5, "wgmma fence or wait"},
                                     {0x5ea, "tcgen05.mma (A in shared memory)"},
                                     {0x9ea, "tcgen05.mma (A in tensor memory)"},
                                     {0x3e9, "tcgen05.commit"},
                                     {0x9ee, "tensor memory load"},
                                     {0x9ed, "tensor memory store"},
                                     {0x5b4, "TMA load"},
                                     {0x3b5, "TMA store"},
                                     {0x5a7, "barrier try_wait"},
                                     {0x9a7, "barrier arrive"},
                                     {0xb1d, "bar"},
                                     {0x9c8, "setmaxnreg"},
                                     {0x844, "stmatrix"},
                                     {0x83b, "ldmatrix"},
                                     {0x308, "MUFU"},
                                     {0x24b, "packed addition"},
                                     {0x249, "packed FMA"},
                                     {0x276, "maximum of three"},
                                     {0xf89, "shuffle"},
                                     {0x983, "spill load"},
                                     {0x387, "spill store"}}};

}  // namespace

Census census_of(const std::vector<MachineInstruction>& code) {
  Census census;
  census.instructions = static_cast<std::int64_t>(code.size());
  for (const MachineInstruction& instruction : code) ++census.by_key[instruction.key()];
  return census;
}

std::string census_text(const Census& census) {
  std::string text = fmt::format("{} instructions", census.instructions);
  for (const Key& key : kKeys)
    if (const std::int64_t count = census.of(key.key)) text += fmt::format(", {} {}", count, key.name);
  return text;
}

}  // namespace heddle::codegen
