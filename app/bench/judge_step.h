// What a step of heddle bench has shown, in a sentence, and where to look next. The reading of patterns follows what each kind of fault
// does to a result; see docs/code_generator.md, "The day a GPU is there".
#pragma once

#include <string>
#include <vector>

#include "app/bench/steps.h"
#include "app/jobs/child_process.h"
#include "core/records/contention_reading.h"
#include "core/records/measurement.h"

namespace heddle::app {

enum class StepOutcome {
  Good,         ///< it did what it is for
  Slow,         ///< right, yet its loop takes clearly longer than predicted
  Wrong,        ///< a wrong result
  Unstable,     ///< results that change from run to run
  Hung,         ///< it did not end
  Faulted,      ///< the device reported a fault, or the process died
  Refused,      ///< no kernel: compiler or driver refuse it
  Failed,       ///< another error of the command
  Unavailable,  ///< something is missing here: GPU, library, tool
  Unneeded,     ///< a follow-up of a check that went well
  Skipped,      ///< what it needs did not go well
  NoTime,       ///< the minutes were over
  Interrupted
};
const char* to_string(StepOutcome outcome);  ///< "good" ... "interrupted"

/// The step has run and another run would show the same.
bool is_final(StepOutcome outcome);
/// It says that something is not as it should be.
bool is_bad(StepOutcome outcome);

struct StepVerdict {
  StepOutcome outcome = StepOutcome::Failed;
  std::string finding;                        ///< what was seen
  std::string next;                           ///< what to look at; empty: nothing
  std::vector<ContentionReading> readings{};  ///< of numbers of contention
};

/// `measured`: what the step wrote; `beside`: what the step that it is compared with wrote; nullptr where there is none. `log`: the name of
/// the file with what the step said.
StepVerdict judge_step(const BenchStep& step, const ChildResult& child, const Measurement* measured, const Measurement* beside,
                       const std::string& log);

}  // namespace heddle::app
