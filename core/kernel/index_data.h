// What index tensors hold: numbers in the kernel file, a file of them, or a structure made by rule (core/kernel/structure.h).
#pragma once

#include <string_view>

#include "core/base/expr.h"
#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// "bigbird(rows=BLOCKS, seed=1).rowptr", or the name of a file of little-endian 32-bit integers, relative to the kernel's file.
/// Faults: what is no such call; names are looked at by read_index_tables().
Result<IndexData> parse_index_data(std::string_view text);

/// The scope with the contents of the kernel's index tensors. Nothing is reserved before the sizes of a file and of its tensor agree.
/// Structures are kept, so that the next call with the same arguments finds them. Faults, all at once: files that are missing, folders,
/// too short or too long; arguments; numbers below -1 or not below `below`; numbers that fall where they must not.
/// Pre: `scope` holds every parameter.
Result<Scope> with_index_tables(const Kernel& kernel, Scope scope);

}  // namespace heddle
