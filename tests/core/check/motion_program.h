// A program as the checker has it, as the rule of motion has it.
#pragma once

#include "core/check/period_circle.h"
#include "core/timing/program.h"

namespace heddle::test {

inline timing::LoopProgram program_of(const Problem& p, const check_period::JudgedProgram& loop) {
  timing::LoopProgram program;
  for (const auto& stream : loop.groups) {
    program.streams.emplace_back();
    for (const check_period::Placed& placed : stream) program.streams.back().push_back({placed.op, placed.stage});
  }
  program.depths.assign(p.channels.size(), 1);
  if (!loop.turns.empty()) program.turns = {loop.turns};
  return program;
}

}  // namespace heddle::test
