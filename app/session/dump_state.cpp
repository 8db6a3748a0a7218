#include "app/session/dump_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/dump_source.h"
#include "app/session/edits.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/solving.h"
#include "core/base/text_style.h"
#include "core/dump/export.h"

namespace heddle::app {
namespace {

std::string stored_name(const DumpSource& source, std::size_t document) {
  const dump::Dump& dump = source.file->documents[document].dump;
  return dump.variants > 0 ? fmt::format("variant {}", dump.variant) : "stored";
}

/// The schedules that the file stores for this problem's ops, those of all variants.
std::vector<ScheduleEntry> stored_schedules(const DumpSource& source, const Problem& problem) {
  std::vector<ScheduleEntry> entries;
  for (std::size_t d = 0; d < source.file->documents.size(); ++d) {
    const dump::Dump& dump = source.file->documents[d].dump;
    for (const dump::Loop& loop : dump.loops) {
      if (loop.id != source.the_loop().id) continue;
      std::optional<Schedule> schedule = dump::to_schedule(dump, loop, problem);
      if (!schedule || !fits(problem, *schedule)) continue;
      ScheduleEntry& entry = entries.emplace_back();
      entry.name = schedule->name = stored_name(source, d);
      entry.file = source.name_of(d);
      entry.status = Status::Feasible;
      entry.stored = judge_stored(source.file->documents[d], static_cast<std::size_t>(&loop - dump.loops.data()));
      entry.schedule = *std::move(schedule);
    }
  }
  return entries;
}

}  // namespace

void DumpState::on(const OpenDump& c) { open(c.name, false); }

void DumpState::open(const std::string& name, bool solve) {
  const std::string title = "Cannot open dump " + base_name(name);
  Result<DumpSource> source = read_dump_source(name);
  if (!source) return fail(title, source.error());
  if (document_.content.dump && document_.content.dump->file->path != source->file->path && add_schedules(*source)) return;
  document_.loops.clear();
  remember_recent(settings_, source->file->path);
  if (source->file->left_out > 0)
    view_.notice = fmt::format("{}: the first {} variants are in the list, {} more are not; name one as FILE#variantN",
                               base_name(source->file->path), source->file->documents.size(), source->file->left_out);
  show(std::make_shared<const DumpSource>(*std::move(source)), "open dump " + base_name(name));
  if (document_.content.entry()) view_.tab = BottomTab::Audit;
  if (solve && document_.content.schedules.empty()) solving_.solve_opened();
}

void DumpState::show(std::shared_ptr<const DumpSource> source, const std::string& what) {
  Kernel kernel = dump::to_kernel(source->dump(), source->the_loop(), source->reading);
  Machine machine = dump::to_machine(source->dump(), source->the_loop(), source->reading);
  kernel.source = machine.file = source->name();
  Content next;
  next.kernel = std::make_shared<const Kernel>(std::move(kernel));
  next.machine = std::make_shared<const Machine>(std::move(machine));
  next.dump = source;
  edits_.adopt(std::move(next), what);
  if (!document_.content.problem) return;
  document_.content.constraints = dump::problem_rules(source->dump(), source->the_loop(), *document_.content.problem);
  for (ScheduleEntry& entry : stored_schedules(*source, *document_.content.problem))
    document_.content.schedules.push_back(make_entry(*document_.content.problem, document_.content.constraints, std::move(entry)));
  if (document_.content.schedules.empty()) return;
  document_.content.shown = std::min(source->document, document_.content.schedules.size() - 1);
  const ScheduleEntry& shown = *document_.content.entry();
  say(shown.verdict.valid() ? LogLevel::Good : LogLevel::Warning,
      fmt::format("{} schedule of loop {}, II {}: {} by the {} reading", shown.name, source->the_loop().id, shown.schedule.ii,
                  shown.verdict.valid() ? "valid" : count_of(static_cast<std::int64_t>(shown.verdict.violations.size()), "violation"),
                  short_name(source->reading)));
  changed();
}

void DumpState::on(const ShowLoop& c) {
  if (!document_.content.dump) return say(LogLevel::Warning, "no compiler's dump is open");
  DumpSource source = *document_.content.dump;
  if (c.reading) source.reading = *c.reading;
  if (c.loop) {
    const auto& loops = source.dump().loops;
    const auto found = std::find_if(loops.begin(), loops.end(), [&](const dump::Loop& l) { return l.id == *c.loop; });
    if (found == loops.end())
      return fail("Cannot show loop", Error::input(fmt::format("the file has no loop {}", *c.loop), list_loops(source.dump())));
    if (found->nodes.empty())
      return fail("Cannot show loop", Error::input(fmt::format("loop {} has no ops", *c.loop), list_loops(source.dump())));
    source.loop = static_cast<std::size_t>(found - loops.begin());
  }
  if (source.name() == document_.content.dump->name()) return;
  const std::string what = c.loop && source.loop != document_.content.dump->loop ? fmt::format("show loop {}", *c.loop)
                                                                                 : fmt::format("read it by {}", short_name(source.reading));
  solving_.end_row();
  document_.loops[document_.content.dump->name()] = document_.content;
  const auto left = document_.loops.find(source.name());
  if (left == document_.loops.end() || left->second.dump->file != source.file)
    return show(std::make_shared<const DumpSource>(std::move(source)), what);
  edits_.go_to(left->second, what, "another loop is shown");
}

Constraints DumpState::open_emitter_rules() const {
  Constraints open;
  if (!document_.content.dump || !document_.content.problem || document_.content.dump->reading != dump::Reading::Full) return open;
  for (UserConstraint& rule :
       dump::emitter_rules(document_.content.dump->the_loop(), *document_.content.problem,
                           dump::registers_beside(document_.content.dump->dump(), document_.content.dump->the_loop())))
    if (std::none_of(document_.content.constraints.begin(), document_.content.constraints.end(),
                     [&](const UserConstraint& c) { return c.enabled && c.name == rule.name; }))
      open.push_back(std::move(rule));
  return open;
}

void DumpState::on(const DemandEmitterRules&) {
  const Constraints rules = open_emitter_rules();
  if (rules.empty()) return say(LogLevel::Info, "the emitter demands nothing that is not in force");
  Constraints next = document_.content.constraints;
  next.insert(next.end(), rules.begin(), rules.end());
  edits_.constrain(std::move(next), "demand what the emitter demands", false);
  view_.tab = BottomTab::Constraints;
}

std::string DumpState::why_no_dump(ExportKind kind) const {
  if (!document_.content.dump) return "what is open is no compiler's dump";
  const dump::Format format = document_.content.dump->dump().format;
  const bool joint = format == dump::Format::JointCycles || format == dump::Format::JointGroups;
  if (kind == ExportKind::JointSolution && !joint) return fmt::format("a {} file poses no joint-solver problem", to_string(format));
  if (kind != ExportKind::JointSolution && format != dump::Format::ScheduleGraph)
    return fmt::format("a {} file has no place for a schedule; open the schedule_graph of the same run", to_string(format));
  if (kind != ExportKind::JointSolution && document_.content.dump->reading != dump::Reading::Full)
    return "issue slots know no warp groups: choose the full reading";
  return document_.content.entry() ? "" : "there is no schedule yet";
}

Result<std::string> DumpState::dump_text(ExportKind kind) const {
  if (const std::string reason = why_no_dump(kind); !reason.empty()) return Error::input(reason);
  const DumpSource& source = *document_.content.dump;
  const Problem& problem = *document_.content.problem;
  if (kind == ExportKind::JointSolution) return dump::export_joint_solution(source.dump(), problem, document_.content.entry()->schedule);
  if (kind == ExportKind::DumpGraph)
    return dump::export_schedule_graph(source.file->text, source.dump(), source.loop, problem, document_.content.entry()->schedule);
  // Best first: legal ones by II, the shown one before others as good.
  std::vector<const ScheduleEntry*> entries;
  for (const EntryPtr& entry : document_.content.schedules)
    if (!entry->running && entry->verdict.valid()) entries.push_back(entry.get());
  if (entries.empty()) return Error::input("no schedule of the list is legal, and only legal ones become variants", "solve first");
  std::stable_sort(entries.begin(), entries.end(), [&](const ScheduleEntry* a, const ScheduleEntry* b) {
    return std::pair(a->schedule.ii, a != document_.content.entry()) < std::pair(b->schedule.ii, b != document_.content.entry());
  });
  std::vector<Schedule> schedules;
  for (const ScheduleEntry* entry : entries) schedules.push_back(entry->schedule);
  return dump::export_variants(source.file->text, source.dump(), source.loop, problem, schedules);
}

void DumpState::refuse_machine(const std::string& name) {
  fail("Cannot take machine " + base_name(name),
       Error::input(why_not(SourceKind::Dump, SourceUse::OtherMachine), "change single numbers under What if, or close the dump first"));
}

bool DumpState::add_schedules(const DumpSource& other) {
  if (!document_.content.problem) return false;
  const auto has_ops = [&](const dump::Loop& loop) { return loop.scheduled() && dump::has_ops_of(loop, *document_.content.problem); };
  const auto& loops = other.dump().loops;
  const auto found = std::find_if(loops.begin(), loops.end(), has_ops);
  if (found == loops.end()) return false;
  DumpSource source = other;
  source.loop = static_cast<std::size_t>(found - loops.begin());
  source.reading = document_.content.dump->reading;
  std::vector<ScheduleEntry> entries = stored_schedules(source, *document_.content.problem);
  if (entries.empty()) return false;
  const std::string file = base_name(source.file->path);
  document_.undo.remember(document_.content, "add the schedules of " + file);
  for (ScheduleEntry& entry : entries) {
    entry.name = entry.schedule.name = file + (entry.name == "stored" ? "" : " " + entry.name);
    document_.content.schedules.push_back(make_entry(*document_.content.problem, document_.content.constraints, std::move(entry)));
  }
  if (document_.content.shown) {
    document_.content.baseline = document_.content.schedules.size() - 1;
    view_.chart_view = ChartView::Split;
  } else {
    document_.content.shown = document_.content.schedules.size() - 1;
  }
  remember_recent(settings_, source.file->path);
  view_.tab = BottomTab::Compare;
  view_.fit_all = true;
  view_.notice = fmt::format(
      "{} schedules the same ops: it stands in the list to be compared, judged by the graph of {}. To work on it by itself, close first.",
      file, base_name(document_.content.dump->file->path));
  changed();
  return true;
}

}  // namespace heddle::app
