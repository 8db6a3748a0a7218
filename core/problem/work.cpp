// Work is counted on measured tiles; the tensor cores' best rate comes from the machine file like every other number.
#include "core/problem/work.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/problem/costs.h"
#include "core/problem/fault_log.h"

namespace heddle {
namespace {

constexpr std::int64_t kSide = 256;

Tile square(Space space, int bits) {
  Tile tile;
  tile.space = space;
  tile.bits = bits;
  tile.rows = tile.cols = kSide;
  tile.elems = kSide * kSide;
  tile.bytes = tile.elems * bits / 8;
  tile.columns = ceil_div(tile.rows, 128) * ceil_div(tile.cols * bits, 32);
  return tile;
}

/// Cycles of the tensor cores for kSide cubed multiply-adds; 0 when no rule says.
Cycle cycles_at_best(const Machine& machine, int bits_a, int bits_b) {
  TileOp op;
  op.kind = "mma";
  Cycle best = 0;
  for (const Space space : {Space::Smem, Space::Register, Space::Tmem}) {
    const Tile a = square(space, bits_a), b = square(Space::Smem, bits_b), d = square(Space::Register, 32);
    FaultLog faults;
    const Op cost = cost_of({op, {&a, &b}, {&d}}, machine, {}, faults);
    Cycle cycles = 0;
    for (const UnitUse& use : cost.uses) {
      const Unit& unit = machine.units[use.unit.index()];
      if (unit.role == UnitRole::Tensor) cycles = std::max(cycles, ceil_div(sat_mul(use.duration, use.amount), unit.capacity));
    }
    if (cycles > 0 && (best == 0 || cycles < best)) best = cycles;
  }
  return best;
}

}  // namespace

const char* to_string(WorkKind kind) {
  switch (kind) {
    case WorkKind::MultiplyAdds: return "multiply_adds";
    case WorkKind::Bytes: return "bytes";
    case WorkKind::Iterations: break;
  }
  return "iterations";
}

Work work_per_iteration(const Kernel& kernel, const Machine& machine, const Scope& params) {
  Scope scope;
  for (const Param& p : kernel.params) {
    const auto given = params.find(p.name);
    scope[p.name] = given == params.end() ? p.value : given->second;
  }
  FaultLog faults;
  const auto tile = [&](const std::string& name) { return measure(*kernel.find_value(name), scope, {}, faults).value_or(Tile{}); };
  std::int64_t multiply_adds = 0, bytes = 0;
  Cycle at_peak = 0;
  bool known = true;
  for (const TileOp& op : kernel.body) {
    if (op.kind == "mma") {
      const Tile a = tile(op.inputs[0].value), b = tile(op.inputs[1].value), d = tile(op.outputs[0]);
      const auto shape = mma_shape({op, {&a, &b}, {&d}}, faults);
      if (!shape) continue;
      const std::int64_t count = sat_mul(shape->m, sat_mul(shape->n, shape->k));
      multiply_adds = sat_add(multiply_adds, count);
      const Cycle best = cycles_at_best(machine, a.bits, b.bits);
      known = known && best > 0;
      at_peak = sat_add(at_peak, ceil_div(sat_mul(count, best), kSide * kSide * kSide));
    } else if (!op.tensor.empty()) {
      bytes = sat_add(bytes, tile(op.outputs.empty() ? op.inputs[0].value : op.outputs[0]).bytes);
    }
  }
  if (multiply_adds > 0) return {WorkKind::MultiplyAdds, multiply_adds, bytes, known ? at_peak : 0};
  if (bytes > 0) return {WorkKind::Bytes, bytes, bytes, 0};
  return {};
}

int compare_ratios(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  HEDDLE_ASSERT(b > 0 && d > 0, "ratios of cycles to work have work");
  const __int128 left = static_cast<__int128>(a) * d, right = static_cast<__int128>(c) * b;
  return left < right ? -1 : left > right ? 1 : 0;
}

}  // namespace heddle
