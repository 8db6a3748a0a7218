// The DWARF line table of a kernel: which line of the text an address comes from.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::codegen {

struct LineRow {
  std::uint64_t address = 0;
  int line = 0;   ///< of the outermost call
  int inner = 0;  ///< of the inlined function; 0: none
};

/// Of a .debug_line section with one sequence, by address; an address before the first row has no line. Lines of inlined functions
/// are those of the outermost call (CUDA's extended opcode 0x90 names the row of the call). Any bytes: what cannot be read is left out.
std::vector<LineRow> read_line_table(std::string_view section);

}  // namespace heddle::codegen
