#include "core/motion/motion.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/motion/as_compiled.h"
#include "core/motion/runner.h"

namespace heddle::motion {
namespace {

/// Turns that can be the first: every group's circle begins with the one that comes next for it.
std::vector<std::size_t> beginnings(const GroupCircles& circles) {
  if (circles.turns.empty()) return {0};
  const auto first_take = [&](std::size_t group) -> std::optional<std::size_t> {
    for (const CircleStep& step : circles.groups[group])
      if (step.kind == CircleStepKind::Take) return step.turn;
    return std::nullopt;
  };
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < circles.turns.size(); ++k) {
    std::vector<bool> seen(circles.groups.size(), false);
    bool fits = true;
    for (std::size_t i = 0; i < circles.turns.size(); ++i) {
      const std::size_t turn = (k + i) % circles.turns.size(), group = circles.turns[turn];
      fits &= seen[group] || first_take(group) == turn;
      seen[group] = true;
    }
    if (fits) found.push_back(k);
  }
  return found.empty() ? std::vector<std::size_t>{0} : found;
}

}  // namespace

bool shorter(const MotionPeriod& a, const MotionPeriod& b) {
  if (a.iterations == 0 || b.iterations == 0) return a.iterations > b.iterations && b.iterations == 0;
  return static_cast<__int128>(a.ticks) * b.iterations < static_cast<__int128>(b.ticks) * a.iterations;
}

Motion run_motion(const Problem& problem, const GroupCircles& circles, const MotionOptions& options) {
  const Parts parts(problem, circles);
  std::optional<Motion> worst;
  for (const std::size_t first : beginnings(circles)) {
    Motion motion = Runner(problem, circles, parts, options).run(first);
    if (!worst || motion.stuck || shorter(worst->period, motion.period)) worst = std::move(motion);
    if (worst->stuck) break;
  }
  return *std::move(worst);
}

Motion motion_of(const Problem& problem, const timing::LoopProgram& program, const MotionOptions& options) {
  return run_motion(problem, as_compiled(problem, circles_of(problem, program)), options);
}

Motion motion_of(const Problem& problem, const Schedule& schedule, const MotionOptions& options) {
  return motion_of(problem, program_of(problem, schedule), options);
}

}  // namespace heddle::motion
