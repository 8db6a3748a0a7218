#include "core/problem/warp_work.h"

#include <algorithm>

#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/kernel/op_kind.h"

namespace heddle {
namespace {

constexpr std::int64_t kWhole = 256;

bool uses_role(const Op& op, const std::vector<Unit>& units, auto wanted) {
  return std::any_of(op.uses.begin(), op.uses.end(),
                     [&](const UnitUse& use) { return use.duration > 0 && wanted(units[use.unit.index()].role); });
}

bool moves_tiles(const Op& op) {
  const OpKind* kind = find_op_kind(op.kind);
  return op.kind.starts_with("smem_") || op.kind.starts_with("tmem_") || (kind && (kind->reads_tensor || kind->writes_tensor));
}

}  // namespace

WarpRole warp_role(const Op& op, const std::vector<Unit>& units) {
  const auto tensor = [](UnitRole role) { return role == UnitRole::Tensor; };
  if (op.asynchronous) return uses_role(op, units, tensor) ? WarpRole::Product : WarpRole::Copy;
  if (moves_tiles(op)) return WarpRole::Copy;
  return op.uses.empty() || uses_role(op, units, is_arithmetic) ? WarpRole::Arithmetic : WarpRole::Copy;
}

Cycle tensor_cycles(const Op& op, const std::vector<Unit>& units) {
  Cycle cycles = 0;
  for (const UnitUse& use : op.uses)
    if (units[use.unit.index()].role == UnitRole::Tensor) cycles = std::max(cycles, use.duration);
  return cycles;
}

WarpWork usual_work(const Op& op, const std::vector<Unit>& units) {
  WarpWork work;
  if (warp_role(op, units) != WarpRole::Arithmetic) return work;
  work.alone = sat_mul(op.window, kWhole);
  for (const UnitUse& use : op.uses) {
    const Unit& unit = units[use.unit.index()];
    const std::int64_t cycles = ceil_div(sat_mul(sat_mul(use.duration, use.amount), kWhole), unit.capacity);
    if (unit.role == UnitRole::Special) work.specials += cycles / 8;
    if (unit.role == UnitRole::Special) work.issue += cycles / 8;
    if (unit.role == UnitRole::Alu) work.issue += cycles / 2;
    if (unit.role == UnitRole::Float) work.issue += cycles;
  }
  return work;
}

void follow_change(Op& op, const Op& before, const std::vector<Unit>& units) {
  const WarpWork was = usual_work(before, units), is = usual_work(op, units);
  if (was == is) return;
  const auto follow = [&](std::int64_t WarpWork::*part) {
    if (was.*part == is.*part) return;
    op.work.*part = was.*part > 0 ? sat_mul(op.work.*part, is.*part) / was.*part : is.*part;
  };
  follow(&WarpWork::alone);
  follow(&WarpWork::specials);
  follow(&WarpWork::issue);
}

}  // namespace heddle
