// Which schedules come after a kernel's own by the rule of motion: what a judge of machine code looks at.
#pragma once

#include <stop_token>
#include <vector>

#include "app/ask/judge.h"

namespace heddle::app {

struct Subject;  // app/ask/subject.h

/// The shortest programs that keep the subject's demands and those of `made` (solver/programs/least_program.h), then the other hand
/// schedules that ship with the kernel, by their periods. Empty where the machine has no numbers of contention.
std::vector<NextBest> next_best(const Subject& subject, const MadeKernel& made, double seconds, const std::stop_token& stop);

}  // namespace heddle::app
