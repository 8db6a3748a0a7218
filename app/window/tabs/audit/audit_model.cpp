#include "app/window/tabs/audit/audit_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "app/session/commands.h"
#include "app/session/triton_origins.h"
#include "app/session/triton_state.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"
#include "core/library/dump_text.h"
#include "core/library/triton_text.h"
#include "core/triton/audit/audit.h"

namespace heddle::app {
namespace {

/// Of several variants the one whose schedule is on screen.
int variant_of(const Content& content) {
  const DumpText& text = *content.dump();
  const ScheduleEntry* entry = content.entry();
  for (const int variant : entry ? text.variants() : std::vector<int>())
    if (entry->file == text.name_of(variant)) return variant;
  return text.address()->variant;
}

/// The best that was solved for the open loop by the present reading.
std::optional<dump::Improvement> improvement_of(const Content& content) {
  const ScheduleEntry* best = nullptr;
  for (const EntryPtr& entry : content.schedules)
    if (entry->schedule.provenance.kind == "solver" && entry->verdict.valid() && !entry->running &&
        (!best || entry->schedule.ii < best->schedule.ii))
      best = entry.get();
  if (!best) return std::nullopt;
  dump::Improvement found;
  found.full = content.dump()->reading() == dump::DumpReading::Full;
  found.ii = best->schedule.ii;
  found.lower_bound = best->lower_bound.value_or(content.bounds->min_ii());
  found.proved = best->status == Status::Optimal;
  found.stages = stage_count(best->schedule);
  for (const ObjectiveValue& o : best->objectives) found.stages_proved |= o.name == "stages" && o.proved;
  found.groups = static_cast<int>(best->schedule.groups.size());
  found.warps = best->usage.warps;
  found.smem = best->usage.smem_bytes;
  found.tmem = best->usage.tmem_columns;
  found.sustainable = best->period.cycles();
  found.seconds = best->seconds;
  found.explanation = best->explanation;
  return found;
}

/// The audit of that variant, with what was solved since.
dump::DumpAudit audit_of(const Content& content, int variant) {
  const DumpText& text = *content.dump();
  const auto open = static_cast<std::size_t>(&text.the_loop() - text.the_dump().loops.data());
  dump::DumpAudit audit = text.file()->audit(variant);
  for (dump::DumpLoopAudit& loop : audit.loops)
    if (loop.loop == open) loop.improvement = improvement_of(content);
  return audit;
}

class Pointer {
 public:
  Pointer(const Problem& problem, const dump::DumpLoop& loop) : problem_(problem), loop_(loop) {
    for (std::size_t v = 0; v < problem.ops.size(); ++v) ids_.emplace(problem.ops[v].name, OpId(v));
    for (std::size_t e = 0; e < problem.edges.size(); ++e)
      edges_.emplace(std::pair(problem.edges[e].from.index(), problem.edges[e].to.index()), EdgeId(e));
  }

  Highlight at(const std::string& why, const std::vector<std::size_t>& nodes, const std::vector<std::int64_t>& groups,
               const std::string& unit) const {
    Highlight out;
    std::vector<OpId> path;
    for (const std::size_t node : nodes) path.push_back(op_of(node));
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i)
      if (std::find(groups.begin(), groups.end(), loop_.nodes[i].group) != groups.end()) add(out.ops, find(loop_.nodes[i].name));
    for (const OpId op : path) add(out.ops, op);
    for (std::size_t i = 0; i < path.size() && path.size() > 1; ++i) {
      const OpId from = path[i], to = path[(i + 1) % path.size()];
      if (!from.valid() || !to.valid() || (path.size() == 2 && i == 1)) continue;
      const auto [first, last] = edges_.equal_range({from.index(), to.index()});
      for (auto e = first; e != last; ++e) out.edges.push_back(e->second);
    }
    if (!unit.empty())
      for (const Unit& u : problem_.units)
        if (u.name == unit) out.lanes.push_back(unit_label(u));
    if (!out.ops.empty() || !out.lanes.empty()) out.why = why;
    return out;
  }

