#include "core/motion/program_runs.h"

#include <list>
#include <mutex>
#include <utility>

#include "core/motion/as_compiled.h"

namespace heddle::motion {

MotionPeriod ProgramRuns::period(const timing::LoopProgram& program, const std::stop_token& stop) {
  TurnMarks marks = turn_marks(problem_, program);
  const auto number = [](const std::optional<std::size_t>& turn) { return turn ? static_cast<int>(*turn) : -1; };
  std::vector<int> elsewhere = program.depths;  // what is the same for all circles of the program
  const std::size_t groups = elsewhere.size();
  elsewhere.resize(groups + problem_.ops.size());
  for (std::size_t g = 0; g < program.streams.size(); ++g)
    for (const timing::StreamStep& step : program.streams[g]) elsewhere[groups + step.op.index()] = static_cast<int>(g);

  RunProgram parts;
  std::optional<GroupCircles> circles;  // where one is not known
  std::list<RunCircle> unkept;
  Origin origin;
  for (std::size_t g = 0; g < program.streams.size(); ++g) {
    origin.assign(1, static_cast<int>(g));
    for (const timing::StreamStep& step : program.streams[g]) {
      const std::size_t op = step.op.index();
      origin.insert(origin.end(), {static_cast<int>(op), step.stage, number(marks.takes[op]), number(marks.passes[op])});
    }
    origin.insert(origin.end(), elsewhere.begin(), elsewhere.end());
    const RunCircle* circle = known(origin);
    if (!circle) {
      if (!circles) circles = circles_of(problem_, program);
      RunCircle made(problem_, as_compiled(problem_, std::move(circles->groups[g])));
      const std::lock_guard lock(mutex_);
      circle = circles_.size() < kMostCircles ? &circles_.try_emplace(std::move(origin), std::move(made)).first->second
                                              : &unkept.emplace_back(std::move(made));
    }
    parts.circles.push_back(circle);
  }
  parts.turns = std::move(marks.groups);
  return Runner(problem_, parts, {.stop = stop}).run().period;
}

/// None: it is to be made. What it gives stays.
const RunCircle* ProgramRuns::known(const Origin& origin) const {
  const std::shared_lock lock(mutex_);
  const auto found = circles_.find(origin);
  return found == circles_.end() ? nullptr : &found->second;
}

}  // namespace heddle::motion
