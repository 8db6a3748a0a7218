// From a schedule to a measurement: writes the kernel and its recording builds, compiles them, makes the plan, runs it, and reads
// the records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codegen/compile/compile.h"
#include "codegen/emit/emit.h"
#include "codegen/run/run.h"
#include "core/records/measurement.h"

namespace heddle::codegen {

struct MeasureRequest {
  const Kernel& kernel;
  const Problem& problem;
  const Schedule& schedule;
  const Program& program;
  CompileOptions compile;
  bool profile = false;  ///< the recording build of ops, too
  bool verify = true, time = true, library = true;
  int repeats = 20, launches = 50, warmups = 10, blocks = 7, sustained_launches = 500;
  double pause_seconds = 0.5;
  std::uint64_t seed = 1;
};

/// A plan and what is needed to read what comes back.
struct PreparedRun {
  RunPlan plan;
  MeasuredBuild build;
  std::optional<RecordPlan> loop, ops;
  std::string remark;  ///< why results are not looked at; empty when they are
};

/// Errors: the compiler's, and input errors for kernels whose build ptxas spoils.
Result<PreparedRun> prepare_run(const MeasureRequest& request);

/// The measurement of a run: everything but command and date.
Measurement measurement_of(const MeasureRequest& request, const PreparedRun& prepared, RunResult&& result);

/// With these parts filled in but nothing run.
Measurement unmeasured(const MeasureRequest& request, RunStatus status, std::string sentence);

}  // namespace heddle::codegen
