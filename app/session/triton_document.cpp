#include "app/session/triton_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/edits.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/rows.h"
#include "app/session/solving.h"
#include "app/session/triton_source.h"
#include "core/analysis/difference.h"
#include "core/base/text_style.h"
#include "core/library/library.h"
#include "core/triton/kernel/own_schedule.h"

namespace heddle::app {
namespace {

using triton::Whose;

std::size_t row_of(const Content& content, Whose whose) {
  const std::string name = row_name(whose);
  return static_cast<std::size_t>(
      std::find_if(content.schedules.begin(), content.schedules.end(), [&](const EntryPtr& entry) { return entry->name == name; }) -
      content.schedules.begin());
}

/// What was compared is the text's loop as it is: numbers that were changed, or demands that were made, ask about something else.
bool as_compared(const Content& content, const triton::Side& side) {
  const bool changed = std::any_of(content.changes.begin(), content.changes.end(), [](const Change& c) { return c.enabled; });
  return content.problem && !changed && content.overrides.empty() && content.constraints == side.constraints && side.schedule &&
         fits(*content.problem, *side.schedule);
}

/// Of a side's schedule; before that is known, the one in which it is looked for.
triton::Reading reading_of(const TritonState::Known* known, Whose whose) {
  triton::Side unknown;
  unknown.whose = whose;
  return triton::reading_of(known && known->comparison ? known->comparison->of(whose) : unknown);
}

std::string key_of(const Content& content) { return content.triton->name() + " on " + (content.machine ? content.machine->name : ""); }

}  // namespace

void TritonDocument::open(const std::string& name, const std::string& machine_name, bool solve) {
  const std::string title = "Cannot open " + base_name(name);
  Result<TritonSource> read = read_triton_source(name);
  if (!read) return fail(title, read.error());
  auto source = std::make_shared<const TritonSource>(*std::move(read));
  std::shared_ptr<const Machine> machine;
  std::string no_machine;
  std::string wanted = machine_name;
  if (wanted.empty() && source->program) {
    const Result<std::string> usual = triton::machine_for(*source->program);
    if (usual)
      wanted = *usual;
    else
      no_machine = usual.error().faults.front().message;
  }
  if (!wanted.empty()) {
    auto loaded = load_machine(wanted);
    if (!loaded) return fail("Cannot open machine " + base_name(wanted), loaded.error());
    machine = std::make_shared<const Machine>(*std::move(loaded));
  }
  document_.loops.clear();
  remember_recent(settings_, source->file->path);
  show(std::move(source), std::move(machine), "open " + base_name(name));
  if (!no_machine.empty()) say(LogLevel::Warning, view_.notice = base_name(name) + ": " + printable(no_machine));
  const bool first = view_.tab == BottomTab::Explain || view_.tab == BottomTab::Compare || view_.tab == BottomTab::Log;
  if (first || !document_.content.kernel) view_.tab = document_.content.kernel ? BottomTab::Triton : BottomTab::Audit;
  view_.chart_view = ChartView::Three;
  if (solve && !three_.tools().compare) solving_.solve_opened();
  changed();
}

void TritonDocument::open_schedule(const std::string& name) {
  const Result<triton::Address> address = triton::parse_address(name);
  const auto& now = document_.content.triton;
  if (!address || !now || now->file->path != address->path) return open(name, {}, false);
  on(ShowSide{Whose::Tritons});
}

void TritonDocument::show(std::shared_ptr<const TritonSource> source, std::shared_ptr<const Machine> machine, const std::string& what) {
  Content next;
  next.kernel = source->kernel;
  next.machine = std::move(machine);
  if (next.machine == document_.content.machine) next.machine_text = document_.content.machine_text;
  next.triton = source;
  edits_.adopt(std::move(next), what);
  if (!source->kernel && source->program) say(LogLevel::Warning, base_name(source->file->path) + ": " + why_no_kernel(*source));
  Content& now = document_.content;
  if (!now.problem) return;
  for (const std::string& note : source->native->notes) say(LogLevel::Info, printable(note));
  now.constraints = rules_of(*source, now.problem.get());
  now.given = std::make_shared<const Constraints>(now.constraints);
  if (source->reading == triton::Reading::Triton && source->native->has_own) {
    if (std::optional<Schedule> schedule = triton::own_schedule(*source->native, *now.problem); schedule && fits(*now.problem, *schedule)) {
      ScheduleEntry entry;
      entry.name = schedule->name = row_name(Whose::Tritons);
      entry.status = Status::Feasible;
      entry.schedule = *std::move(schedule);
      entry.unbound = now.given;
      now.schedules.push_back(make_entry(*now.problem, now.constraints, std::move(entry)));
      now.shown = 0;
      const ScheduleEntry& shown = *now.entry();
      say(shown.verdict.valid() ? LogLevel::Good : LogLevel::Warning,
          fmt::format("the text's own schedule of {}: {} cycles per iteration by the model, {}", printable(source->program->kernel),
                      shown.schedule.ii,
                      shown.verdict.valid() ? "valid" : count_of(static_cast<std::int64_t>(shown.verdict.violations.size()), "violation")));
    }
  }
  if (source->reading == triton::Reading::Triton && !source->native->has_own && !source->native->why_no_own.empty())
    say(LogLevel::Info, "no schedule of Triton's own: " + printable(source->native->why_no_own));
  take_sides();
  changed();
}

void TritonDocument::turn_to(std::shared_ptr<const TritonSource> source, const std::string& what) {
  const auto machine = document_.content.machine;
  solving_.end_row();
  document_.loops[key_of(document_.content)] = document_.content;
  Content wanted;
  wanted.triton = source;
  wanted.machine = machine;
  const auto left = document_.loops.find(key_of(wanted));
  // The program is the same one wherever nothing but loop and reading changed.
  if (left == document_.loops.end() || left->second.triton->program != source->program || left->second.machine != machine)
    return show(std::move(source), machine, what);
  edits_.go_to(left->second, what, "something else of the text is shown");
  take_sides();
  changed();
}

void TritonDocument::switch_machine(const std::string& name) {
  auto loaded = load_machine(name);
  if (!loaded) return fail("Cannot open machine " + base_name(name), loaded.error());
  const auto machine = std::make_shared<const Machine>(*std::move(loaded));
  const Content before = document_.content;
  if (before.kernel)
    if (const auto problem = make_problem({before.kernel, machine, before.overrides}); !problem)
      return fail(fmt::format("{} cannot be scheduled on {}", printable(before.kernel->name), machine->name),
                  triton::unresolved_text(problem.error(), *before.triton->program, *before.triton->native, *before.kernel));
  const std::string what = "machine " + machine->name;
  show(before.triton, machine, what);
}

void TritonDocument::on(const ShowTriton& c) {
  const auto& now = document_.content.triton;
  if (!now) return say(LogLevel::Warning, "no Triton kernel is open");
  if (!c.words && !c.loop && !c.reading) return;
  Result<TritonSource> other = other_source(*now, c.words, c.loop, c.reading);
  if (!other) return fail("Cannot show that", other.error());
  if (other->name() == now->name() && other->program) return;
  auto source = std::make_shared<const TritonSource>(*std::move(other));
  if (c.words) {
    // Another text, with a target of its own.
    const bool same_target = now->program && source->program && now->program->target == source->program->target;
    const std::string name = source->name(), machine = same_target && document_.content.machine ? document_.content.machine->file : "";
    return open(name, machine, false);
  }
  const std::string what = c.loop && source->loop != now->loop ? fmt::format("show loop {}", *c.loop)
                                                               : fmt::format("read it by {} reading", with_article(source->reading));
  turn_to(std::move(source), what);
}

std::string TritonDocument::why_no_side(triton::Whose whose) const {
  const TritonState::Known* known = three_.of(document_.content);
  if (!document_.content.triton) return "no Triton kernel is open";
  if (!known || !known->comparison) return "it is not worked out yet";
  const triton::Side& side = known->comparison->of(whose);
  if (!side.schedule) return side.why_not.empty() ? "it is not found yet" : printable(side.why_not);
  return {};
}

void TritonDocument::on(const ShowSide& c) {
  const std::string name = row_name(c.whose);
  Content& now = document_.content;
  if (!now.triton) return say(LogLevel::Warning, "no Triton kernel is open");
  const triton::Reading reading = reading_of(three_.of(now), c.whose);
  const bool here = now.triton->reading == reading;
  if (here) take_sides();
  if (const std::size_t row = row_of(now, c.whose); here && row < now.schedules.size()) {
    if (now.baseline == row) now.baseline.reset();  // the three are beside each other already
    return rows_.on(SelectSchedule{row});
  }
  if (const std::string reason = why_no_side(c.whose); !reason.empty())
    return say(LogLevel::Warning, fmt::format("{} is not shown: {}", name, reason));
  if (here) {
    // It answers the question as it was before numbers or demands were changed.
    show(now.triton, now.machine, "show " + name);
  } else {
    Result<TritonSource> other = other_source(*now.triton, std::nullopt, std::nullopt, reading);
    if (!other) return fail("Cannot show " + name, other.error());
    turn_to(std::make_shared<const TritonSource>(*std::move(other)), "show " + name);
    if (row_of(now, c.whose) >= now.schedules.size() && now.triton->reading == reading) show(now.triton, now.machine, "show " + name);
  }
  if (const std::size_t row = row_of(now, c.whose); row < now.schedules.size() && now.shown != row) {
    now.shown = row;
    if (now.baseline == row) now.baseline.reset();
    changed();
  }
}

void TritonDocument::take_sides() {
  Content& now = document_.content;
  const TritonState::Known* known = three_.of(now);
  if (!known || !known->comparison) return;
  for (const triton::Side& side : known->comparison->sides) {
    if (triton::reading_of(side) != now.triton->reading || !as_compared(now, side)) continue;
    const std::size_t row = row_of(now, side.whose);
    ScheduleEntry entry;
    entry.name = row_name(side.whose);
    entry.schedule = *side.schedule;
    entry.schedule.name = entry.name;
    entry.status = side.status == Status::Optimal ? Status::Optimal : Status::Feasible;
    if (side.lower_bound > 0) entry.lower_bound = side.lower_bound;
    entry.explanation = side.explanation;
    entry.seconds = side.seconds;
    if (side.taken_from.value_or(side.whose) == Whose::Tritons) entry.unbound = now.given;
    entry.of_solver = side.whose != Whose::Tritons && side.status == Status::Optimal;
    if (row < now.schedules.size()) {
      const ScheduleEntry& old = *now.schedules[row];
      if (same_program(old.schedule, entry.schedule) && old.status == entry.status && old.lower_bound == entry.lower_bound) continue;
      now.schedules[row] = make_entry(*now.problem, now.constraints, std::move(entry));
      continue;
    }
    now.schedules.push_back(make_entry(*now.problem, now.constraints, std::move(entry)));
    if (!now.shown) {
      now.shown = now.schedules.size() - 1;
      view_.fit_all = true;
    } else if (!now.baseline && side.whose == Whose::BestOfTriton && *now.shown == row_of(now, Whose::Tritons)) {
      now.baseline = now.schedules.size() - 1;
    }
  }
}

bool TritonDocument::pump() {
  const bool news = three_.pump();
  const TritonState::Known* known = three_.of(document_.content);
  if (news && known) {
    take_sides();
    if (known->ended) {
      for (const Fault& fault : known->faults) say(LogLevel::Bad, "comparison: " + printable(to_string(fault)));
      if (known->comparison && known->faults.empty()) say(LogLevel::Good, printable(triton::headline(*known->comparison)));
    }
  }
  three_.follow(document_.content);
  if (news) changed();
  return news;
}

void TritonDocument::on(const CompareTriton&) {
  if (!document_.content.triton) return say(LogLevel::Warning, "no Triton kernel is open");
  three_.start(document_.content);
  view_.tab = BottomTab::Triton;
  changed();
}

void TritonDocument::on(const CancelTriton&) {
  if (!three_.active()) return;
  three_.cancel();
  say(LogLevel::Info, "the comparison of three schedules was cancelled");
  changed();
}

void TritonDocument::on(const OpenPlace& c) {
  if (c.file.empty()) return;
  const std::string place = c.line > 0 ? fmt::format("{}:{}", c.file, c.line) : c.file;
  view_.clipboard = place;
  std::string sentence = "copied: " + place;
  const std::string found = document_.content.triton ? find_source_file(*document_.content.triton, c.file) : std::string();
  if (found.empty()) {
    sentence += "; the file is not here";
  } else if (open_place_) {
    const Result<Ok> opened = open_place_(found, c.line);
    sentence += opened ? "; your editor was asked to show it" : "; " + opened.error().faults.front().message;
  }
  say(LogLevel::Info, printable(sentence));
  view_.notice = printable(sentence);
  changed();
}

}  // namespace heddle::app
