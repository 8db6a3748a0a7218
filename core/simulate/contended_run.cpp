// One period of the rule's steady state is laid end to end as often as it is needed.
#include "core/simulate/contended_run.h"

#include <algorithm>
#include <map>

#include "core/base/saturate.h"
#include "core/motion/as_compiled.h"
#include "core/motion/motion.h"
#include "core/problem/warp_work.h"

namespace heddle {
namespace {

using motion::CircleStepKind;
using motion::kCycle;
using motion::MotionSpan;

StallReason reason_of(const motion::CircleStep& step) {
  if (step.kind == CircleStepKind::Take) return StallReason::Unit;
  return step.credit ? StallReason::Credit : StallReason::Data;
}

class Telling {
 public:
  Telling(const Schedule& schedule, const motion::GroupCircles& circles, const motion::Motion& motion)
      : schedule_(schedule), circles_(circles), motion_(motion) {}

  /// A group's time and the stalls at its ops, over `cycles`.
  void times(Simulation& run) const {
    std::vector<std::map<StallReason, std::int64_t>> stalls(circles_.groups.size());
    std::vector<std::int64_t> busy(circles_.groups.size(), 0);
    std::map<std::pair<std::size_t, StallReason>, std::int64_t> at_op;
    for (const MotionSpan& span : motion_.spans) {
      if (span.tensor) continue;
      const motion::CircleStep& step = step_of(span);
      if (step.kind != CircleStepKind::Await && step.kind != CircleStepKind::Take) {
        busy[span.group] += span.end - span.begin;
        continue;
      }
      stalls[span.group][reason_of(step)] += span.end - span.begin;
      if (const OpId op = next_op(span); op.valid()) at_op[{op.index(), reason_of(step)}] += span.end - span.begin;
    }
    const auto over = [&](std::int64_t ticks) {
      return static_cast<Cycle>(static_cast<__int128>(ticks) * run.cycles / motion_.period.ticks);
    };
    for (std::size_t g = 0; g < run.groups.size(); ++g) {
      GroupTime& group = run.groups[g];
      group.busy = over(busy[g]);
      group.idle = run.cycles - group.busy;
      for (const auto& [reason, ticks] : stalls[g]) {
        group.stalls[static_cast<std::size_t>(reason)] = over(ticks);
        group.idle -= over(ticks);
      }
    }
    for (const auto& [key, ticks] : at_op) run.ops[key.first].stalls[static_cast<std::size_t>(key.second)] = over(ticks);
  }

  /// The first iterations that lie in the steady state as a whole; their numbers begin at 0.
  std::vector<SimulatedOp> timeline(int iterations) const {
    if (iterations <= 0) return {};
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> first;  // iteration of each step's first span
    for (const MotionSpan& span : motion_.spans)
      if (works(span)) {
        const auto [found, fresh] = first.try_emplace({span.group, span.step}, iteration_of(span));
        if (!fresh) found->second = std::min(found->second, iteration_of(span));
      }
    if (first.empty()) return {};
    std::int64_t from = first.begin()->second, least = from;
    for (const auto& [step, iteration] : first) from = std::max(from, iteration), least = std::min(least, iteration);
    Seen seen;
    for (std::int64_t p = 0; p <= (from - least + iterations) / motion_.period.iterations + 1; ++p)
      for (const MotionSpan& span : motion_.spans) {
        const std::int64_t iteration = iteration_of(span) + p * motion_.period.iterations - from;
        if (works(span) && iteration >= 0 && iteration < iterations) see(span, p * motion_.period.ticks, iteration, seen);
      }
    return in_order(seen);
  }

 private:
  const motion::CircleStep& step_of(const MotionSpan& span) const { return circles_.groups[span.group][span.step]; }

  OpId next_op(const MotionSpan& span) const {
    const auto& circle = circles_.groups[span.group];
    for (std::size_t i = 1; i < circle.size(); ++i) {
      const motion::CircleStep& step = circle[(span.step + i) % circle.size()];
      if (step.kind != CircleStepKind::Await && step.kind != CircleStepKind::Take && step.kind != CircleStepKind::Pass) return step.op;
    }
    return {};
  }

