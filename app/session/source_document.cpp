#include "app/session/source_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/edits.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/rows.h"
#include "app/session/solving.h"
#include "app/session/triton_origins.h"
#include "core/analysis/difference.h"
#include "core/base/text_style.h"
#include "core/library/dump_text.h"
#include "core/library/library.h"
#include "core/library/triton_text.h"

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
triton::TextReading reading_of(const TritonState::Known* known, Whose whose) {
  triton::Side unknown;
  unknown.whose = whose;
  return triton::reading_of(known && known->comparison ? known->comparison->of(whose) : unknown);
}

/// It leaves the machine free.
bool takes_machines(const Source& source) { return *source.why_not(SourceUse::OtherMachine) == '\0'; }

std::shared_ptr<const Machine> own_machine(const Source& source) {
  Result<Machine> machine = source.machine();
  return machine ? std::make_shared<const Machine>(*std::move(machine)) : nullptr;
}

std::string key_of(const Source& source, const std::shared_ptr<const Machine>& machine) {
  return takes_machines(source) && machine ? source.name() + " on " + machine->name : source.name();
}

std::string verdict_of(const ScheduleEntry& entry) {
  if (entry.verdict.valid()) return "valid";
  return count_of(static_cast<std::int64_t>(entry.verdict.violations.size()), "violation");
}

/// What the file demands of every schedule.
std::shared_ptr<const Constraints> rules_of(const Content& content) {
  const Result<Constraints> rules = content.source->rules(*content.problem, false);
  return std::make_shared<const Constraints>(rules ? *rules : Constraints{});
}

/// With its standing as the file leaves it: nothing is proved of it.
ScheduleEntry entry_of(OwnSchedule own, const std::shared_ptr<const Constraints>& rules) {
  ScheduleEntry entry;
  entry.name = own.name;
  entry.file = own.file;
  entry.status = Status::Feasible;
  entry.stored = own.readings;
  if (!own.bound) entry.unbound = rules;
  entry.schedule = std::move(own.schedule);
  return entry;
}

/// A file with a kernel that a compiler wrote; null: it is none.
SourcePtr written_by_compiler(const std::string& name) {
  SourcePtr file = compilers_file(name);
  return file && file->has_kernel() ? file : nullptr;
}

}  // namespace

std::string why_no_kernel(const Source& source) {
  std::string text;
  for (const Fault& fault : source.refused()) text += (text.empty() ? "" : "\n") + printable(fault.message);
  return text;
}

SourcePtr SourceDocument::source_of(const Kernel& kernel, const Machine* machine) {
  const SourcePtr file = written_by_compiler(kernel.source);
  if (!file) return nullptr;
  const Result<SourcePtr> opened = file->opened();
  if (!opened || !(*opened)->refused().empty()) return nullptr;
  const bool fits = takes_machines(**opened) || (machine && machine->file == kernel.source);
  return fits ? *opened : nullptr;
}

bool SourceDocument::open(const SourceRequest& request) {
  const SourcePtr file = written_by_compiler(request.name);
  if (!file) return false;
  const std::string name = base_name(request.name);
  if (const Result<SourcePtr> opened = file->opened(); !opened)
    fail("Cannot open " + name, opened.error());
  else if (!add_schedules(**opened))
    begin(*opened, request);
  return true;
}

void SourceDocument::begin(const SourcePtr& source, const SourceRequest& request) {
  const std::string name = base_name(request.name);
  const bool other = !request.machine.empty() && takes_machines(*source);
  Result<Machine> machine = other ? load_machine(request.machine) : source->machine();
  if (!machine && other) return fail("Cannot open machine " + base_name(request.machine), machine.error());
  document_.loops.clear();
  remember_recent(settings_, source->path());
  std::string notice = source->left_out();
  if (!machine && !source->undecided()) notice = name + ": " + printable(machine.error().faults.front().message);
  show(source, machine ? std::make_shared<const Machine>(*std::move(machine)) : nullptr, "open " + name);
  if (!notice.empty()) say(LogLevel::Warning, view_.notice = notice);
  look_at_opened();
  if (request.solve && content_.schedules.empty() && !(content_.triton() && three_.tools().compare)) solving_.solve_opened();
}

