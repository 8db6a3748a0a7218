// Triton's own schedule of a text as the schedule of a command: it has order and no cycles, so what cycles it sustains is worked out by
// the solver's room.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/library/triton_text.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// The own schedule of `text` for this problem. Faults: the text has none, and why; the problem's ops are not those of the text in the
/// triton reading; an environment error in a build without solver.
Result<Schedule> own_schedule_of(const TritonText& text, const Problem& problem);

/// As heddle::read_schedule, and of a Triton text its own.
Result<Schedule> read_schedule_or_own(const std::string& path, const Problem& problem, std::vector<Fault>* warnings);

}  // namespace heddle::app
