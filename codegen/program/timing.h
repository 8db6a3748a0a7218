// How long a program's iterations take when every step costs what the problem says: whether waits, signals and the order of steps keep
// the schedule's promise. Steps that the problem has no cost for (fences, barriers' own instructions, what runs once per tile) cost
// nothing, so the period is a prediction like the initiation interval and can be compared with it.
#pragma once

#include "codegen/program/program.h"
#include "core/schedule/schedule.h"

namespace heddle::codegen {

struct ProgramPeriod {
  Cycle cycles = 0;             ///< between the first and the last of the iterations looked at, of the role that is slowest there
  std::int64_t iterations = 0;  ///< between them; 0: the tile has too few trips to tell
  bool stuck = false;           ///< the roles wait for each other

  double period() const { return iterations > 0 ? static_cast<double>(cycles) / static_cast<double>(iterations) : 0; }
};

/// One tile of the program, every role as one stream; units serve ops in the schedule's order, or, where pieces of a
/// tile came together elsewhere and that order cannot be kept, who asks first. Pre: `program` was built from these.
ProgramPeriod program_period(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program);

}  // namespace heddle::codegen
