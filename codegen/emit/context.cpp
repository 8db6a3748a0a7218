#include "codegen/emit/context.h"

namespace heddle::codegen {

void EmitContext::refuse(std::string rule, const TileOp& op, std::string sentence) {
  for (const Refusal& r : refusals)
    if (r.rule == rule && !r.ops.empty() && r.ops[0] == op.name) return;
  refusals.push_back({std::move(rule), {op.name}, std::move(sentence), std::nullopt});
}

}  // namespace heddle::codegen
