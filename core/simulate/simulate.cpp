#include "core/simulate/simulate.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/simulate/contended_run.h"
#include "core/simulate/loop_run.h"
#include "core/simulate/sm_run.h"

namespace heddle {

const char* to_string(Arbitration arbitration) {
  switch (arbitration) {
    case Arbitration::Scheduled: return "scheduled";
    case Arbitration::FirstCome: return "first-come";
    case Arbitration::Interleaved: return "interleaved";
    case Arbitration::Contended: return "contended";
  }
  return "scheduled";
}

const char* to_string(StallReason reason) {
  switch (reason) {
    case StallReason::Data: return "data";
    case StallReason::Order: return "order";
    case StallReason::Unit: return "unit";
    case StallReason::Credit: return "credit";
  }
  return "data";
}

const char* to_string(JitterShape shape) {
  switch (shape) {
    case JitterShape::Uniform: return "uniform";
    case JitterShape::Normal: return "normal";
    case JitterShape::Tail: return "tail";
  }
  return "uniform";
}

Simulation simulate(const Problem& problem, const Schedule& schedule, const SimulateOptions& options) {
  HEDDLE_ASSERT(schedule.ops.size() == problem.ops.size(), "a simulation needs one placement per op");
  HEDDLE_ASSERT(schedule.depths.size() == problem.channels.size(), "a simulation needs one depth per ring");
  HEDDLE_ASSERT(schedule.ii >= 1, "a simulation needs a positive II");
  if (options.arbitration == Arbitration::Scheduled) return run_scheduled(problem, schedule, options);
  if (options.arbitration == Arbitration::Contended) return run_contended(problem, schedule, options);
  const CtaProgram program = loop_program(problem, schedule, options);
  const auto ops = static_cast<std::int64_t>(std::max<std::size_t>(1, problem.ops.size()));
  SmWork work;
  work.queues = {{std::clamp<std::int64_t>(options.trips, 1, std::max<std::int64_t>(2, options.most_ops / ops - 1))}};
  Simulation run = run_sm(program, work, options).run;
  if (run.fault.empty() && run.trips < options.trips) extrapolate(problem, schedule, options.trips, run);
  return run;
}

}  // namespace heddle
