// Only sentences are made here: all numbers come from core/dump/audit.h.
#include "core/dump/audit_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle {
namespace {

using dump::Dump;
using dump::DumpAudit;
using dump::DumpLoopAudit;

std::string iterations_later(int distance) {
  return distance == 0 ? "" : distance == 1 ? ", an iteration later" : fmt::format(", {} iterations later", distance);
}

std::string percent_over(Cycle value, Cycle base) {
  return fmt::format("{:+.1f} %", 100.0 * static_cast<double>(value - base) / static_cast<double>(std::max<Cycle>(1, base)));
}

AuditRow dependences(const dump::DumpLoop& loop, const DumpLoopAudit& a) {
  AuditRow row{"dependences", RowMark::Fine, fmt::format("all {} hold at the stated cycles", loop.edges.size()), {}, {}};
  if (a.broken.empty()) return row;
  row.weight = RowMark::Wrong;
  row.sentence =
      fmt::format("{} of {} {} not hold at the stated cycles", a.broken.size(), loop.edges.size(), a.broken.size() == 1 ? "does" : "do");
  for (const dump::BrokenEdge& b : a.broken) {
    row.details.emplace_back(fmt::format("{} (stage {}) -> {} (stage {}){}: {} cycles short of latency {}{}", loop.nodes[b.from].name,
                                         b.stage_from, loop.nodes[b.to].name, b.stage_to, iterations_later(b.distance), -b.slack, b.latency,
                                         b.repairable ? "" : "; no larger II repairs it at these stages"),
                             std::vector{b.from, b.to});
    row.nodes.insert(row.nodes.end(), {b.from, b.to});
  }
  return row;
}

AuditRow period(const dump::DumpLoop& loop, const DumpLoopAudit& a) {
  AuditRow row{"period", RowMark::Fine, {}, {}, {}};
  for (const dump::ProgramStep& s : a.program.cycle) row.nodes.push_back(s.from);
  if (a.program.deadlock) {
    row.weight = RowMark::Wrong;
    row.sentence = "none: the order of a group contradicts a dependence";
    row.details.emplace_back(sentence(loop, a.program), row.nodes);
    return row;
  }
  const Cycle sustained = a.program.cycles();
  if (sustained > a.stated_ii) {
    row.weight = RowMark::Wrong;
    row.sentence = fmt::format("II {} is stated, {} is what the warp groups sustain ({})", a.stated_ii, sustained,
                               percent_over(sustained, a.stated_ii));
    row.details.emplace_back("limited by " + sentence(loop, a.program), row.nodes);
  } else {
    row.sentence = a.groups > 0 ? fmt::format("the warp groups sustain the stated II {}", a.stated_ii)
                                : fmt::format("the dependences allow the stated II {}; the file has no groups", a.stated_ii);
  }
  return row;
}

AuditRow pipelined(const DumpLoopAudit& a) {
  AuditRow row{"overlap", RowMark::Fine, {}, {}, {}};
  if (a.pipelined.deadlock) {
    row.weight = RowMark::Wrong;
    row.sentence = "in the order of its stages, in every group and on every unit, it cannot run: ops wait for themselves";
    row.details.emplace_back(a.pipelined.sentence, a.pipelined_nodes);
  } else if (a.pipelined.cycles() > a.stated_ii) {
    row.weight = RowMark::Waste;
    row.sentence = fmt::format("in the order of its stages, with full occupancies and credits, it sustains {} ({})", a.pipelined.cycles(),
                               percent_over(a.pipelined.cycles(), a.stated_ii));
    row.details.emplace_back(a.pipelined.sentence, a.pipelined_nodes);
  } else {
    row.sentence = fmt::format("in the order of its stages, with full occupancies and credits, it sustains {}", a.pipelined.cycles());
  }
  return row;
}

AuditRow units(const DumpLoopAudit& a) {
  AuditRow row{"units", RowMark::Fine, "no issue slot is taken twice", {}, {}};
  if (!a.slot_conflicts.empty()) {
    row.weight = RowMark::Wrong;
    row.sentence = fmt::format("{} issue slots are taken twice", a.slot_conflicts.size());
    for (const dump::UnitConflict& c : a.slot_conflicts) row.details.emplace_back(c.message, c.nodes).unit = c.unit;
  }
  if (!a.engine_conflicts.empty()) {
    if (row.weight == RowMark::Fine) row.weight = RowMark::Waste;
    row.sentence += fmt::format(", but {} {} where a unit is still held{}", a.engine_conflicts.size(),
                                a.engine_conflicts.size() == 1 ? "op starts" : "ops start",
                                a.occupancies_derived ? " (occupancies by the compiler's published rules)" : "");
    for (const dump::UnitConflict& c : a.engine_conflicts) row.details.emplace_back(c.message, c.nodes).unit = c.unit;
  }
  return row;
}

AuditRow memory(const Dump& dump, const DumpLoopAudit& a) {
  const dump::MemoryAudit& m = a.memory;
  AuditRow row{"memory", RowMark::Fine, {}, {}, {}};
  row.sentence = fmt::format("{} of {} bytes of shared memory needed", m.smem, dump.smem_budget);
  if (m.smem != m.smem_stated) row.sentence += fmt::format(" (the file's buffers sum to {})", m.smem_stated);
  if (m.tmem > 0 || m.tmem_stated > 0) {
    row.sentence += fmt::format(", {} of {} columns of tensor memory", m.tmem, dump.tmem_budget / 512);
    if (m.tmem != m.tmem_stated) row.sentence += fmt::format(" (stated: {})", m.tmem_stated);
  }
  if (m.resident_smem > 0 || m.resident_tmem > 0)
    row.details.push_back(fmt::format("allocated outside the loop: {} bytes, {} columns", m.resident_smem, m.resident_tmem));
  if (m.smem > dump.smem_budget || m.tmem > dump.tmem_budget / 512) row.weight = RowMark::Wrong;
  for (const auto& u : m.unneeded) {
    if (row.weight == RowMark::Fine) row.weight = RowMark::Waste;
    row.details.emplace_back(
        fmt::format("buffer {} reserves {} bytes for {}, which carries no data, only an order", u.buffer, u.bytes, u.edge),
        std::vector{u.producer, u.consumer});
  }
  return row;
}

AuditRow rings(const DumpLoopAudit& a) {
  AuditRow row{"rings", RowMark::Fine, "every ring is as deep as the copies alive at the stated II", {}, {}};
  if (!a.too_shallow.empty()) {
    row.weight = RowMark::Wrong;
    row.sentence = fmt::format("{} {} fewer slots than copies are alive at the stated II", a.too_shallow.size(),
                               a.too_shallow.size() == 1 ? "ring has" : "rings have");
  } else if (!a.too_deep.empty()) {
    row.weight = RowMark::Waste;
    row.sentence = fmt::format("{} {} slots that the stated schedule never fills", a.too_deep.size(),
                               a.too_deep.size() == 1 ? "ring has" : "rings have");
  }
  for (const auto* list : {&a.too_shallow, &a.too_deep})
    for (const dump::RingAudit& r : *list)
      row.details.emplace_back(fmt::format("{}: {} slots of {} bytes, {} alive", r.name, r.slots, r.bytes, r.alive), std::vector{r.writer});
  return row;
}

AuditRow groups(const DumpLoopAudit& a) {
  AuditRow row{"groups", RowMark::Fine, "all of them issue at the same time as others", {}, {}};
  if (a.never_together.empty()) return row;
  row.weight = RowMark::Waste;
  row.sentence = "groups that never issue in the same cycle; one group could issue for each of these sets";
  for (const auto& set : a.never_together) {
    std::string text;
    for (const std::int64_t g : set) text += (text.empty() ? "wg" : ", wg") + std::to_string(g);
    row.details.emplace_back(text).groups = set;
  }
  return row;
}

AuditRow improvement(const DumpLoopAudit& a) {
  const dump::Improvement& i = *a.improvement;
  AuditRow row{"solved", RowMark::Fine, {}, {}, {}};
  if (i.ii == 0) {
    row.sentence = i.explanation;
    return row;
  }
  row.sentence = fmt::format("II {} {}, {}{}", i.ii, i.proved ? "proved least" : fmt::format("found, at least {}", i.lower_bound),
                             count_of(i.stages, "stage"), i.stages_proved ? " (proved fewest)" : "");
  row.sentence += i.full ? fmt::format(", {} of {}, {} bytes of shared memory; hand-offs, full occupancies and credits included",
                                       count_of(i.groups, "group"), count_of(i.warps, "warp"), i.smem)
                         : std::string(", by issue slots alone");
  row.details.push_back(i.explanation);
  if (i.emitter_ii > i.ii)
    row.details.push_back(
        fmt::format("within what the compiler's emitter accepts, results of mmas read in other groups: II {} proved least", i.emitter_ii));
  if (i.issue_slots_ii > 0)
    row.details.push_back(fmt::format("by the compiler's own reading, issue slots only: II {} and {} proved least", i.issue_slots_ii,
                                      count_of(i.issue_slots_stages, "stage")));
  if (a.scheduled) {
    const Cycle now = std::max(a.stated_ii, a.program.deadlock ? a.stated_ii : a.program.cycles());
    if (i.sustainable < now)
      row.details.push_back(fmt::format("{:.2f}x as fast as the stored schedule can run",
                                        static_cast<double>(now) / static_cast<double>(std::max<Cycle>(1, i.sustainable))));
  }
  return row;
}

std::vector<ReportRow> report_rows(const std::vector<AuditRow>& rows) {
  std::vector<ReportRow> plain;
  for (const AuditRow& row : rows) {
    plain.push_back({row.weight, row.topic, row.sentence, {}});
    for (const AuditDetail& detail : row.details) plain.back().details.push_back(detail.text);
  }
  return plain;
}

}  // namespace

