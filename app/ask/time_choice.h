// What the default answer is chosen with: predictions of whole kernels, hand schedules that ship with the kernel, and numbers that are off.
#pragma once

#include <memory>

#include "core/instance/instance.h"
#include "solver/questions/fastest.h"

namespace heddle::app {

/// Costs nothing: hand schedules are read and numbers sampled when the first order is compared, once, on the thread that does it.
/// Pre: the source of the kernel allows it (SourceUse::OrderByTime).
std::shared_ptr<solver::TimeChoice> time_choice(const Instance& instance);

}  // namespace heddle::app
