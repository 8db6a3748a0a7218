#include "core/schedule/constraints.h"

namespace heddle {

const char* to_string(ConstraintKind kind) {
  switch (kind) {
    case ConstraintKind::Pin: return "pin";
    case ConstraintKind::Range: return "range";
    case ConstraintKind::InGroup: return "in_group";
    case ConstraintKind::NotInGroup: return "not_in_group";
    case ConstraintKind::SameGroup: return "same_group";
    case ConstraintKind::DifferentGroup: return "different_group";
    case ConstraintKind::Before: return "before";
    case ConstraintKind::SameStage: return "same_stage";
    case ConstraintKind::EarlierStage: return "earlier_stage";
    case ConstraintKind::MaxStages: return "max_stages";
    case ConstraintKind::MaxWarps: return "max_warps";
    case ConstraintKind::MaxGroups: return "max_groups";
    case ConstraintKind::MaxRegisters: return "max_registers";
    case ConstraintKind::MaxSmem: return "max_smem";
    case ConstraintKind::MaxTmem: return "max_tmem";
    case ConstraintKind::MaxDepth: return "max_depth";
    case ConstraintKind::OneByOne: return "one_by_one";
    case ConstraintKind::IIRange: return "ii_range";
    case ConstraintKind::ClosedGroup: return "closed_group";
    case ConstraintKind::MaxWidthRegisters: return "max_width_registers";
    case ConstraintKind::MaxStageSmem: return "max_stage_smem";
    case ConstraintKind::MaxCrossingSmem: return "max_crossing_smem";
  }
  return "pin";
}

std::int64_t width_registers(int warps) {
  if (warps < 1) return 0;
  std::int64_t width = 1;
  while (width < warps) width *= 2;
  return width * 32 * (width <= 2 ? 24 : width <= 4 ? 152 : 232);
}

}  // namespace heddle
