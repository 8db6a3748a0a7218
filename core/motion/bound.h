// Bounds on the period of every program of a problem in the rule of motion (core/motion/motion.h), as sums that can be checked by hand.
#pragma once

#include <string>
#include <vector>

#include "core/motion/circle.h"

namespace heddle::motion {

struct PeriodBound {
  Ticks ticks = 0;
  std::string sentence;  ///< "tensor core 2048 + 937 register reads that delay it 178 = 2226 cycles"
};

/// The greatest first. Let W be the tensor core's work, R all register reads of an iteration, d the least cost of a read to it. A read
/// beside a busy tensor core keeps it busy d longer; one beside an idle one needs 1/q of an idle cycle at least, q being the most reads of
/// an instruction (one instruction a cycle). With q d < 1 the former is cheaper: period >= W + d R; the tensor core's least speed, a
/// twentieth, caps q d at 0.95. What may hide under special functions (as_compiled.h) can have all its reads in the little time that is
/// left of it, so it counts with that time where this is less. Further: special functions (8 cycles each), instructions issued, units of
/// copies.
std::vector<PeriodBound> period_bounds(const Problem& problem);

/// Of every program that has this circle as one of its groups. Its period is at least the time in which steps hold the group (issue with a
/// full queue, copies, looks at barriers) + its arithmetic beside mmas - what arithmetic gains beside an idle tensor core, for which there
/// are I idle cycles, and the period is then at least W + d R + (1 - q d) I. What gains most per idle cycle is taken first.
PeriodBound group_bound(const Problem& problem, const std::vector<CircleStep>& circle);

}  // namespace heddle::motion
