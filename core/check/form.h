// Whether a schedule can be talked about at all: its sizes, starts and groups fit the problem. Analyses index by them, so nothing else may
// be asked of a schedule without form; readers answer none.
#pragma once

#include <vector>

#include "core/check/checker.h"

namespace heddle {

/// Empty: the form is sound.
std::vector<Violation> form_violations(const Problem& problem, const Schedule& schedule);

}  // namespace heddle
