#include "core/triton/memory/slots.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/specialization.h"
#include "core/triton/read/op_words.h"

namespace heddle::triton {

std::vector<OverwrittenSlot> overwritten_slots(const TritonProgram& program, const LoopSite& loop) {
  std::vector<OverwrittenSlot> found;
  const mlir::Module& module = *program.module;
  const Places places(program);
  const std::vector<PartitionHandOff> between = specialized_loads(program, places, loop);
  for (const LoadPlan& load : plan_of_loop(program, places, loop.op).loads) {
    if (std::ranges::any_of(between, [&](const PartitionHandOff& each) { return each.op == load.op; })) continue;
    for (const auto& [reader, flies] : load.overwritten) {
      const std::int64_t own = cluster_of(module.op(load.op)).value_or(0), its = cluster_of(module.op(reader)).value_or(0);
      const std::string why = flies        ? "while the mma is still reading"
                              : own == its ? fmt::format("in the same step and cluster ({}), in front of the reader", own)
                                           : fmt::format("in cluster {}, in front of cluster {} of the reader", own, its);
      found.push_back({load.op, reader,
                       fmt::format("{} overwrites what {} has still to read: its ring has {}, and the copy for {} later is issued {}",
                                   describe_op(program, module.op(load.op)), describe_op(program, module.op(reader)),
                                   count_of(load.slots, "slot"), count_of(load.slots, "iteration"), why)});
    }
  }
  return found;
}

}  // namespace heddle::triton
