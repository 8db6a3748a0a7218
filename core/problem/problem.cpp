// Look-ups in a problem, and the digest that identifies it.
#include "core/problem/problem.h"

#include <algorithm>

#include "core/base/hash.h"

namespace heddle {

OpId Problem::find_op(std::string_view name) const {
  const auto it = std::find_if(ops.begin(), ops.end(), [&](const Op& o) { return o.name == name; });
  return it == ops.end() ? OpId{} : OpId(static_cast<std::size_t>(it - ops.begin()));
}

bool Problem::has_producer_group() const {
  return std::any_of(ops.begin(), ops.end(), [](const Op& o) { return o.variable_latency; });
}

std::string problem_hash(const Problem& p) {
  Hash h;
  for (const Unit& u : p.units) h.add(u.name).add(u.capacity);
  const Limits& l = p.limits;
  for (std::int64_t x : {l.smem_bytes, l.tmem_columns, l.registers_per_sm, l.registers_per_thread, l.register_granule,
                         l.register_overhead, l.producer_registers, l.warps_per_cta, l.threads_per_warp})
    h.add(x);
  for (const Op& o : p.ops) {
    h.add(o.name).add(o.latency).add(o.window).add(o.warps).add(o.aligned).add(o.asynchronous).add(o.variable_latency);
    h.add(o.uses.size());
    for (const UnitUse& u : o.uses) h.add(u.unit.index()).add(u.offset).add(u.duration).add(u.amount);
  }
  for (const Value& v : p.values)
    h.add(v.name).add(static_cast<int>(v.space)).add(v.producer.index()).add(v.bytes).add(v.registers);
  for (const Edge& e : p.edges) {
    h.add(e.from.index()).add(e.to.index()).add(e.value.valid() ? e.value.index() + 1 : 0);
    h.add(e.latency).add(e.distance).add(e.handoff).add(e.waits).add(e.hold);
  }
  for (const Channel& c : p.channels) {
    h.add(c.name).add(static_cast<int>(c.space)).add(c.size).add(c.writer.index()).add(c.only_if_crossing).add(c.max_depth);
    for (const Reader& r : c.readers) h.add(r.op.index()).add(r.distance).add(r.release).add(r.signal);
  }
  h.add(p.resident_smem).add(p.resident_columns).add(p.resident_registers).add(p.max_groups);
  return h.hex();
}

}  // namespace heddle
