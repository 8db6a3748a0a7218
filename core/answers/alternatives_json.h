// Alternatives as JSON for other programs: what `heddle alternatives --json` prints. Written only.
#pragma once

#include "core/answers/alternatives.h"
#include "core/base/json.h"
#include "core/problem/problem.h"

namespace heddle {

/// "count" is how many were found and "exact" whether it is proved that there are no others; "more" is true when one more
/// is known to exist. Delays that nothing limits are null.
Json alternatives_json(const Problem& problem, const Alternatives& answer);

}  // namespace heddle
