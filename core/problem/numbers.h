// The numbers of a problem as one list: how problems of one shape, which differ in numbers only, are compared and put together.
//
// Each number counts so that a larger one forbids more; one that permits more (how deep a ring may be) comes with its sign changed. So
// where every number of a list is at most as large as another's, every schedule of the other's problem is one of its.
#pragma once

#include <cstdint>
#include <vector>

#include "core/problem/problem.h"

namespace heddle {

using ProblemNumbers = std::vector<std::int64_t>;

/// Latencies, windows, unit uses, hand-offs, holds, sizes, registers and what is taken anyway, in an order that follows from the shape.
ProblemNumbers numbers_of(const Problem& problem);

/// The problem with these numbers. Pre: as many as numbers_of() has of it.
Problem with_numbers(Problem problem, const ProblemNumbers& numbers);

/// Everything but those numbers, names included, is the same.
bool same_shape(const Problem& a, const Problem& b);

}  // namespace heddle
