// Entry of the command line: finds the command in the table, parses, runs it, and turns results into exit codes.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

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

/// The whole program without the process: results to `out`, messages to `err`. `args` excludes the program's name.
int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err);

/// The process: standard streams, terminal width, colour and character set.
int run_cli(int argc, char** argv);

}  // namespace heddle::app
