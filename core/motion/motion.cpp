#include "core/motion/motion.h"

#include "core/motion/as_compiled.h"
#include "core/motion/runner.h"

namespace heddle::motion {

bool shorter(const MotionPeriod& a, const MotionPeriod& b) {
  if (a.iterations == 0 || b.iterations == 0) return a.iterations > b.iterations && b.iterations == 0;
  return static_cast<__int128>(a.ticks) * b.iterations < static_cast<__int128>(b.ticks) * a.iterations;
}

Motion run_motion(const Problem& problem, const GroupCircles& circles, const MotionOptions& options) {
  std::vector<RunCircle> made;
  for (const std::vector<CircleStep>& circle : circles.groups) made.emplace_back(problem, circle);
  RunProgram program{{}, circles.turns};
  for (const RunCircle& circle : made) program.circles.push_back(&circle);
  return Runner(problem, program, options).run();
}

Motion motion_of(const Problem& problem, const timing::LoopProgram& program, const MotionOptions& options) {
  return run_motion(problem, as_compiled(problem, circles_of(problem, program)), options);
}

Motion motion_of(const Problem& problem, const Schedule& schedule, const MotionOptions& options) {
  return motion_of(problem, program_of(problem, schedule), options);
}

}  // namespace heddle::motion
