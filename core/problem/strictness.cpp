// Number by number, in the order of the definition in problem.h.
#include "core/problem/strictness.h"

#include "core/base/saturate.h"

namespace heddle {
namespace {

/// All pairs of two lists of the same length.
template <class T, class Judge>
bool all_pairs(const std::vector<T>& a, const std::vector<T>& b, Judge judge) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!judge(a[i], b[i])) return false;
  return true;
}

bool stricter_op(const Op& a, const Op& b) {
  // Latency itself forbids nothing: its edges, holds and releases do.
  return a.name == b.name && a.window >= b.window && a.warps >= b.warps && a.aligned >= b.aligned &&
         a.asynchronous == b.asynchronous && a.variable_latency == b.variable_latency &&
         all_pairs(a.uses, b.uses, [](const UnitUse& x, const UnitUse& y) {
           return x.unit == y.unit && x.offset == y.offset && x.duration >= y.duration && x.amount >= y.amount && x.work() >= y.work();
         });
}

bool stricter_edge(const Edge& a, const Edge& b) {
  return a.from == b.from && a.to == b.to && a.value == b.value && a.distance == b.distance && a.latency >= b.latency &&
         sat_add(a.latency, a.handoff) >= sat_add(b.latency, b.handoff) && a.waits >= b.waits && a.hold >= b.hold;
}

bool stricter_channel(const Channel& a, const Channel& b) {
  return a.name == b.name && a.space == b.space && a.size >= b.size && a.values == b.values && a.writer == b.writer &&
         a.only_if_crossing == b.only_if_crossing && a.max_depth <= b.max_depth &&
         all_pairs(a.readers, b.readers, [](const Reader& x, const Reader& y) {
           return x.op == y.op && x.distance == y.distance && x.release >= y.release &&
                  sat_add(x.release, x.signal) >= sat_add(y.release, y.signal);
         });
}

bool stricter_limits(const Limits& a, const Limits& b) {
  return a.smem_bytes <= b.smem_bytes && a.tmem_columns <= b.tmem_columns && a.registers_per_sm <= b.registers_per_sm &&
         a.registers_per_thread <= b.registers_per_thread && b.register_granule > 0 &&
         a.register_granule % b.register_granule == 0 && a.register_overhead >= b.register_overhead &&
         a.producer_registers >= b.producer_registers && a.warps_per_cta <= b.warps_per_cta &&
         a.threads_per_warp == b.threads_per_warp;
}

}  // namespace

bool at_least_as_strict(const Problem& a, const Problem& b) {
  return all_pairs(a.units, b.units, [](const Unit& x, const Unit& y) { return x.name == y.name && x.capacity <= y.capacity; }) &&
         stricter_limits(a.limits, b.limits) && all_pairs(a.ops, b.ops, stricter_op) &&
         all_pairs(a.values, b.values,
                   [](const Value& x, const Value& y) {
                     return x.name == y.name && x.space == y.space && x.producer == y.producer && x.registers >= y.registers;
                   }) &&
         all_pairs(a.edges, b.edges, stricter_edge) && all_pairs(a.channels, b.channels, stricter_channel) &&
         a.resident_smem >= b.resident_smem && a.resident_columns >= b.resident_columns &&
         a.resident_registers >= b.resident_registers && a.max_groups <= b.max_groups;
}

}  // namespace heddle
