// What an instruction is to the protocol between warps, and which branches guard something of it.
#pragma once

#include "ptx/text/module.h"

namespace heddle::ptx {

/// "wait", "barrier", "arrive", "copy", "product"; "": nothing.
const char* part_in_protocol(Opcode opcode);

/// Whether the instruction is a part of the protocol, or, a branch, has one between itself and where its ways meet.
bool guards_something(const PtxFunction& function, int pc);

}  // namespace heddle::ptx
