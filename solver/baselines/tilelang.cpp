// TileLang's roles (tile-ai/tilelang, pull request 3059): TMA loads, mmas, TMA stores, and workers for the
// rest; one ring depth for all loads, program order in every role.
#include <fmt/format.h>

#include <algorithm>

#include "solver/baselines/agents.h"
#include "solver/baselines/methods.h"

namespace heddle::solver {

Result<BaselineOutcome> run_tilelang(const BaselineInput& input) {
  const Problem& problem = input.problem;
  const int stages = static_cast<int>(input.setting("stages"));
  std::vector<std::string> log;
  const bool any_store = std::any_of(problem.ops.begin(), problem.ops.end(), [&](const Op& op) {
    return is_store(problem, OpId(static_cast<std::size_t>(&op - problem.ops.data())));
  });
  // Where accumulators are in registers, mmas belong to whoever owns these.
  const bool mma_role = problem.limits.tmem_columns > 0 && groups_left(problem) > 1;
  const bool store_role = any_store && groups_left(problem, mma_role ? 1 : 0) > 1;
  if (!mma_role) log.push_back("mmas are issued by the workers, whose registers hold the accumulators");
  if (any_store && !store_role) log.push_back("stores are issued by the workers: the kernel allows no group of their own");
  const RowBlocks blocks = row_blocks(problem, groups_left(problem, (mma_role ? 1 : 0) + (store_role ? 1 : 0)));
  std::vector<StreamStep> mma, store, rest;
  for (const OpId op : abreast(problem, blocks)) {
    if (mma_role && is_mma(problem, op))
      mma.push_back({op, 0});
    else if (store_role && is_store(problem, op))
      store.push_back({op, 0});
    else
      rest.push_back({op, 0});
  }
  LoopProgram program = agent_program(problem, rest, blocks);
  for (auto& stream : {mma, store})
    if (!stream.empty()) program.streams.push_back(stream);
  if (problem.has_producer_group())
    std::erase_if(program.streams, [&](const auto& stream) { return stream.empty() && &stream != &program.streams.front(); });
  else
    std::erase_if(program.streams, [](const auto& stream) { return stream.empty(); });
  program.depths = uniform_depths(problem, stages, 1);
  log.push_back(fmt::format("{} groups, num_stages {}", program.streams.size(), stages));
  LoopTiming timing = fitted_schedule(problem, std::move(program), log);
  return finished(input, std::move(timing),
                  {"tilelang", fmt::format("TileLang's four roles, num_stages {}.{}", stages, note_on_blocks(blocks)), std::move(log)},
                  false);
}

}  // namespace heddle::solver
