#include "codegen/program/copies.h"

#include <algorithm>

namespace heddle::codegen {
namespace {

template <class Visit>
void for_each_drafted(RoleDraft& role, Visit visit) {
  for (auto* list : {&role.begin, &role.loads, &role.end})
    for (Step& step : *list) visit(step);
  for (LoopStep& loop : role.loop) visit(loop.step);
}

}  // namespace

void arrange_copies(ProgramDraft& draft) {
  std::set<std::size_t> copied;  // barriers
  for (std::size_t r = 0; r < draft.roles.size(); ++r)
    for_each_drafted(draft.roles[r], [&](Step& step) {
      if (step.kind != StepKind::Issue || step.engine != Engine::Load || op_of(draft.kernel, step.op).kind != "load") return;
      Barrier& barrier = draft.program.barriers[step.barrier];
      step.copies = true;
      step.count = barrier.arrivals = draft.warps_of(r) * kThreadsPerWarp;
      barrier.tx_bytes = 0;
      copied.insert(step.barrier);
    });
  for (RoleDraft& role : draft.roles) {
    std::set<std::size_t> read;  // values that mmas or TMA read
    for_each_drafted(role, [&](const Step& step) {
      if (step.kind == StepKind::Issue)
        for (const Place& in : step.inputs) read.insert(in.value);
    });
    for_each_drafted(role, [&](Step& step) {
      if (step.kind == StepKind::Wait && copied.contains(step.barrier))
        step.fence = read.contains(draft.program.barriers[step.barrier].value);
    });
  }
}

bool copies(const Role& role) {
  return std::any_of(role.sections.begin(), role.sections.end(), [](const Section& section) {
    return std::any_of(section.steps.begin(), section.steps.end(), [](const Step& step) { return step.copies; });
  });
}

}  // namespace heddle::codegen
