// Loops of attention that were measured on an H100, as the orders of their warp groups. What they took is in measured_periods_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/timing/program.h"

namespace heddle::test {

struct MeasuredLoop {
  std::string name, kernel;
  int keys = 128;                      ///< of an iteration
  std::string order_of_keys;           ///< "relabelled", "natural"; empty: the kernel has no such choice
  std::vector<std::string> consumers;  ///< their streams
  std::string turns;                   ///< on the tensor cores
};
const std::vector<MeasuredLoop>& measured_loops();

Machine machine_of(const std::string& name);
Problem problem_of(const MeasuredLoop& loop, const Machine& machine);

/// Loads in a group of their own, these consumers, rings of three slots, the fewest stages.
timing::LoopProgram attention_program(const Problem& problem, const std::vector<std::string>& consumers, const std::string& turns);
/// FlashAttention-3's order in both groups, from the products on.
timing::LoopProgram flash_attention(const Problem& problem);
/// Pre: some stages keep the dependences of these streams.
void set_least_stages(const Problem& problem, timing::LoopProgram& program);

}  // namespace heddle::test
