// How many operands an instruction has at least: what has fewer is damaged, and refused where it is executed.
#pragma once

#include <cstddef>

#include "ptx/text/opcode.h"

namespace heddle::ptx {

/// By the syntax of the PTX ISA, the form with fewest operands. 0: none is needed.
std::size_t least_operands(Opcode opcode);

}  // namespace heddle::ptx
