// Schedules that nobody would want, for what must hold for any: the event graph, the simulator.
#pragma once

#include <random>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::test {

/// Groups at random, starts that keep dependences more or less, rings deep enough or one slot too shallow.
Schedule random_schedule(const Problem& problem, std::mt19937& random);

}  // namespace heddle::test
