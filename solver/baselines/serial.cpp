// The zero of every speed-up: load, wait, multiply, wait, one op after the other.
#include <algorithm>

#include "solver/baselines/agents.h"
#include "solver/baselines/methods.h"

namespace heddle::solver {
namespace {

/// Until the op's own work is done and its results have arrived wherever they are read.
Cycle length_of(const Problem& problem, OpId op, const std::vector<int>& group) {
  const Op& o = problem.op(op);
  Cycle length = std::max({o.latency, o.window, Cycle{1}});
  for (const UnitUse& use : o.uses) length = std::max(length, use.offset + use.duration);
  for (const Edge& e : problem.edges)
    if (e.from == op) length = std::max(length, e.latency + (group[op.index()] != group[e.to.index()] ? e.handoff : 0));
  return length;
}

}  // namespace

Result<BaselineOutcome> run_serial(const BaselineInput& input) {
  const Problem& problem = input.problem;
  const RowBlocks blocks = row_blocks(problem, groups_left(problem));
  std::vector<StreamStep> order;
  for (const OpId op : program_order(problem)) order.push_back({op, 0});
  LoopProgram program = agent_program(problem, order, blocks);
  program.depths = uniform_depths(problem, 1, 1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool wraps = i + 1 == order.size();
    const OpId from = order[i].op, to = order[wraps ? 0 : i + 1].op;
    program.waits.push_back({from, to, length_of(problem, from, blocks.of), wraps ? 1 : 0});
  }
  std::vector<std::string> log;
  if (blocks.count > 1) log.push_back("the row blocks of the one agent are groups of their own, which keeps registers within bounds");
  LoopTiming timing = fitted_schedule(problem, std::move(program), log);
  return finished(input, std::move(timing),
                  {"serial",
                   "One op after the other, every wait for the last result included; the waits are in the starts, not "
                   "in the program, "
                   "so its event graph may sustain a smaller period.",
                   std::move(log)},
                  false);
}

}  // namespace heddle::solver
