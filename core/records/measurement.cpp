#include "core/records/measurement.h"

#include <algorithm>
#include <cmath>

#include "core/base/hash.h"
#include "core/problem/fault_log.h"
#include "core/simulate/kernel_run.h"

namespace heddle {

const char* to_string(RunStatus status) {
  switch (status) {
    case RunStatus::Verified: return "verified";
    case RunStatus::Unverified: return "unverified";
    case RunStatus::Wrong: return "wrong";
    case RunStatus::Unstable: return "unstable";
    case RunStatus::TimedOut: return "timed-out";
    case RunStatus::Faulted: return "faulted";
    case RunStatus::Refused: return "refused";
    case RunStatus::NoGpu: return "no-gpu";
  }
  return "";
}

const char* to_string(ErrorPattern pattern) {
  switch (pattern) {
    case ErrorPattern::None: return "none";
    case ErrorPattern::Everything: return "everything";
    case ErrorPattern::Panels: return "panels";
    case ErrorPattern::Chunks: return "chunks";
    case ErrorPattern::Rows: return "rows";
    case ErrorPattern::Tiles: return "tiles";
    case ErrorPattern::Scattered: return "scattered";
  }
  return "";
}

const TimedKernel* Timing::fastest_library() const {
  const TimedKernel* fastest = nullptr;
  for (const TimedLibrary& library : libraries)
    if (library.times.median_us > 0 && (!fastest || library.times.median_us < fastest->median_us)) fastest = &library.times;
  return fastest;
}

std::optional<double> Timing::ratio(const TimedKernel& other) const {
  if (other.median_us <= 0 || kernel.median_us <= 0) return std::nullopt;
  return other.median_us / kernel.median_us;
}

std::optional<double> Timing::sustained_ratio(const TimedKernel& other) const {
  if (other.sustained_us <= 0 || kernel.sustained_us <= 0) return std::nullopt;
  return other.sustained_us / kernel.sustained_us;
}

std::optional<double> Timing::ratio() const {
  const TimedKernel* fastest = fastest_library();
  return fastest ? ratio(*fastest) : std::nullopt;
}

std::optional<double> Measurement::ii_residual() const {
  if (!measured_ii || predicted_ii <= 0) return std::nullopt;
  return *measured_ii / static_cast<double>(predicted_ii) - 1;
}

std::optional<double> Measurement::prediction_residual() const {
  if (!measured_ii || !predicted || predicted->cycles_per_iteration <= 0) return std::nullopt;
  return *measured_ii / predicted->cycles_per_iteration - 1;
}

std::optional<PredictedRun> predicted_run(const KernelRun& run) {
  if (!run.fault.empty() || run.cycles <= 0 || run.clock.mhz <= 0) return std::nullopt;
  const double busy_us = static_cast<double>(run.cycles) / run.clock.mhz, iteration = run.sm.period.cycles();
  return PredictedRun{iteration * std::max(1.0, run.dram_us / busy_us), run.microseconds, run.tflops};
}

std::string schedule_hash(const Problem& problem, const Schedule& schedule) {
  Hash hash;
  hash.add(problem_hash(problem)).add(schedule.ii).add(schedule.groups.size());
  for (const ScheduleGroup& group : schedule.groups) hash.add(group.warps).add(group.registers);
  for (const Placement& op : schedule.ops) hash.add(op.start).add(op.group.index());
  for (const auto depth : schedule.depths) hash.add(depth);
  return hash.hex();
}

Adopted adopt(const Problem& problem, const KernelProfile& profile) {
  Adopted adopted;
  for (const OpTiming& timing : profile.ops) {
    const OpId op = problem.find_op(timing.op);
    if (!op.valid()) {
      adopted.unknown.push_back(timing.op);
      continue;
    }
    const auto cycles = static_cast<Cycle>(std::llround(std::clamp(timing.duration, 0.0, static_cast<double>(kAbsurd))));
    if (!timing.observed_end || timing.samples == 0 || cycles < 1) {
      adopted.bound_only.push_back(timing.op);
      continue;
    }
    const Op& was = problem.op(op);
    Change change;
    change.op = timing.op;
    change.value = cycles;
    if (cycles != was.latency) put(adopted.changes, change);
    // The group is busy until a synchronous op has its result: it cannot be busy for longer than that.
    change.kind = ChangeKind::Window;
    if (!was.asynchronous && was.window > cycles) put(adopted.changes, change);
  }
  return adopted;
}

}  // namespace heddle
