// What counting by rank and counting lane by lane share: which instructions move registers at all, and how many at a time.
#pragma once

#include <cstdint>
#include <string>

#include "core/layout/access.h"
#include "core/layout/reader.h"

namespace heddle {

bool is_matrix(InstructionKind kind);
/// Elements of a lane that one instruction moves.
std::int64_t registers_per_issue(const Instruction& instruction, int bits);
/// Why the instruction cannot be it, whatever the elements' places; empty: it may be.
std::string refusal_of(const Layout& registers, const Layout& memory, int bits, const Instruction& instruction,
                       const LaneExchange& exchange);
/// Most different words that the phase's lanes want of one bank; 0: no lane gives an address.
int ways_of_phase(const Access& access, const WarpAccess& one, int first_lane);

}  // namespace heddle