 private:
  static void add(std::vector<OpId>& ops, OpId op) {
    if (op.valid() && std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(op);
  }
  /// What only renames storage is no op by Heddle's reading: what fills it stands for it, else what reads it.
  OpId op_of(std::size_t node) const {
    if (node >= loop_.nodes.size()) return {};
    OpId op = find(loop_.nodes[node].name);
    for (const bool back : {true, false})
      for (const dump::DumpEdge& e : loop_.edges)
        if (!op.valid() && (back ? e.to : e.from) == node) op = find(loop_.nodes[back ? e.from : e.to].name);
    return op;
  }

  OpId find(const std::string& name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? OpId() : it->second;
  }

  const Problem& problem_;
  const dump::DumpLoop& loop_;
  std::map<std::string, OpId> ids_;
  std::multimap<std::pair<std::size_t, std::size_t>, EdgeId> edges_;
};

constexpr std::size_t kMostDetails = 100;

/// How many of them are not fine.
template <class Row>
std::int64_t findings(const std::vector<Row>& rows) {
  return std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.weight != decltype(row.weight)::Fine; });
}

void add_other(std::int64_t loop, std::int64_t count, bool can, AuditModel& model) {
  AuditOtherLoop other{loop, fmt::format("loop {}: {}", loop, count == 0 ? "nothing found" : count_of(count, "finding")), {}};
  if (can) other.show = ShowPart{{{}, loop, {}}};
  model.others.push_back(std::move(other));
}

/// A finding, and of its details as many as a screen bears; `lists`: the command that lists all.
void add_finding(AuditLine line, std::size_t details, const std::function<AuditLine(std::size_t)>& detail, const char* lists,
                 AuditModel& model) {
  const RowMark weight = line.weight;
  model.lines.push_back(std::move(line));
  for (std::size_t i = 0; i < std::min(details, kMostDetails); ++i) model.lines.push_back(detail(i));
  if (details > kMostDetails)
    model.lines.push_back({{}, weight, fmt::format("and {} more; {} lists all", details - kMostDetails, lists), {}});
}

void add_rows(const std::vector<AuditRow>& rows, const Pointer* pointer, AuditModel& model) {
  for (const AuditRow& row : rows) {
    AuditLine line{row.topic, row.weight, printable(row.sentence), {}};
    if (pointer) line.shown = pointer->at(row.topic + ": " + line.text, row.nodes, {}, {});
    if (row.topic == "memory") {
      line.shown.why = line.text;
      line.shown.lanes = {"SMEM live", "TMEM live"};
    }
    const auto detail = [&](std::size_t i) {
      const AuditDetail& of = row.details[i];
      AuditLine more{{}, row.weight, printable(of.text), {}};
      if (pointer) more.shown = pointer->at(row.topic + ": " + more.text, of.nodes, of.groups, of.unit);
      return more;
    };
    add_finding(std::move(line), row.details.size(), detail, "heddle audit --json", model);
  }
}

void audit_dump(const Session& session, AuditModel& model) {
  const Content& content = session.content();
  const DumpText& text = *content.dump();
  const int variant = variant_of(content);
  const DumpText::SharedDump read = text.file()->document(variant);
  const dump::Dump& dump = **read;
  const dump::DumpAudit audit = audit_of(content, variant);
  model.of_dump = true;
  model.headline = audit_headline(dump, audit);
  for (std::size_t i = 0; i < content.schedules.size(); ++i)
    if (content.schedules[i]->file == text.name_of(variant)) model.stored = i;
  if (model.stored)
    if (const auto& both = content.schedules[*model.stored]->stored) {
      // One verdict: what is counted by one reading alone would be another.
      model.verdict = both->sentence;
      model.headline = printable(dump.kernel);
    }
  for (const dump::DumpLoopAudit& loop : audit.loops) {
    const std::vector<AuditRow> rows = audit_rows(dump, loop);
    if (const std::int64_t id = dump.loops[loop.loop].id; id != text.the_loop().id) {
      add_other(id, findings(rows), true, model);
      continue;
    }
    model.facts = audit_title(dump, loop) + " · " + join_facts(audit_facts(dump, loop), {});
    if (content.problem) {
      const Pointer pointer(*content.problem, dump.loops[loop.loop]);
      add_rows(rows, &pointer, model);
    } else {
      add_rows(rows, nullptr, model);
    }
    if (!loop.scheduled)
      model.note = "The file stores no schedule for this loop: there is nothing to judge" +
                   std::string(content.schedules.empty() ? " yet. F5 finds one." : ".");
  }
  add_rows(audit_rows(dump, audit), nullptr, model);
  if (content.entry() && model.stored && content.shown != model.stored)
    model.note = fmt::format("This is about the schedule '{}', not about '{}', which is on the chart. A click on a finding shows it there.",
                             content.schedules[*model.stored]->name, content.entry()->name);
}

