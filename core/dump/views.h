// Allocations and views of storage are nodes of a compiler's graph but no instructions: nothing issues them. Heddle's reading
// leaves out those that only rename what a load or another view made; an export puts them back.
#pragma once

#include <vector>

#include "core/dump/dump.h"

namespace heddle::dump {

/// Per node: whether it only renames storage (an allocation that a load fills, a transposed view ...).
std::vector<bool> storage_views(const DumpLoop& loop);

/// The loop without them: edges through them become one, what they allocate belongs to the load, what they read to the reader.
DumpLoop without_views(const DumpLoop& loop);

}  // namespace heddle::dump
