// The periods of programs over the choices of ring depths that memory leaves.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/motion/program_runs.h"
#include "solver/programs/assembly.h"
#include "solver/programs/ranking.h"

namespace heddle::programs {

class Evaluator {
 public:
  /// A stop leaves programs without a period.
  Evaluator(const Assembly& assembly, std::stop_token stop) : assembly_(assembly), stop_(std::move(stop)), runs_(assembly.problem()) {}

  /// The least over all choices of depths, and which gives it; of equal ones the first. More slots never make a period longer: where
  /// rings as deep as they may be, whatever memory says, do not bring the program into the ranking, no choice does. That period is given
  /// then, without the program, which is not kept.
  Ranked evaluated(timing::LoopProgram program, const Ranking& ranking);

  /// Programs 0 to count - 1, each by itself, on as many threads as the machine has, which call `program` too; the answer does not depend
  /// on how many.
  std::vector<Ranked> evaluated(std::size_t count, const std::function<timing::LoopProgram(std::size_t)>& program, const Ranking& ranking);

 private:
  const Assembly& assembly_;
  const std::stop_token stop_;
  motion::ProgramRuns runs_;
};

}  // namespace heddle::programs
