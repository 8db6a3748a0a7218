// Running a plan in a child process under a watchdog. A kernel that hangs, faults or takes the driver down ends that process
// only; what it had found out by then is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "codegen/run/plan.h"
#include "core/base/result.h"
#include "core/records/measurement.h"

namespace heddle::codegen {

struct RunOptions {
  std::string program = "/proc/self/exe";        ///< heddle, which is started again
  double limit_seconds = 60;                     ///< without a sign of life before the child is killed
  std::function<void(const std::string&)> note;  ///< what is being done; may be empty
  std::stop_token stop;
};

struct RunResult {
  Measurement found;                                         ///< kernel, machine, device, verification, timing, status, sentence
  std::map<std::string, std::vector<std::uint8_t>> records;  ///< "loop", "ops", "0", "1" ...
  bool cancelled = false;
};

/// Environment errors: no child can be started. Whatever happens to the child is a result.
Result<RunResult> run_plan(const RunPlan& plan, const RunOptions& options = {});

}  // namespace heddle::codegen
