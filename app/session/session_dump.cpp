// A compiler's dump as the open document: a loop of it as kernel and machine, its stored schedules as rows of the list.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/files.h"
#include "app/session/session.h"
#include "core/report/text_style.h"

namespace heddle::app {
namespace {

std::string row_name(const DumpSource& source, std::size_t document) {
  const peer::Dump& dump = source.file->documents[document].dump;
  return dump.variants > 0 ? fmt::format("variant {}", dump.variant) : "stored";
}

/// The schedules that the file stores for this problem's ops, those of all variants.
std::vector<ScheduleEntry> stored_schedules(const DumpSource& source, const Problem& problem) {
  std::vector<ScheduleEntry> entries;
  for (std::size_t d = 0; d < source.file->documents.size(); ++d) {
    const peer::Dump& dump = source.file->documents[d].dump;
    for (const peer::Loop& loop : dump.loops) {
      if (loop.id != source.the_loop().id) continue;
      std::optional<Schedule> schedule = peer::to_schedule(dump, loop, problem);
      if (!schedule || !fits(problem, *schedule)) continue;
      ScheduleEntry& entry = entries.emplace_back();
      entry.name = schedule->name = row_name(source, d);
      entry.file = source.name_of(d);
      entry.status = Status::Feasible;
      entry.schedule = *std::move(schedule);
    }
  }
  return entries;
}

}  // namespace

void Session::on(const OpenDump& c) { open_dump(c.name, false); }

void Session::open_dump(const std::string& name, bool solve) {
  const std::string title = "Cannot open dump " + base_name(name);
  Result<DumpSource> source = read_dump_source(name);
  if (!source) return fail(title, source.error());
  if (content_.dump && content_.dump->file->path != source->file->path && add_dumped_schedules(*source)) return;
  loops_.clear();
  remember_recent(settings_, source->file->path);
  if (source->file->left_out > 0)
    view_.notice = fmt::format("{}: the first {} variants are in the list, {} more are not; name one as FILE#variantN", base_name(source->file->path),
                               source->file->documents.size(), source->file->left_out);
  show_dump(std::make_shared<const DumpSource>(*std::move(source)), "open dump " + base_name(name));
  if (solve && content_.problem && content_.schedules.empty() && why_no_solve().empty()) on(StartSolve{});
}

void Session::show_dump(std::shared_ptr<const DumpSource> source, const std::string& what) {
  Kernel kernel = peer::to_kernel(source->dump(), source->the_loop(), source->reading);
  Machine machine = peer::to_machine(source->dump(), source->the_loop(), source->reading);
  kernel.source = machine.file = source->name();
  Content next;
  next.kernel = std::make_shared<const Kernel>(std::move(kernel));
  next.machine = std::make_shared<const Machine>(std::move(machine));
  next.dump = source;
  adopt(std::move(next), what);
  if (!content_.problem) return;
  for (ScheduleEntry& entry : stored_schedules(*source, *content_.problem))
    content_.schedules.push_back(make_entry(*content_.problem, content_.constraints, std::move(entry)));
  if (content_.schedules.empty()) return;
  content_.shown = std::min(source->document, content_.schedules.size() - 1);
  const ScheduleEntry& shown = *content_.entry();
  say(shown.verdict.valid() ? LogLevel::Good : LogLevel::Warning,
      fmt::format("{} schedule of loop {}, II {}: {} by the {} reading", shown.name, source->the_loop().id, shown.schedule.ii,
                  shown.verdict.valid() ? "valid" : count_of(static_cast<std::int64_t>(shown.verdict.violations.size()), "violation"), short_name(source->reading)));
  changed();
}

void Session::on(const ShowLoop& c) {
  if (!content_.dump) return say(LogLevel::Warning, "no compiler's dump is open");
  DumpSource source = *content_.dump;
  if (c.reading) source.reading = *c.reading;
  if (c.loop) {
    const auto& loops = source.dump().loops;
    const auto found = std::find_if(loops.begin(), loops.end(), [&](const peer::Loop& l) { return l.id == *c.loop; });
    if (found == loops.end()) return fail("Cannot show loop", Error::input(fmt::format("the file has no loop {}", *c.loop), list_loops(source.dump())));
    source.loop = static_cast<std::size_t>(found - loops.begin());
  }
  if (source.name() == content_.dump->name()) return;
  const std::string what = c.loop && source.loop != content_.dump->loop ? fmt::format("show loop {}", *c.loop)
                                                                         : fmt::format("read it by {}", short_name(source.reading));
  end_row();
  loops_[content_.dump->name()] = content_;
  const auto left = loops_.find(source.name());
  if (left == loops_.end() || left->second.dump->file != source.file) return show_dump(std::make_shared<const DumpSource>(std::move(source)), what);
  Content next = left->second;
  abandon_job("another loop is shown");
  last_line_.clear();
  undo_.remember(std::move(content_), what);
  content_ = std::move(next);
  settle_after_travel(true);
  view_.alignment = {};
  changed();
}

void Session::refuse_machine(const std::string& name) {
  fail("Cannot take machine " + base_name(name),
       Error::input("the ops of a compiler's dump have no shapes to compute costs from, only the cycles that the compiler gave them",
                    "change single numbers in the What if tab, or close the dump first"));
}

bool Session::add_dumped_schedules(const DumpSource& other) {
  if (!content_.problem) return false;
  const auto has_ops = [&](const peer::Loop& loop) { return loop.scheduled() && peer::has_ops_of(loop, *content_.problem); };
  const auto& loops = other.dump().loops;
  const auto found = std::find_if(loops.begin(), loops.end(), has_ops);
  if (found == loops.end()) return false;
  DumpSource source = other;
  source.loop = static_cast<std::size_t>(found - loops.begin());
  source.reading = content_.dump->reading;
  std::vector<ScheduleEntry> entries = stored_schedules(source, *content_.problem);
  if (entries.empty()) return false;
  const std::string file = base_name(source.file->path);
  undo_.remember(content_, "add the schedules of " + file);
  for (ScheduleEntry& entry : entries) {
    entry.name = entry.schedule.name = file + (entry.name == "stored" ? "" : " " + entry.name);
    content_.schedules.push_back(make_entry(*content_.problem, content_.constraints, std::move(entry)));
  }
  if (content_.shown) {
    content_.baseline = content_.schedules.size() - 1;
    view_.chart_view = ChartView::Split;
  } else {
    content_.shown = content_.schedules.size() - 1;
  }
  remember_recent(settings_, source.file->path);
  view_.tab = BottomTab::Compare;
  view_.fit_all = true;
  view_.notice = fmt::format("{} schedules the same ops: it stands in the list to be compared, judged by the graph of {}. To work on it by itself, close first.",
                             file, base_name(content_.dump->file->path));
  changed();
  return true;
}

}  // namespace heddle::app