// --- a Triton kernel

/// What of the chart a finding speaks of.
Highlight shown_of(const triton::Finding& finding, const Content& content) {
  Highlight shown;
  if (!content.problem) return shown;
  for (const mlir::OpId from : finding.ops)
    for (const OpId op : ops_from(*content.triton(), *content.problem, from))
      if (std::find(shown.ops.begin(), shown.ops.end(), op) == shown.ops.end()) shown.ops.push_back(op);
  if (finding.topic.find("memory") != std::string::npos) shown.lanes = {finding.topic.starts_with("tensor") ? "TMEM live" : "SMEM live"};
  if (!shown.ops.empty() || !shown.lanes.empty()) shown.why = printable(finding.topic + ": " + finding.sentence);
  return shown;
}

void add_findings(std::vector<triton::Finding> findings, const Content& content, AuditModel& model) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const triton::Finding& a, const triton::Finding& b) { return a.weight < b.weight; });
  for (const triton::Finding& finding : findings) {
    const auto detail = [&](std::size_t i) { return AuditLine{{}, finding.weight, printable(finding.details[i]), {}}; };
    add_finding({printable(finding.topic), finding.weight, printable(finding.sentence), shown_of(finding, content)}, finding.details.size(),
                detail, "heddle audit", model);
  }
}

triton::TextAudit triton_audit_of(const Content& content, const triton::TritonProgram& program) {
  return triton::audit(program, content.machine ? *content.machine : limits_of_target(program));
}

void audit_triton(const Session& session, AuditModel& model) {
  const Content& content = session.content();
  const TritonText& text = *content.triton();
  const TritonText::SharedProgram program = text.program();
  model.of_dump = program.ok();
  if (!program) {
    model.headline = "Choose a kernel of the file first";
    return;
  }
  const triton::TextAudit audit = triton_audit_of(content, **program);
  model.headline = printable(triton::audit_headline(audit));
  if (!model.headline.starts_with(printable(audit.title))) model.facts = printable(audit.title);
  for (const Fault& fault : (*program)->loops.empty() ? std::vector<Fault>() : text.refused())
    model.lines.push_back({"loop", RowMark::Waste, in_words(fault), {}});
  const triton::TextLoopAudit* here = nullptr;
  for (const triton::TextLoopAudit& loop : audit.loops) {
    if (loop.loop == text.site()) here = &loop;
    if (loop.loop == text.site() || !loop.loop) continue;
    add_other(loop.loop->number, findings(loop.findings), loop.loop->why_not.empty(), model);
  }
  std::vector<triton::Finding> findings = audit.findings;
  if (here) findings.insert(findings.end(), here->findings.begin(), here->findings.end());
  add_findings(std::move(findings), content, model);
  if (!here) return;
  for (const triton::LoadRow& load : here->loads) {
    const bool first = &load == &here->loads.front();
    std::string text = fmt::format("{} {}", load.name, load.tile);
    if (load.stage >= 0) text += fmt::format(", stage {}", load.stage);
    if (load.use_stage >= 0) text += fmt::format(", used in stage {}", load.use_stage);
    if (load.slots > 0) text += fmt::format(", {} of {} bytes", count_of(load.slots, "slot"), grouped(load.bytes));
    if (!load.source.empty()) text += " · " + load.source;
    if (!load.remark.empty()) text += " · " + load.remark;
    model.lines.push_back({first ? "each load" : "", RowMark::Fine, printable(text), {}});
  }
}