void SourceDocument::look_at_opened() {
  const bool first = view_.tab == BottomTab::Explain || view_.tab == BottomTab::Compare || view_.tab == BottomTab::Log;
  if (content_.triton()) {
    if (first || !content_.kernel) view_.tab = content_.kernel ? BottomTab::Triton : BottomTab::Audit;
    view_.chart_view = ChartView::Three;
  } else if (content_.entry()) {
    view_.tab = BottomTab::Audit;
  }
  changed();
}

bool SourceDocument::open_schedule(const std::string& name) {
  const SourcePtr file = written_by_compiler(name);
  const bool here = file && content_.triton() && file->path() == content_.source->path();
  if (here) on(ShowSide{Whose::Tritons});
  return here || open({name});
}

void SourceDocument::show(const SourcePtr& source, std::shared_ptr<const Machine> machine, const std::string& what) {
  Content next;
  Result<Kernel> kernel = source->kernel();
  // The same one stays the same document.
  next.kernel = source == content_.source ? content_.kernel : kernel ? std::make_shared<const Kernel>(*std::move(kernel)) : nullptr;
  next.machine = std::move(machine);
  if (next.machine == content_.machine) next.machine_text = content_.machine_text;
  next.source = source;
  edits_.adopt(std::move(next), what);
  if (!content_.kernel && !source->undecided()) say(LogLevel::Warning, base_name(source->path()) + ": " + why_no_kernel(*source));
  if (!content_.problem) return;
  for (const std::string& note : source->notes()) say(LogLevel::Info, printable(note));
  content_.given = rules_of(content_);
  content_.constraints = *content_.given;
  add_own_schedules();
  take_sides();
  changed();
}

void SourceDocument::take_rules(Content& content) {
  content.given = rules_of(content);
  for (const OwnSchedule& own : content.source->own_schedules(*content.problem))
    for (EntryPtr& entry : content.schedules) {
      if (own.bound || entry->name != own.name || entry->file != own.file) continue;
      ScheduleEntry unbound = *entry;
      unbound.status = Status::Feasible;
      unbound.unbound = content.given;
      entry = make_entry(*content.problem, content.constraints, std::move(unbound));
    }
}

void SourceDocument::add_own_schedules() {
  for (OwnSchedule& own : content_.source->own_schedules(*content_.problem)) {
    if (!fits(*content_.problem, own.schedule)) continue;
    if (own.meant) content_.shown = content_.schedules.size();
    content_.schedules.push_back(make_entry(*content_.problem, content_.constraints, entry_of(std::move(own), content_.given)));
  }
  if (!content_.shown && !content_.schedules.empty()) content_.shown = content_.schedules.size() - 1;
  if (const std::string why = content_.source->why_no_own(); !why.empty()) say(LogLevel::Info, printable(why));
  const ScheduleEntry* shown = content_.entry();
  if (!shown) return;
  say(shown->verdict.valid() ? LogLevel::Good : LogLevel::Warning,
      fmt::format("{} schedule of {}, II {}: {} by {} reading", shown->name, content_.source->subject(), shown->schedule.ii,
                  verdict_of(*shown), with_article(content_.source->reading_name())));
}

