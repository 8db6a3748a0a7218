// All passes over a draft, from what a kernel is made of to a program: the list says what needs what before it.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// `draft`: nothing done yet. `trips` replaces the kernel's own number.
BuildResult run_passes(ProgramDraft draft, std::optional<std::int64_t> trips);

}  // namespace heddle::codegen