  bool works(const MotionSpan& span) const {
    const CircleStepKind kind = step_of(span).kind;
    return kind == CircleStepKind::Arithmetic || kind == CircleStepKind::Issue || kind == CircleStepKind::Copy;
  }
  std::int64_t iteration_of(const MotionSpan& span) const { return span.turn - step_of(span).stage; }

  /// Of an op of an iteration, from all of its spans.
  struct Times {
    static constexpr Cycle kLate = Cycle{1} << 60;
    Cycle issued = kLate, served = kLate, end = 0;
  };
  using Seen = std::map<std::pair<std::int64_t, OpId>, Times>;

  void see(const MotionSpan& span, motion::Ticks shift, std::int64_t iteration, Seen& seen) const {
    const motion::CircleStep& step = step_of(span);
    const Cycle begin = (span.begin + shift) / kCycle, end = (span.end + shift) / kCycle;
    Times& times = seen[{iteration, step.op}];
    Cycle& earliest = span.tensor ? times.served : times.issued;
    earliest = std::min(earliest, begin);
    if (span.tensor || step.kind == CircleStepKind::Arithmetic) times.end = std::max(times.end, end);
    if (step.kind == CircleStepKind::Copy) times.end = std::max(times.end, begin + step.latency / kCycle);
  }

  std::vector<SimulatedOp> in_order(const Seen& seen) const {
    std::vector<SimulatedOp> line;
    for (const auto& [key, times] : seen) {
      const Cycle issue = std::min(times.issued, times.served), start = times.served == Times::kLate ? issue : times.served;
      line.push_back({key.second, key.first, schedule_.group(key.second), issue, start, std::max(start, times.end)});
    }
    std::stable_sort(line.begin(), line.end(), [](const SimulatedOp& a, const SimulatedOp& b) { return a.start < b.start; });
    Cycle zero = Times::kLate;
    for (const SimulatedOp& op : line) zero = std::min(zero, op.issue);
    for (SimulatedOp& op : line) op.issue -= zero, op.start -= zero, op.end -= zero;
    return line;
  }

  const Schedule& schedule_;
  const motion::GroupCircles& circles_;
  const motion::Motion& motion_;
};

}  // namespace

bool chooses_by_period(const Problem& problem) {
  if (problem.contention.in_flight.value <= 0) return false;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (warp_role(problem, OpId(v)) == WarpRole::Copy && !problem.ops[v].variable_latency) return false;
  return true;
}

Simulation run_contended(const Problem& problem, const Schedule& schedule, const SimulateOptions& options) {
  Simulation run;
  run.groups.resize(schedule.groups.size());
  run.ops.resize(problem.ops.size());
  timing::LoopProgram program = motion::program_of(problem, schedule);
  if (!options.turns) program.turns.clear();
  const motion::GroupCircles circles = motion::as_compiled(problem, motion::circles_of(problem, program));
  const motion::Motion motion = motion::run_motion(problem, circles, {.spans = true, .stop = options.stop});
  if (motion.stuck || motion.period.iterations == 0) {
    run.deadlock = motion.stuck;
    run.fault = motion.stuck ? motion.fault : options.stop.stop_requested() ? kStopped : "nothing runs";
    return run;
  }
  const std::int64_t circle_count = sat_add(options.trips, stage_count(schedule) - 1);
  run.trips = options.trips;
  run.cycles = static_cast<Cycle>(std::min(motion.period.cycles() * static_cast<double>(circle_count), 4e18));
  run.period = {(motion.period.ticks + kCycle / 2) / kCycle, motion.period.iterations, motion.period.exact, 0};
  run.extrapolated = true;
  const Telling telling(schedule, circles, motion);
  telling.times(run);
  run.timeline = telling.timeline(options.timeline);
  return run;
}

}  // namespace heddle