std::string audit_title(const Dump& dump, const DumpLoopAudit& a) {
  const dump::DumpLoop& loop = dump.loops[a.loop];
  std::string text = printable(dump.kernel);
  if (dump.variants > 0) text += fmt::format(", variant {} of {}", dump.variant, dump.variants);
  return text + fmt::format(", loop {}{}", loop.id, loop.outer ? " (outer)" : "");
}

std::vector<std::string> audit_facts(const Dump& dump, const DumpLoopAudit& a) {
  const dump::DumpLoop& loop = dump.loops[a.loop];
  if (loop.nodes.empty()) return {"no ops"};
  std::vector<std::string> facts{count_of(static_cast<std::int64_t>(loop.nodes.size()), "op") +
                                 (a.groups > 0 ? " in " + count_of(static_cast<std::int64_t>(a.groups), "group") : ", no groups")};
  if (a.scheduled) facts.push_back(fmt::format("II {} stated, {} stages", a.stated_ii, a.stages));
  std::string bound = fmt::format("MinII {} (units {}, recurrence {})", a.min_ii, a.res_mii, a.rec_mii);
  if (loop.min_ii && *loop.min_ii != a.min_ii) bound += fmt::format(", stated {}", *loop.min_ii);
  facts.push_back(bound);
  return facts;
}

