// Triton's software pipeliner without warp specialization (triton-lang/triton, TritonGPU/Transforms/Pipeliner):
// loads run N - 1 iterations ahead, everything else in program order.
#include <fmt/format.h>

#include <algorithm>

#include "solver/baselines/agents.h"
#include "solver/baselines/iteration_stages.h"
#include "solver/baselines/methods.h"

namespace heddle::solver {
namespace {

/// N - 1 slots per load, one more where an asynchronous mma still reads while the next load is issued.
int load_depth(const Problem& problem, const Channel& channel, int num_stages) {
  const bool read_late =
      std::any_of(channel.readers.begin(), channel.readers.end(), [&](const Reader& r) { return problem.op(r.op).asynchronous; });
  return std::clamp(num_stages - 1 + (read_late ? 1 : 0), 1, std::max(1, channel.max_depth));
}

}  // namespace

Result<BaselineOutcome> run_triton(const BaselineInput& input) {
  const Problem& problem = input.problem;
  const int n = static_cast<int>(input.setting("N"));
  std::vector<std::string> log;
  const IterationStages stages = iteration_stages(problem, n, n > 1 ? 1 : 0, log);
  const RowBlocks blocks = row_blocks(problem, groups_left(problem));
  if (blocks.count > 1)
    log.push_back(fmt::format("one agent of {} warps: its {} row blocks are groups that take turns in program order", 4 * blocks.count,
                              blocks.count));
  LoopProgram program = agent_program(problem, later_stages_first(abreast(problem, blocks), stages), blocks);
  program.depths = uniform_depths(problem, n, 1);
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    if (filled_by_load(problem, problem.channels[c])) program.depths[c] = load_depth(problem, problem.channels[c], n);
    if (stages.buffered[c]) program.depths[c] = 2;
  }
  LoopTiming timing = fitted_schedule(problem, std::move(program), log);
  return finished(input, std::move(timing),
                  {"triton",
                   fmt::format("Triton's pipeliner, num_stages {}. Loads sit in a producer group of their own, as the "
                               "model demands, so the time the compute warps take to issue them is not charged.{}",
                               n, note_on_blocks(blocks)),
                   std::move(log)},
                  false);
}

}  // namespace heddle::solver
