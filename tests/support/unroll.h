// Larger problems out of real ones: several iterations of a loop as one.
#pragma once

#include "core/problem/problem.h"

namespace heddle::test {

/// The loop unrolled `copies` times: op v of copy i is op i * ops + v; what copy i hands to the iteration d later goes to
/// copy (i + d) mod copies. Every copy has rings of its own, so memory limits grow with the copies.
Problem unrolled_problem(const Problem& problem, int copies);

}  // namespace heddle::test
