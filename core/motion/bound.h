// Bounds on the period of every program of a problem in the rule of motion (core/motion/motion.h), as sums that can be checked by hand.
#pragma once

#include <string>
#include <vector>

#include "core/motion/circle.h"

namespace heddle::motion {

struct PeriodBound {
  Ticks ticks = 0;
  std::string sentence;  ///< "tensor core 2048 + 797 register reads that delay it 273 = 2321 cycles"
};

/// The greatest first. Let W be the tensor core's work, R all register reads of an iteration, d the least cost of a read to it. A read
/// beside a busy tensor core keeps it busy d longer; one beside an idle one needs at least 1/3 of an idle cycle (one instruction a cycle,
/// three operands). With 3 d < 1 the former is cheaper: period >= W + d R. Further: special functions (8 cycles each), instructions issued,
/// other units' work.
std::vector<PeriodBound> period_bounds(const Problem& problem);

/// Of every program that has this circle as one of its groups: with `alone` the group's arithmetic, b the ticks in which issue holds it, U
/// the tensor core's work, k the least relative slowing of its arithmetic beside mmas: period >= alone + (b + k U) / (1 + k).
PeriodBound group_bound(const Problem& problem, const std::vector<Step>& circle);

}  // namespace heddle::motion