std::vector<AuditRow> audit_rows(const Dump& dump, const DumpLoopAudit& a) {
  const dump::DumpLoop& loop = dump.loops[a.loop];
  std::vector<AuditRow> rows;
  if (a.scheduled) {
    rows.push_back(dependences(loop, a));
    rows.push_back(period(loop, a));
    if (a.pipelined_known) rows.push_back(pipelined(a));
    rows.push_back(units(a));
  }
  if (!loop.buffers.empty() || a.memory.smem + a.memory.tmem > 0) rows.push_back(memory(dump, a));
  if (a.scheduled && !loop.buffers.empty()) rows.push_back(rings(a));
  if (a.scheduled && a.groups > 1) rows.push_back(groups(a));
  if (!a.problem_fault.empty())
    rows.push_back({"reading", RowMark::Wrong, "with full occupancies and hand-offs it cannot be read: " + a.problem_fault, {}, {}});
  if (a.improvement) rows.push_back(improvement(a));
  return rows;
}

std::vector<AuditRow> audit_rows(const Dump& dump, const DumpAudit& audit) {
  std::vector<AuditRow> rows;
  const bool buffers = std::any_of(dump.loops.begin(), dump.loops.end(), [](const dump::DumpLoop& l) { return !l.buffers.empty(); });
  if (!(buffers || audit.over_budget()) || (dump.loops.size() < 2 && !audit.penalized)) return rows;
  AuditRow row{"all loops",
               RowMark::Fine,
               fmt::format("{} of {} bytes of shared memory needed at once (the file's buffers sum to {})", audit.smem, audit.smem_budget,
                           audit.smem_stated),
               {},
               {}};
  if (audit.over_budget()) row.weight = RowMark::Wrong;
  if (audit.penalized) {
    row.weight = std::min(row.weight, RowMark::Waste);
    row.details.emplace_back(audit.smem > audit.smem_budget
                                 ? "partition_cost says, too, that the memory does not fit"
                                 : "partition_cost carries the penalty for memory that does not fit, but it fits");
  }
  rows.push_back(std::move(row));
  return rows;
}

