#include "core/dump/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/channels.h"
#include "core/analysis/cycle_ratio.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/check/checker.h"
#include "core/dump/native.h"
#include "core/instance/instance.h"

namespace heddle::dump {
namespace {

/// The compiler adds this to the cost of a partition whose memory does not fit.
constexpr double kPenalty = 1e7;

std::vector<BrokenEdge> broken_edges(const DumpLoop& loop) {
  std::vector<BrokenEdge> broken;
  const Cycle ii = *loop.stated_ii;
  for (const DumpEdge& e : loop.edges) {
    const Cycle from = *loop.nodes[e.from].cycle, to = *loop.nodes[e.to].cycle;
    const Cycle slack = sat_add(sat_add(to, sat_mul(e.distance, ii)), -sat_add(from, e.latency));
    if (slack >= 0) continue;
    BrokenEdge b{e.from, e.to, e.latency, e.distance, slack, from / ii, to / ii, false};
    // At the same stages and slots a larger II buys (stage_to + distance - stage_from) times the difference.
    b.repairable = b.stage_to + e.distance > b.stage_from;
    broken.push_back(b);
  }
  return broken;
}

std::vector<UnitConflict> unit_conflicts(const DumpLoop& loop, const Problem& problem, const Schedule& schedule) {
  std::vector<UnitConflict> conflicts;
  for (const Violation& v : check(problem, schedule).violations)
    if (v.family == "unit") {
      UnitConflict conflict{{}, v.message, v.slot, {}};
      for (const OpId op : v.ops) {
        if (!problem.op(op).uses.empty()) conflict.unit = problem.unit(problem.op(op).uses[0].unit).name;
        for (std::size_t i = 0; i < loop.nodes.size(); ++i)
          if (loop.nodes[i].name == problem.op(op).name) conflict.nodes.push_back(i);
      }
      conflicts.push_back(std::move(conflict));
    }
  return conflicts;
}

/// ResMII of occupancies, RecMII over all circuits, and no II below an inner loop's run.
void bounds(const DumpLoop& loop, DumpLoopAudit& out) {
  std::map<std::string, Cycle> load;
  for (const DumpNode& n : loop.nodes) {
    if (n.super) out.min_ii = std::max(out.min_ii, n.latency);
    if (n.table.empty() && !n.unit.empty()) load[n.unit] = sat_add(load[n.unit], std::max<Cycle>(1, n.occupancy));
    for (const UnitTime& use : n.table) load[use.unit] = sat_add(load[use.unit], use.duration);
    out.occupancies_derived |= n.occupancy_derived;
  }
  for (const auto& [unit, cycles] : load) out.res_mii = std::max(out.res_mii, cycles);
  std::vector<RatioEdge> edges;
  for (const DumpEdge& e : loop.edges) edges.push_back({e.from, e.to, e.latency, e.distance});
  const CycleRatio ratio = max_cycle_ratio(loop.nodes.size(), edges);
  out.rec_mii = ratio.impossible ? 0 : ceil_div(ratio.weight, std::max<std::int64_t>(1, ratio.tokens));
  out.min_ii = std::max({out.min_ii, out.res_mii, out.rec_mii, Cycle{1}});
}

/// Which buffers of the file share storage: the largest of each merge group counts.
std::int64_t merged_bytes(const std::vector<DumpBuffer>& buffers, const char* kind, const std::set<std::int64_t>& without) {
  std::int64_t sum = 0;
  std::map<std::int64_t, std::int64_t> shared;
  for (const DumpBuffer& b : buffers) {
    if (b.kind != kind || without.contains(b.id)) continue;
    const std::int64_t total = sat_mul(b.size_bytes, b.count);
    if (b.merge_group < 0)
      sum = sat_add(sum, total);
    else
      shared[b.merge_group] = std::max(shared[b.merge_group], total);
  }
  for (const auto& [group, bytes] : shared) sum = sat_add(sum, bytes);
  return sum;
}

std::int64_t columns_of(const TileType& tile) {
  const std::int64_t lanes = tile.shape.empty() ? 1 : tile.elements() / std::max<std::int64_t>(1, tile.shape.back());
  const std::int64_t width = tile.shape.empty() ? 1 : tile.shape.back();
  return sat_mul(ceil_div(lanes, 128), ceil_div(sat_mul(width, tile.bits), 32));
}

MemoryAudit memory(const DumpLoop& loop) {
  MemoryAudit m;
  for (const DumpBuffer& b : loop.buffers) {
    if (b.kind == "smem") m.smem_stated = sat_add(m.smem_stated, b.total_bytes);
    if (b.kind == "tmem") m.tmem_stated = sat_add(m.tmem_stated, b.total_bytes / 512);
  }
  for (const DumpBarrier& barrier : loop.barriers) {
    const auto buffer = std::find_if(loop.buffers.begin(), loop.buffers.end(), [&](const DumpBuffer& b) { return b.id == barrier.buffer; });
    if (barrier.buffer < 0 || buffer == loop.buffers.end() || !buffer->synthesized || buffer->kind != "smem") continue;
    bool data = false, edge = false;
    for (const DumpEdge& e : loop.edges)
      if (e.from == barrier.producer && e.to == barrier.consumer) {
        edge = true;
        data |= !e.order_only;
      }
    if (!edge || data) continue;
    m.unneeded.push_back({buffer->id, sat_mul(buffer->size_bytes, buffer->count),
                          fmt::format("{} -> {}", loop.nodes[barrier.producer].name, loop.nodes[barrier.consumer].name), barrier.producer,
                          barrier.consumer});
  }
  for (const Resident& r : loop.residents) {
    if (r.tile.space == TileType::Space::Tmem)
      m.resident_tmem = sat_add(m.resident_tmem, columns_of(r.tile));
    else
      m.resident_smem = sat_add(m.resident_smem, r.tile.bytes());
  }
  std::set<std::int64_t> unneeded;
  for (const auto& u : m.unneeded) unneeded.insert(u.buffer);
  m.smem = sat_add(m.resident_smem, merged_bytes(loop.buffers, "smem", unneeded));
  m.tmem = sat_add(m.resident_tmem, merged_bytes(loop.buffers, "tmem", {}) / 512);
  for (const Ring& ring : loop.rings) {
    if (ring.space == TileType::Space::Tmem)
      m.tmem = sat_add(m.tmem, ring.columns);
    else
      m.smem = sat_add(m.smem, ring.bytes);
  }
  return m;
}

/// Copies of a ring's tile alive at once: from the start of what fills a slot to the end of the last read, at the stated II.
void rings(const DumpLoop& loop, DumpLoopAudit& out) {
  const Cycle ii = *loop.stated_ii;
  for (std::size_t i = 0; i < loop.nodes.size(); ++i) {
    const DumpNode& n = loop.nodes[i];
    const auto buffer =
        std::find_if(loop.buffers.begin(), loop.buffers.end(), [&](const DumpBuffer& b) { return n.produces >= 0 && b.id == n.produces; });
    if (buffer == loop.buffers.end() || (buffer->kind != "smem" && buffer->kind != "tmem")) continue;
    std::size_t writer = i;
    for (const DumpEdge& e : loop.edges)
      if (e.to == i && e.distance == 0 && n.view && is_load(loop.nodes[e.from])) writer = e.from;
    const Cycle begin = *loop.nodes[writer].cycle;
    Cycle end = begin;
    const auto readers = readers_through_views(loop, i);
    for (const auto& [reader, distance] : readers) {
      const DumpNode& r = loop.nodes[reader];
      const bool waits_for_result = r.native == "mma" || r.super || r.native == "tma_store";
      end = std::max(end, sat_add(sat_add(*r.cycle, sat_mul(distance, ii)), waits_for_result ? r.latency : r.self_latency));
    }
    if (readers.empty()) continue;
    RingAudit ring{buffer->id,         loop.nodes[writer].name,
                   buffer->count,      std::max<std::int64_t>(1, ceil_div(end - begin, ii)),
                   buffer->size_bytes, writer};
    if (ring.slots > ring.alive) out.too_deep.push_back(ring);
    if (ring.slots < ring.alive) out.too_shallow.push_back(ring);
  }
}

/// Groups whose issue slots never meet modulo II, as few sets as a first fit finds; only sets of two and more.
std::vector<std::vector<std::int64_t>> never_together(const DumpLoop& loop) {
  const Cycle ii = *loop.stated_ii;
  std::map<std::int64_t, std::vector<std::pair<Cycle, Cycle>>> busy;
  for (const DumpNode& n : loop.nodes) {
    if (n.group < 0 || n.self_latency <= 0) continue;
    const Cycle begin = modulo(*n.cycle, ii), length = std::min(n.self_latency, ii);
    busy[n.group].emplace_back(begin, std::min(ii, begin + length));
    if (begin + length > ii) busy[n.group].emplace_back(0, begin + length - ii);
  }
  const auto meet = [&](std::int64_t a, std::int64_t b) {
    for (const auto& [b0, e0] : busy[a])
      for (const auto& [b1, e1] : busy[b])
        if (b0 < e1 && b1 < e0) return true;
    return false;
  };
  std::vector<std::int64_t> groups;
  for (const auto& [group, intervals] : busy) groups.push_back(group);
  std::vector<std::vector<std::int64_t>> sets;
  for (const std::int64_t g : groups) {
    const auto fits = std::find_if(sets.begin(), sets.end(), [&](const auto& set) {
      return std::none_of(set.begin(), set.end(), [&](std::int64_t other) { return meet(g, other); });
    });
    if (fits == sets.end())
      sets.push_back({g});
    else
      fits->push_back(g);
  }
  std::erase_if(sets, [](const auto& set) { return set.size() < 2; });
  return sets;
}

void against_problems(const Dump& dump, const DumpLoop& loop, DumpLoopAudit& out) {
  const Result<Problem> slots =
      make_problem(spec_of(to_kernel(dump, loop, DumpReading::IssueSlots), to_machine(dump, loop, DumpReading::IssueSlots)));
  if (slots)
    if (const auto schedule = to_schedule(dump, loop, *slots)) out.slot_conflicts = unit_conflicts(loop, *slots, *schedule);
  const Result<Problem> full = make_problem(spec_of(to_kernel(dump, loop, DumpReading::Full), to_machine(dump, loop, DumpReading::Full)));
  if (!full) {
    out.problem_fault = full.error().faults.empty() ? "it cannot be resolved" : full.error().faults[0].message;
    return;
  }
  const auto schedule = to_schedule(dump, loop, *full);
  if (!schedule) return;
  out.engine_conflicts = unit_conflicts(loop, *full, *schedule);
  if (loop.grouped()) {
    out.pipelined = sustainable_period(*full, *schedule);
    out.pipelined_known = true;
    for (const EventEdge& step : out.pipelined.cycle)
      for (std::size_t i = 0; i < loop.nodes.size(); ++i)
        if (loop.nodes[i].name == full->op(step.from).name) out.pipelined_nodes.push_back(i);
  }
}

DumpLoopAudit audit_loop(const Dump& dump, std::size_t index) {
  const DumpLoop& loop = dump.loops[index];
  DumpLoopAudit out;
  out.loop = index;
  out.scheduled = loop.scheduled();
  bounds(loop, out);
  std::set<std::int64_t> groups;
  for (const DumpNode& n : loop.nodes)
    if (n.group >= 0) groups.insert(n.group);
  out.groups = groups.size();
  out.memory = memory(loop);
  if (!out.scheduled) return out;
  out.stated_ii = *loop.stated_ii;
  for (const DumpNode& n : loop.nodes)
    out.stages = std::max(out.stages, static_cast<int>(std::min<Cycle>(*n.cycle / out.stated_ii, 1 << 30)) + 1);
  out.broken = broken_edges(loop);
  out.program = program_period(loop);
  rings(loop, out);
  out.never_together = never_together(loop);
  against_problems(dump, loop, out);
  return out;
}

/// A loop and the loops inside it hold their rings at the same time; loops that follow each other can share.
std::int64_t together(const Dump& dump, const std::vector<std::int64_t>& rings) {
  std::vector<std::int64_t> inside(rings.size(), 0);
  std::vector<bool> nested(rings.size(), false);
  std::int64_t most = 0;
  // Inner loops come first in a dump; a loop that names a later one as its inner loop counts it alone.
  for (std::size_t i = 0; i < rings.size(); ++i) {
    for (const DumpNode& n : dump.loops[i].nodes)
      for (std::size_t j = 0; j < i && n.super; ++j)
        if (dump.loops[j].id == n.inner_loop) {
          inside[i] = std::max(inside[i], inside[j]);
          nested[j] = true;
        }
    inside[i] = sat_add(inside[i], rings[i]);
  }
  for (std::size_t i = 0; i < rings.size(); ++i)
    if (!nested[i]) most = std::max(most, inside[i]);
  return most;
}

}  // namespace

bool DumpAudit::too_small(const DumpLoopAudit& loop) const {
  return loop.memory.smem > smem_budget || loop.memory.tmem > tmem_columns || !loop.too_shallow.empty();
}

bool DumpAudit::clean() const {
  return !over_budget() && std::none_of(loops.begin(), loops.end(), [&](const DumpLoopAudit& l) {
    return l.illegal() || l.unsustainable() || l.stuck() || too_small(l) || !l.problem_fault.empty();
  });
}

DumpAudit audit(const Dump& dump, std::optional<std::int64_t> only) {
  DumpAudit out;
  out.smem_budget = dump.smem_budget;
  out.tmem_columns = dump.tmem_budget / 512;
  std::int64_t resident = 0;
  std::vector<std::int64_t> rings(dump.loops.size(), 0);
  for (std::size_t i = 0; i < dump.loops.size(); ++i) {
    const DumpLoop& loop = dump.loops[i];
    out.penalized |= loop.partition_cost && *loop.partition_cost >= kPenalty;
    const MemoryAudit m = memory(loop);
    resident = std::max(resident, m.resident_smem);
    rings[i] = m.smem - m.resident_smem;
    out.smem_stated = sat_add(out.smem_stated, m.smem_stated);
    if (!only || *only == loop.id) out.loops.push_back(audit_loop(dump, i));
  }
  out.smem = together(dump, rings);
  out.smem = sat_add(out.smem, resident);
  return out;
}

}  // namespace heddle::dump
