#include "solver/programs/evaluate.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace heddle::programs {

Ranked Evaluator::evaluated(timing::LoopProgram program, const Ranking& ranking) {
  const RingDepths& depths = assembly_.depths();
  const auto run = [&](const std::vector<int>& choice) {
    program.depths = choice;
    return runs_.period(program, stop_);
  };
  const motion::MotionPeriod unlimited = run(depths.choices.size() == 1 ? depths.choices.front() : depths.deepest);
  if (ranking.too_long(unlimited)) return {{}, unlimited, {}};
  if (depths.choices.size() == 1) return {std::move(program), unlimited, {}};
  motion::MotionPeriod best;
  std::size_t chosen = 0;
  for (std::size_t c = 0; c < depths.choices.size() && !stop_.stop_requested(); ++c) {
    const motion::MotionPeriod period = run(depths.choices[c]);
    if (!motion::shorter(period, best)) continue;
    best = period;
    chosen = c;
    if (!motion::shorter(unlimited, best)) break;
  }
  program.depths = depths.choices[chosen];
  return {std::move(program), best, {}};
}

std::vector<Ranked> Evaluator::evaluated(std::size_t count, const std::function<timing::LoopProgram(std::size_t)>& program,
                                         const Ranking& ranking) {
  std::vector<Ranked> done(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k = next++; k < count && !stop_.stop_requested(); k = next++) done[k] = evaluated(program(k), ranking);
  };
  std::vector<std::jthread> threads;
  for (std::size_t t = 1; t < std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency())); ++t)
    threads.emplace_back(work);
  work();
  return done;
}

}  // namespace heddle::programs
