// The independent judge. Every schedule - solved, hand-written, imported, edited - passes through here, and nothing here is
// shared with any encoder: plain cycle tables and integer arithmetic, straight from the definition in core/problem/problem.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct Violation {
  std::string family;       ///< "dependence", "unit", "issue", ..., "user", "form" (malformed: sizes, negative starts, groups)
  std::string message;      ///< one sentence with op names and numbers
  std::vector<OpId> ops;    ///< to highlight
  Cycle slot = -1;          ///< modulo II, where it happens; -1 when not tied to a slot
  std::int64_t amount = 0;  ///< what was found
  std::int64_t limit = 0;   ///< what is allowed
};

struct Verdict {
  std::vector<Violation> violations;
  bool valid() const { return violations.empty(); }
};

Verdict check(const Problem& problem, const Schedule& schedule, const Constraints& constraints = {});

}  // namespace heddle