bool SourceDocument::add_schedules(const Source& other) {
  const bool beside = content_.problem && content_.source && other.lends_schedules() && content_.source->lends_schedules() &&
                      content_.source->path() != other.path();
  if (!beside) return false;
  const std::string file = base_name(other.path());
  std::vector<OwnSchedule> found = other.own_schedules(*content_.problem);
  std::erase_if(found, [&](const OwnSchedule& own) { return !fits(*content_.problem, own.schedule); });
  if (found.empty()) return false;
  document_.undo.remember(content_, "add the schedules of " + file);
  for (OwnSchedule& own : found) {
    own.name = own.schedule.name = file + (own.name == "stored" ? "" : " " + own.name);
    content_.schedules.push_back(make_entry(*content_.problem, content_.constraints, entry_of(std::move(own), content_.given)));
  }
  if (content_.shown) {
    content_.baseline = content_.schedules.size() - 1;
    view_.chart_view = ChartView::Split;
  } else {
    content_.shown = content_.schedules.size() - 1;
  }
  remember_recent(settings_, other.path());
  view_.tab = BottomTab::Compare;
  view_.fit_all = true;
  view_.notice = fmt::format(
      "{} schedules the same ops: it stands in the list to be compared, judged by the graph of {}. To work on it by itself, close first.",
      file, base_name(content_.source->path()));
  changed();
  return true;
}

void SourceDocument::turn_to(const SourcePtr& source, const std::string& what) {
  const bool free = takes_machines(*source);
  const auto machine = free ? content_.machine : own_machine(*source);
  solving_.end_row();
  document_.loops[key_of(*content_.source, content_.machine)] = content_;
  const auto left = document_.loops.find(key_of(*source, machine));
  const bool as_left =
      left != document_.loops.end() && left->second.source->same_text(*source) && (!free || left->second.machine == machine);
  if (!as_left) return show(source, machine, what);
  edits_.go_to(left->second, what, "another part of the file is shown");
  take_sides();
  changed();
}

void SourceDocument::switch_machine(const std::string& name) {
  const Content before = content_;
  if (const std::string reason = before.why_not(SourceUse::OtherMachine); !reason.empty())
    return fail("Cannot take machine " + base_name(name),
                Error::input(reason, "change single numbers under What if, or close the dump first"));
  auto loaded = load_machine(name);
  if (!loaded) return fail("Cannot open machine " + base_name(name), loaded.error());
  const auto machine = std::make_shared<const Machine>(*std::move(loaded));
  if (before.kernel)
    if (const auto problem = make_problem({before.kernel, machine, before.overrides}); !problem)
      return fail(fmt::format("{} cannot be scheduled on {}", printable(before.kernel->name), machine->name),
                  before.source->in_own_words(problem.error(), *before.kernel));
  const std::string what = "machine " + machine->name;
  show(before.source, machine, what);
}

void SourceDocument::on(const ShowPart& c) {
  const SourcePtr now = content_.source;
  if (!now) return say(LogLevel::Warning, "no compiler's file is open");
  if (!c.part.words && !c.part.loop && !c.part.reading) return;
  const Result<SourcePtr> other = now->with(c.part);
  if (!other) return fail("Cannot show that", other.error());
  const SourcePtr& source = *other;
  if (source->name() == now->name() && !source->undecided()) return;
  if (c.part.words) {
    // Another text, with a target of its own.
    const Result<Machine> before = now->machine(), after = source->machine();
    const bool same_target = before && after && before->name == after->name;
    return begin(source, {source->name(), same_target && content_.machine ? content_.machine->file : ""});
  }
  turn_to(source, c.part.loop ? fmt::format("show loop {}", *c.part.loop)
                              : fmt::format("read it by {} reading", with_article(source->reading_name())));
}

Constraints SourceDocument::open_emitter_rules() const {
  Constraints open;
  const DumpText* dump = content_.dump();
  if (!dump || !content_.problem || dump->reading() != dump::DumpReading::Full) return open;
  const auto is_in = [](const Constraints& list, const UserConstraint& rule) {
    return std::any_of(list.begin(), list.end(), [&](const UserConstraint& c) { return c.enabled && c.name == rule.name; });
  };
  const Result<Constraints> all = dump->rules(*content_.problem, true);
  for (const UserConstraint& rule : all ? *all : Constraints{})
    if (!is_in(content_.constraints, rule) && !(content_.given && is_in(*content_.given, rule))) open.push_back(rule);
  return open;
}

