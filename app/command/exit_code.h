// What the program's exit codes mean to a shell.
#pragma once

namespace heddle::app {

enum ExitCode {
  kDone = 0,
  kInternal = 1,
  kUsage = 2,
  kInvalidInput = 3,
  kNegative = 4,     ///< infeasible, or a schedule that breaks a rule, or results that differ
  kNoProof = 5,      ///< nothing found in time, or not proved where --require-optimal asked for it
  kEnvironment = 6,  ///< display, solver, GPU or library missing; a file that cannot be written
  kKernelFailed = 7,
  kInterrupted = 130,
};

}  // namespace heddle::app
