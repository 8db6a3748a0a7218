// What a step of heddle bench says of the machine file's numbers of contention: micro-kernels of each by itself, a measured loop of all of
// them together, as the rule of motion has them.
#pragma once

#include <optional>
#include <string>

#include "app/bench/judge_step.h"

namespace heddle::app {

/// The period of a measured loop, beside the rule's, and what the rule says with each number at both ends of its range, one at a time.
/// Nothing where no loop was measured, or the machine has no contention.
std::optional<ContentionReading> period_reading(const Measurement& measured, const std::string& machine);

/// Of a step that did what it is for. `file`: what it wrote; `beside`: what was kept of the step that it is compared with, nullptr:
/// nothing. `verdict` is that of judge_step().
StepVerdict judge_contention(const BenchStep& step, StepVerdict verdict, const std::string& file, const std::string& machine,
                             const StepVerdict* beside);

}  // namespace heddle::app
