// What runs before the loop, as far as the loop reads it, and what runs after it.
#pragma once

#include <string>

#include "core/triton/kernel/kernel_draft.h"

namespace heddle::triton {

/// The kernel's value for a value of the text that no op of the loop makes, made in this part where it is not there yet. Always one; empty
/// only where that is refused.
std::string outside(LoopKernelDraft& draft, mlir::ValueId value, KernelPart part);
/// What a carried value begins with is in the kernel; two beginnings are refused.
void ensure_initial(LoopKernelDraft& draft, const std::string& value, mlir::ValueId initial);
/// Stores behind the loop, and what they store.
void add_epilogue(LoopKernelDraft& draft);

}  // namespace heddle::triton