void SourceDocument::on(const DemandEmitterRules&) {
  const Constraints rules = open_emitter_rules();
  if (rules.empty()) return say(LogLevel::Info, "the emitter demands nothing that is not in force");
  Constraints next = content_.constraints;
  next.insert(next.end(), rules.begin(), rules.end());
  edits_.constrain(std::move(next), "demand what the emitter demands", false);
  view_.tab = BottomTab::Constraints;
}

std::string SourceDocument::why_no_side(triton::Whose whose) const {
  const TritonState::Known* known = three_.of(content_);
  if (!content_.triton()) return "no Triton kernel is open";
  if (!known || !known->comparison) return "it is not worked out yet";
  const triton::Side& side = known->comparison->of(whose);
  if (!side.schedule) return side.why_not.empty() ? "it is not found yet" : printable(side.why_not);
  return {};
}

void SourceDocument::on(const ShowSide& c) {
  const std::string name = row_name(c.whose);
  Content& now = content_;
  if (!now.triton()) return say(LogLevel::Warning, "no Triton kernel is open");
  const triton::TextReading reading = reading_of(three_.of(now), c.whose);
  const bool here = now.triton()->reading() == reading;
  if (here) take_sides();
  if (const std::size_t row = row_of(now, c.whose); here && row < now.schedules.size()) {
    if (now.baseline == row) now.baseline.reset();  // the three are beside each other already
    return rows_.on(SelectSchedule{row});
  }
  if (const std::string reason = why_no_side(c.whose); !reason.empty())
    return say(LogLevel::Warning, fmt::format("{} is not shown: {}", name, reason));
  if (here) {
    // It answers the question as it was before numbers or demands were changed.
    show(SourcePtr(now.source), now.machine, "show " + name);
  } else {
    const Result<SourcePtr> other = now.source->with({{}, {}, to_string(reading)});
    if (!other) return fail("Cannot show " + name, other.error());
    turn_to(*other, "show " + name);
    if (row_of(now, c.whose) >= now.schedules.size()) show(SourcePtr(now.source), now.machine, "show " + name);
  }
  if (const std::size_t row = row_of(now, c.whose); row < now.schedules.size() && now.shown != row) {
    now.shown = row;
    if (now.baseline == row) now.baseline.reset();
    changed();
  }
}

void SourceDocument::take_sides() {
  Content& now = content_;
  const TritonState::Known* known = three_.of(now);
  if (!known || !known->comparison) return;
  for (const triton::Side& side : known->comparison->sides) {
    if (triton::reading_of(side) != now.triton()->reading() || !as_compared(now, side)) continue;
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

bool SourceDocument::pump() {
  const bool news = three_.pump();
  const TritonState::Known* known = three_.of(content_);
  if (news && known) {
    take_sides();
    if (known->ended) {
      for (const Fault& fault : known->faults) say(LogLevel::Bad, "comparison: " + printable(to_string(fault)));
      if (known->comparison && known->faults.empty()) say(LogLevel::Good, printable(triton::headline(*known->comparison)));
    }
  }
  three_.follow(content_);
  if (news) changed();
  return news;
}

void SourceDocument::on(const CompareTriton&) {
  if (!content_.triton()) return say(LogLevel::Warning, "no Triton kernel is open");
  three_.start(content_);
  view_.tab = BottomTab::Triton;
  changed();
}

void SourceDocument::on(const CancelTriton&) {
  if (!three_.active()) return;
  three_.cancel();
  say(LogLevel::Info, "the comparison of three schedules was cancelled");
  changed();
}

void SourceDocument::on(const OpenPlace& c) {
  if (c.file.empty()) return;
  const std::string place = c.line > 0 ? fmt::format("{}:{}", c.file, c.line) : c.file;
  view_.clipboard = place;
  std::string sentence = "copied: " + place;
  const std::string found = content_.triton() ? find_source_file(*content_.triton(), c.file) : std::string();
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
