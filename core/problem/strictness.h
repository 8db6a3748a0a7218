// Comparing two problems of one shape by their numbers: what is proved about one then holds for the other.
#pragma once

#include "core/problem/problem.h"

namespace heddle {

/// Every number that only ever forbids is at least as large in `a`, every number that only ever permits at most as large, and
/// all else is the same. Then every schedule of `a` is one of `b` (warps, ring depths and register budgets fitted), so the
/// least II of `b` is at most that of `a`. False means that this comparison cannot tell.
bool at_least_as_strict(const Problem& a, const Problem& b);

}  // namespace heddle
