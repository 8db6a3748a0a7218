// The instructions of a compiled kernel and the lines of the text that they come from, without a disassembler: 16 bytes each in
// the ELF file's .text section, lines from its DWARF line table (kernels are compiled with line information, which changes no
// instruction). The encoding was found by compiling small differences for sm_90a with CUDA 13.0 and reading them with nvdisasm;
// for sm_100a the same way without nvdisasm.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heddle::codegen {

struct MachineInstruction {
  std::uint64_t low = 0, high = 0;  ///< as in the file
  int line = 0;                     ///< 1-based, of the kernel's own text, also for what comes from an inlined wrapper; 0: unknown

  int key() const { return static_cast<int>(low & 0xfff); }  ///< operation (low 9 bits) and form of its operands
};

/// All of the file's code, in the order of its addresses. Any bytes: what is no such ELF file is an input error. A file without a
/// line table, or with one of another kind, has instructions without lines.
Result<std::vector<MachineInstruction>> read_instructions(std::string_view cubin);

/// Index of the instruction that a branch goes to; absent for what is no relative branch, or leads out of the code.
std::optional<std::size_t> branch_target(const std::vector<MachineInstruction>& code, std::size_t at);

}  // namespace heddle::codegen
