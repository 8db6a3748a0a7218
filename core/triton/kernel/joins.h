// Reductions that also do what the one chain does that reads them: the running maximum, the running sum.
#pragma once

#include <cstddef>
#include <map>

#include "core/triton/kernel/loop_text.h"
#include "core/triton/kernel/scalars.h"

namespace heddle::triton {

struct Joins {
  std::map<std::size_t, std::size_t> chain;      ///< node of a reduction -> chain that it computes too (Graph::fused)
  std::map<std::size_t, std::size_t> reduction;  ///< the other way round
};

Joins find_joins(const LoopText& text, Scalars& scalars);

}  // namespace heddle::triton
