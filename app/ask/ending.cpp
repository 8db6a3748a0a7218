#include "app/ask/ending.h"

#include "app/command/exit_code.h"

namespace heddle::app {

int exit_code(const Ended& ended) {
  switch (ended.ending) {
    case Ending::Done: return kDone;
    case Ending::Negative: return kNegative;
    case Ending::NoProof: return kNoProof;
    case Ending::Interrupted: return kInterrupted;
    case Ending::InvalidInput: return kInvalidInput;
    case Ending::Internal: return kInternal;
  }
  return kInternal;
}

Ended ended(const SolveOutcome& outcome, bool require_optimal) {
  if (outcome.status == Status::Invalid) return Ending::Internal;
  if (outcome.cancelled) return Ending::Interrupted;
  if (outcome.status == Status::Infeasible) return Ending::Negative;
  if (outcome.status == Status::Unknown || !outcome.schedule || outcome.serial) return Ending::NoProof;
  // Where time decided between orders, the least II may have been proved beside a larger one.
  const bool proved = outcome.status == Status::Optimal || (outcome.fastest && outcome.fastest->least_proved);
  return require_optimal && !proved ? Ending::NoProof : Ending::Done;
}

}  // namespace heddle::app
