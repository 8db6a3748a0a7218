// The first pass: what the kernel is made of, whether it can be written at all, and its buffers and roles, still without steps.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// `trips` replaces the kernel's own number.
void begin_program(ProgramDraft& draft, std::optional<std::int64_t> trips);

}  // namespace heddle::codegen
