// A schedule written into the Triton text that it was made for: `loop.stage`, `loop.cluster`, `tt.scheduled_max_stage`, `ttg.partition`
// (and `tt.latency` in a text that is still to be scheduled) are patched in place, every other byte stays. Triton verifies none of it, so
// nothing leaves here that rules.h finds fault with.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/triton/kernel/native.h"
#include "core/triton/memory/memory.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

struct GivenBack {
  std::string text;                  ///< the whole module
  std::size_t changed = 0;           ///< ops whose decision is another one than before; 0: the text is the one that was read
  std::vector<std::string> changes;  ///< "%k (tt.descriptor_load, line 70): stage 0 -> 1", one for each of them, in the order of the text
  std::vector<std::string> notes;    ///< what the schedule says and Triton decides itself
  TritonMemory memory;               ///< predicted of the new text
};

/// `native` and `problem` are those of the triton reading that the schedule was made for; the schedule has passed the checker. Faults: what
/// Triton cannot be told, and every rule that the result would break, by its name ("triton-order: ...").
Result<GivenBack> give_back(const TritonProgram& program, const LoopSite& loop, const Native& native, const Problem& problem,
                            const Schedule& schedule, const Machine& machine);

}  // namespace heddle::triton
