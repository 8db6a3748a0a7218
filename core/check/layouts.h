// The family "layout": whether the accesses that a problem charges are as its plan says. Counted bank by bank, element by element, from the
// layouts alone: nothing of core/layout/access.h or of the rank by which plans count.
#pragma once

#include <memory>
#include <vector>

#include "core/check/checker.h"
#include "core/layout/plan.h"

namespace heddle {

/// What is wrong with a plan, whatever the schedule: memory that holds two elements in one place, registers that leave elements out,
/// operands of wgmma and boxes of TMA that do not lie as the hardware reads them, accesses that their instruction cannot make, port cycles
/// that are not those counted here, and what is said not to be known although layouts and instruction are. Plans that share layouts with
/// one judged before cost next to nothing.
struct LayoutJudgement {
  std::vector<Violation> violations;                ///< without ops
  std::vector<std::string> of;                      ///< the op of each
  std::vector<std::pair<std::string, Cycle>> port;  ///< of each op that is priced, as counted here
};
std::shared_ptr<const LayoutJudgement> judge_layouts(const std::shared_ptr<const LayoutPlan>& plan);

}  // namespace heddle
