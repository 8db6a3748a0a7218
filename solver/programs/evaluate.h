// The period of a program over the choices of ring depths that memory leaves.
#pragma once

#include <stop_token>
#include <vector>

#include "core/motion/motion.h"
#include "solver/programs/assembly.h"
#include "solver/programs/ranking.h"

namespace heddle::programs {

/// The least over all choices of depths, and which gives it; of equal ones the first. A slot more makes nobody wait: where rings as deep as
/// they may be, whatever memory says, do not bring the program into the ranking, no choice does, and that period is given.
Ranked evaluated(const Assembly& assembly, timing::LoopProgram program, const Ranking& ranking, const std::stop_token& stop = {});

/// Every program by itself, on as many threads as the machine has; the answer does not depend on how many. A stop leaves programs without a
/// period.
std::vector<Ranked> evaluated(const Assembly& assembly, std::vector<timing::LoopProgram> programs, const Ranking& ranking,
                              const std::stop_token& stop = {});

}  // namespace heddle::programs
