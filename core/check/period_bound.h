// Sums that no program of a problem is faster than in the rule of motion (period_rule.h), added up by the checker itself.
//
// Let W be the tensor core's work in an iteration, R all register reads, d the least that a read costs a product. A read beside a busy
// tensor core keeps it busy d longer; a read beside an idle one needs an idle third of a cycle, because a warp scheduler issues one
// instruction a cycle and an instruction reads three operands. So a period is at least W + min(d, 1/3) R. This takes for granted that no
// arithmetic reads more than three operands a cycle. What hides under special functions (habit 3 in period_circle.h) does in the rule,
// which lets little of its time stay and all of its reads: `certain` is the sum that holds there, too.
#pragma once

#include <cstdint>
#include <string>

#include "core/problem/problem.h"

namespace heddle::check_period {

struct PeriodSums {
  Cycle tensor = 0;           ///< W
  std::int64_t reads = 0;     ///< R, like the next two of all groups' warps on one quarter of an SM, in 1/256
  std::int64_t specials = 0;  ///< special functions: 8 cycles each
  std::int64_t issue = 0;     ///< instructions: a cycle each
  std::int64_t per_read = 0;  ///< min(d, 1/3), thousandths of a cycle
  Cycle copies = 0;           ///< of the unit that asynchronous ops other than products keep busy longest

  std::int64_t ticks = 0;    ///< the greatest sum, 1/256 cycles
  std::int64_t certain = 0;  ///< the greatest that holds whatever hides
  std::string sentence;      ///< of the greatest: "tensor core 2048 + 937 register reads that delay it 273 = 2321 cycles"
};

PeriodSums period_sums(const Problem& problem);

}  // namespace heddle::check_period
