// What the baselines share: orders inside one iteration, and how an agent (one instruction stream of the source
// program) becomes warp groups. An agent of 8 or 12 warps works on one row block per 4 warps, all in the same order and
// together at least once per iteration; here every block is a group of its own, and their turns on the tensor cores
// keep the agent's order.
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/timing/program.h"
#include "core/timing/program_order.h"
#include "solver/baselines/baselines.h"

namespace heddle::solver {

using timing::earliest_schedule, timing::program_order, timing::running_schedule, timing::timing_of_order;
using timing::LoopProgram, timing::StreamStep, timing::LoopTiming, timing::AddedWait;

/// Per op the row block it belongs to, -1 for variable-latency ops. What passes values on in registers or in tensor
/// memory is one piece; the largest pieces, if they have the same ops, are the blocks (at most `most`), and the others
/// join one of them.
struct RowBlocks {
  std::vector<int> of;
  int count = 1;
};
RowBlocks row_blocks(const Problem& problem, int most);

/// Program order with the blocks abreast: first ops of all blocks, then second ops ...
std::vector<OpId> abreast(const Problem& problem, const RowBlocks& blocks);

/// Ops that take turns on the tensor cores in the order given, where ops of several groups use them; for
/// Program::turns. Other units are shared instruction by instruction, whatever the order of the ops.
std::vector<std::vector<OpId>> tensor_turns(const Problem& problem, const std::vector<OpId>& order, const std::vector<int>& group);

bool on_unit(const Problem& problem, OpId op, UnitRole role);
inline bool is_mma(const Problem& problem, OpId op) { return on_unit(problem, op, UnitRole::Tensor); }
/// Asynchronous copies from shared to global memory.
bool is_store(const Problem& problem, OpId op);
/// Rings that loads fill.
bool filled_by_load(const Problem& problem, const Channel& channel);

/// Depth `loads` for rings filled by loads, `others` for the rest, within each ring's limits.
std::vector<int> uniform_depths(const Problem& problem, int loads, int others);

/// For notes: what a schedule cannot say about an agent whose row blocks became groups; empty when there is only one.
std::string note_on_blocks(const RowBlocks& blocks);

/// One agent that runs `order`, its blocks as groups that take turns; loads in the producer group.
LoopProgram agent_program(const Problem& problem, const std::vector<StreamStep>& order, const RowBlocks& blocks);
/// How many groups may still be used beside the producer and `taken` others; at least 1.
int groups_left(const Problem& problem, int taken = 0);

/// The timing of a program whose load rings lose a slot each until memory suffices; `log` says so.
LoopTiming fitted_schedule(const Problem& problem, LoopProgram program, std::vector<std::string>& log);

/// What is told of a baseline's schedule.
struct BaselineStory {
  const char* name;
  std::string note;              ///< what it is, and how it differs from the original
  std::vector<std::string> log;  ///< what was decided on the way
};

/// Provenance, name and the log of what the judge will object to. `turns`: as of Schedule; compilers put no barriers between groups.
BaselineOutcome finished(const BaselineInput& input, LoopTiming timing, BaselineStory story, bool turns = true);

}  // namespace heddle::solver
