// What the period of a program consists of, in the rule of motion (core/motion/motion.h): what goes when turns, register reads and issue
// cost nothing, one after the other; of what remains, the tensor core's work, and the chain.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/motion/motion.h"

namespace heddle::motion {

struct PeriodPart {
  std::string name;  ///< "tensor work", "chain", "holds", "register reads", "turns"
  std::string what;  ///< one line
  double cycles = 0;
  /// The period when this alone is set to nothing; none where it is no number of the machine.
  std::optional<double> without;
};

struct PeriodParts {
  double period = 0;              ///< cycles; the sum of all parts
  std::vector<PeriodPart> parts;  ///< the order above
};

/// Turns, reads and holds are set to nothing in this order, each on top of those before it: passing a turn takes no time (the order of
/// turns stays); arithmetic and mmas do not delay each other; any number of mma instructions is accepted at once. A part is the difference
/// that this makes, none where the period does not become shorter: orders of events change, so that parts alone need not add up to what
/// they are together. Tensor work is what all groups' mmas take of the tensor core; the chain is the rest: arithmetic, latencies and waits
/// that no mma hides. Nothing where the machine has no contention, the program cannot run, or when stopped.
std::optional<PeriodParts> period_parts(const Problem& problem, const timing::LoopProgram& program, std::stop_token stop = {});
std::optional<PeriodParts> period_parts(const Problem& problem, const Schedule& schedule, std::stop_token stop = {});

/// The period at both ends of the range that is stated for a number of contention, all others as they are.
struct PeriodAtEnds {
  std::string number;  ///< "late_per_read/shared", as in machine files
  std::int64_t value = 0, least = 0, most = 0;
  double at_least = 0, at_most = 0;  ///< cycles; 0: it cannot run
};
/// Of every number whose range is not a single value, the greatest change first. Nothing where the machine has no contention. Of the time
/// between special functions only the machine's costs depend, which are not counted again.
std::vector<PeriodAtEnds> period_at_ends(const Problem& problem, const Schedule& schedule, std::stop_token stop = {});

}  // namespace heddle::motion
