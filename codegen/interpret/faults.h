// What can be seen of a program before it runs, and the words of faults.
#pragma once

#include <optional>
#include <string>

#include "codegen/interpret/state.h"

namespace heddle::codegen {

std::string content(const BlockState& state, const Cell& cell);
/// "wants q[3] and finds "
std::string wanted(const BlockState& state, const Flat& flat, const Place& place);

std::optional<ProgramFault> check_registers(const BlockState& state);
std::optional<ProgramFault> check_tensor(const BlockState& state);
std::optional<ProgramFault> check_lanes(const BlockState& state);
/// No role can go on.
ProgramFault stuck(const BlockState& state);

}  // namespace heddle::codegen
