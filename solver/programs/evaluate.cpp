#include "solver/programs/evaluate.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace heddle::programs {

Ranked evaluated(const Assembly& assembly, timing::LoopProgram program, const Ranking& ranking, const std::stop_token& stop) {
  const RingDepths& depths = assembly.depths();
  const auto run = [&](const std::vector<int>& choice) {
    program.depths = choice;
    return motion::motion_of(assembly.problem(), program, {.stop = stop}).period;
  };
  if (depths.choices.size() == 1) {
    const motion::MotionPeriod period = run(depths.choices.front());
    return {std::move(program), period, {}};
  }
  const motion::MotionPeriod unlimited = run(depths.deepest);
  if (ranking.too_long(unlimited)) return {std::move(program), unlimited, {}};
  motion::MotionPeriod best;
  std::size_t chosen = 0;
  for (std::size_t c = 0; c < depths.choices.size() && !stop.stop_requested(); ++c) {
    const motion::MotionPeriod period = run(depths.choices[c]);
    if (!motion::shorter(period, best)) continue;
    best = period;
    chosen = c;
    if (!motion::shorter(unlimited, best)) break;
  }
  program.depths = depths.choices[chosen];
  return {std::move(program), best, {}};
}

std::vector<Ranked> evaluated(const Assembly& assembly, std::vector<timing::LoopProgram> programs, const Ranking& ranking,
                              const std::stop_token& stop) {
  std::vector<Ranked> done(programs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k = next++; k < programs.size() && !stop.stop_requested(); k = next++)
      done[k] = evaluated(assembly, std::move(programs[k]), ranking, stop);
  };
  std::vector<std::jthread> threads;
  for (std::size_t t = 1; t < std::min<std::size_t>(programs.size(), std::max(1U, std::thread::hardware_concurrency())); ++t)
    threads.emplace_back(work);
  work();
  return done;
}

}  // namespace heddle::programs