/// The shown schedule of a kernel of our own, by the checker and its sustainable period.
void audit_shown(const Session& session, AuditModel& model) {
  const Content& content = session.content();
  const ScheduleEntry* entry = content.entry();
  if (!entry) return;
  const Problem& problem = *content.problem;
  model.headline = fmt::format(
      "{}: {}", entry->name,
      entry->verdict.valid() ? "breaks no rule" : count_of(static_cast<std::int64_t>(entry->verdict.violations.size()), "violation"));
  AuditLine rules{"rules", RowMark::Fine, "every rule of the checker holds", {}};
  if (!entry->verdict.valid()) {
    rules.weight = RowMark::Wrong;
    rules.text = count_of(static_cast<std::int64_t>(entry->verdict.violations.size()), "violation");
  }
  model.lines.push_back(rules);
  for (const Violation& v : entry->verdict.violations)
    model.lines.push_back({{}, RowMark::Wrong, v.family + ": " + v.message, {v.message, v.ops, {}, {}}});
  AuditLine period{"period", RowMark::Fine, {}, {}};
  const Cycle sustained = entry->period.cycles();
  for (const EventEdge& step : entry->period.cycle) {
    if (std::find(period.shown.ops.begin(), period.shown.ops.end(), step.from) == period.shown.ops.end())
      period.shown.ops.push_back(step.from);
    if (step.kind == EventEdge::Kind::Data && step.edge.valid()) period.shown.edges.push_back(step.edge);
  }
  if (entry->period.deadlock) {
    period.weight = RowMark::Wrong;
    period.text = "none: it deadlocks";
  } else {
    period.weight = sustained > entry->schedule.ii ? RowMark::Wrong : RowMark::Fine;
    period.text = fmt::format("II {} is stated, {} is what its order sustains", grouped(entry->schedule.ii), grouped(sustained));
  }
  if (!period.shown.ops.empty()) period.shown.why = period.text;
  const Highlight cycle = period.shown;
  model.lines.push_back(std::move(period));
  if (!entry->period.sentence.empty()) model.lines.push_back({{}, RowMark::Fine, entry->period.sentence, cycle});
  AuditLine memory{"memory",
                   RowMark::Fine,
                   fmt::format("{} of {} bytes of shared memory", grouped(entry->usage.smem_bytes), grouped(problem.limits.smem_bytes)),
                   {}};
  if (problem.limits.tmem_columns > 0)
    memory.text += fmt::format(", {} of {} columns of tensor memory", entry->usage.tmem_columns, problem.limits.tmem_columns);
  memory.shown = {memory.text, {}, {}, {"SMEM live", "TMEM live"}};
  model.lines.push_back(std::move(memory));
}

}  // namespace

AuditModel build_audit(const Session& session) {
  AuditModel model;
  if (session.content().dump())
    audit_dump(session, model);
  else if (session.content().triton())
    audit_triton(session, model);
  else if (session.content().problem)
    audit_shown(session, model);
  return model;
}

std::string audit_tsv(const AuditModel& model) {
  std::string text = "topic\tweight\tfinding\n", topic;
  for (const AuditLine& line : model.lines) {
    if (!line.detail()) topic = line.topic;
    text += fmt::format("{}\t{}\t{}\n", topic, to_string(line.weight), line.text);
  }
  return text;
}

std::string audit_markdown_of(const Session& session) {
  const Content& content = session.content();
  if (const TritonText* text = content.triton(); text && !text->undecided()) {
    const TritonText::SharedProgram program = text->program();
    const TritonState::Known* known = session.triton().of(content);
    return triton::audit_markdown(triton_audit_of(content, **program), known && known->comparison ? known->comparison.get() : nullptr);
  }
  if (!content.dump()) return {};
  const int variant = variant_of(content);
  return audit_markdown(**content.dump()->file()->document(variant), audit_of(content, variant));
}

}  // namespace heddle::app
