// Which machines kernels can be written for.
#pragma once

#include <optional>

#include "codegen/program/refusal.h"
#include "core/machine/machine.h"

namespace heddle::codegen {

/// Nothing for an sm_90a machine; why not for any other.
std::optional<Refusal> refuse_machine(const Machine& machine);

}  // namespace heddle::codegen
