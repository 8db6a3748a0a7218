// How many stage numbers a query allows, and what its refutation is then worth.
#pragma once

#include <string>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"

namespace heddle::solver {

/// The stage numbers a query allows, and whether a refutation then holds for any number of stages.
struct StageRange {
  int stages = 1;
  bool covers_all = false;
  std::string text() const;
};

/// At least `asked` stages, and enough for one iteration whose ops follow each other with every hand-off paid; as many as any
/// schedule needs (core/analysis/stage_bound.h) where that is not too dear. `any`: even where it is.
StageRange stage_range(const Problem& problem, const Constraints& constraints, int asked, Cycle ii, bool any = false);

/// `stages`, or what a cap among the constraints leaves of them.
int capped_stages(const Constraints& constraints, int stages);

}  // namespace heddle::solver
