// What of a profile is worth believing.
#include "core/records/adopt.h"

#include <algorithm>
#include <cmath>

#include "core/problem/fault_log.h"

namespace heddle {

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
