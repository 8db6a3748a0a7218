// Registers for the order search: at the start of every op, what is alive in its group fits. And what crosses between groups fits into
// memory, and ops that are too wide for two groups share one. Pre for all of it: the part is the whole problem in one component, so
// that differences are what they are in a schedule.
#pragma once

#include <cstdint>

#include "core/problem/problem.h"
#include "solver/relaxation/pair_literals.h"
#include "solver/relaxation/relaxed_problem.h"

namespace heddle::solver {

struct GroupRegisters {
  std::int64_t warps = 0;      ///< of all groups beside the producer's
  std::int64_t available = 0;  ///< for values, per thread
  std::int64_t crossing = 0;   ///< bytes that register values between groups may take, a slot each
};

void add_registers(OrderModel& model, PairLiterals& pairs, const Problem& problem, const RelaxedPart& part,
                   const GroupRegisters& registers);

}  // namespace heddle::solver
