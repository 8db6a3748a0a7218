// A second opinion on a schedule, by brute simulation: many iterations are laid out in absolute time, cycle by cycle and
// copy by copy, and one steady window is inspected. Slow and simple; only for small costs. Used to test the checker.
#pragma once

#include <set>
#include <string>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::test {

/// The families violated in steady state. Pre: the form is sound (sizes, groups, starts >= 0, II >= 1).
std::set<std::string> violated_when_unrolled(const Problem& problem, const Schedule& schedule);

}  // namespace heddle::test
