// Which machines kernels can be written for.
#pragma once

#include <optional>

#include "codegen/program/refusal.h"
#include "core/machine/machine.h"

namespace heddle::codegen {

/// Nothing for Hopper (sm_90a) and Blackwell (sm_100a and its family); why not for any other.
std::optional<Refusal> refuse_machine(const Machine& machine);

}  // namespace heddle::codegen
