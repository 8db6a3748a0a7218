// Problems with a schedule for the timeline's tests: the toy, a small attention, random ones.
#pragma once

#include <random>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::test {

struct GanttCase {
  Problem problem;
  Schedule schedule;
};

/// S, P, O at II 2: S in stage 0, P at 1, O a stage later.
GanttCase toy_case();
/// Two TMA loads, two GEMMs and a softmax at II 2048: a producer and one consumer group. Legal on its units.
GanttCase attention_case();
/// Anything goes: up to 12 ops, several uses or none, starts anywhere, often illegal.
GanttCase random_case(std::mt19937& random);
/// `ops` ops of three groups over a window that holds them; for frame times.
GanttCase large_case(int ops);

}  // namespace heddle::test