std::string audit_headline(const Dump& dump, const DumpAudit& audit) {
  std::size_t scheduled = 0, illegal = 0, unsustainable = 0, stuck = 0, small = 0, unread = 0;
  for (const DumpLoopAudit& a : audit.loops) {
    scheduled += a.scheduled;
    illegal += a.illegal();
    unsustainable += a.unsustainable();
    stuck += a.stuck();
    small += audit.too_small(a);
    unread += !a.problem_fault.empty();
  }
  const std::string name = printable(dump.kernel);
  if (scheduled == 0 && audit.clean())
    return fmt::format("{}: {}, no schedule stored", name, count_of(static_cast<std::int64_t>(audit.loops.size()), "loop"));
  if (audit.clean())
    return fmt::format("{}: {} in order by the compiler's own rules", name, count_of(static_cast<std::int64_t>(scheduled), "schedule"));
  std::vector<std::string> parts;
  if (illegal > 0) parts.push_back(fmt::format("{} illegal", illegal));
  if (unsustainable > 0) parts.push_back(fmt::format("{} cannot keep the stated II", unsustainable));
  if (stuck > 0) parts.push_back(fmt::format("{} cannot run in the order of its stages", stuck));
  if (small > 0) parts.push_back("memory or rings too small");
  if (unread > 0) parts.push_back(fmt::format("{} cannot be read with occupancies and hand-offs", unread));
  if (audit.over_budget() && dump.loops.size() > 1)
    parts.push_back(fmt::format("all loops together need {} of {} bytes of shared memory", audit.smem, audit.smem_budget));
  return fmt::format("{}: {}: {}", name,
                     scheduled > 0 ? count_of(static_cast<std::int64_t>(scheduled), "schedule")
                                   : count_of(static_cast<std::int64_t>(audit.loops.size()), "loop"),
                     fmt::format("{}", fmt::join(parts, ", ")));
}

std::string audit_text(const Dump& dump, const DumpAudit& audit, const TextStyle& style) {
  std::string text = styled(audit_headline(dump, audit), style) + styled(fmt::format(" ({})", to_string(dump.format)), style) + "\n";
  for (const DumpLoopAudit& a : audit.loops) {
    text += "\n" + styled(audit_title(dump, a), style) + "\n";
    text += wrapped(styled(join_facts(audit_facts(dump, a), style), style), "  ", style.width);
    text += rows_text(report_rows(audit_rows(dump, a)), style);
  }
  const std::vector<AuditRow> rows = audit_rows(dump, audit);
  return rows.empty() ? text : text + "\n" + rows_text(report_rows(rows), style);
}

std::string audit_markdown(const Dump& dump, const DumpAudit& audit) {
  std::string text = "### " + markdown_safe(audit_headline(dump, audit)) + "\n";
  for (const DumpLoopAudit& a : audit.loops) {
    text += fmt::format("\n**{}**: {}\n\n", markdown_safe(audit_title(dump, a)), markdown_safe(join_facts(audit_facts(dump, a), {})));
    text += rows_markdown(report_rows(audit_rows(dump, a)));
  }
  if (const std::vector<AuditRow> rows = audit_rows(dump, audit); !rows.empty()) text += "\n" + rows_markdown(report_rows(rows));
  return text;
}

}  // namespace heddle
