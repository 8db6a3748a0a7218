// The last word on which schedule is the answer where a text is made: the best few by the rule of motion are compiled, and their machine
// code is judged (codegen/machine_code/quarter.h). The rule may prune, for texts of equal period differ in what ptxas makes of them.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/judgement.h"
#include "app/ask/kernel.h"

namespace heddle::app {

struct News;  // app/ask/listener.h

/// A schedule that might be the answer.
struct NextBest {
  std::string name;
  Schedule schedule;
  double period = 0;  ///< by the rule of motion, cycles
};

struct JudgeRequest {
  codegen::BuildOptions build{};        ///< as the kernel was asked for
  std::optional<std::int64_t> trips{};  ///< of the loop; none: what the kernel says
  codegen::CompileFunction compile{};   ///< results are kept by whoever compiles; asked by several threads at once
  double seconds = 15;                  ///< for candidates and compilations together; no compilation begins that would probably end later
  std::size_t at_once = 0;              ///< compilations; 0: as many as there are cores
  /// Others than the kernel's own, the best first, each valid under what was demanded; asked once, and only where there is machine code to
  /// judge. It may take so many seconds.
  std::function<std::vector<NextBest>(const MadeKernel&, double seconds, const std::stop_token&)> next_best{};
};

/// Compiles the candidates, begun in their order, and puts the fastest as compiled in `made`'s place, with how all of them did. Those that
/// spill or are serialised, or that the audit objects to, are tried with their loops cut elsewhere once all are compiled
/// (codegen/compile/recut.h), where `build` does not say where; what stays so, or cannot be written, is behind every clean one. Nothing
/// happens where the code of `made` cannot be timed (another architecture, no line table, no wgmma). A stop ends it with what was best so
/// far; it is for `compile` to end a compilation that runs. Pre: `made` was compiled, without clock readings.
void judge_kernel(MadeKernel& made, const JudgeRequest& request, const std::stop_token& stop,
                  const std::function<void(const News&)>& heard);

}  // namespace heddle::app
