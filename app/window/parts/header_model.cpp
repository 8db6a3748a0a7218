#include "app/window/parts/header_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/session/files.h"
#include "app/session/prediction_state.h"
#include "app/session/question_state.h"
#include "app/session/triton_state.h"
#include "app/window/kit/pretty_text.h"
#include "core/answers/summary.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

Tone tone_of(Status status) {
  switch (status) {
    case Status::Optimal: return Tone::Good;
    case Status::Feasible: return Tone::Warning;
    case Status::Infeasible:
    case Status::Invalid: return Tone::Bad;
    case Status::Unknown: return Tone::Neutral;
  }
  return Tone::Neutral;
}

Tone tone_of(const ScheduleEntry& entry) { return entry.by_time && entry.status == Status::Feasible ? Tone::Good : tone_of(entry.status); }

/// What is certified of its period; null: nothing.
const PeriodProof* period_proof(const ScheduleEntry& entry) {
  const auto& certificate = entry.schedule.certificate;
  return certificate && certificate->period ? &*certificate->period : nullptr;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string facts_of(const ScheduleEntry& entry) {
  const int stages = stage_count(entry.schedule);
  std::string facts = fmt::format("{} · {}", count_of(stages, "stage"), count_of(entry.usage.warps, "warp"));
  if (entry.seconds > 0) facts += " · " + seconds_text(entry.seconds);
  return facts;
}

/// The word for both readings of a stored schedule together.
void say_both_readings(const BothReadings& stored, HeaderModel& header) {
  header.verdict = pretty(stored.sentence);
  if (stored.own == stored.full) return;
  header.status = stored.own ? "VALID BY ISSUE SLOTS ONLY" : "VALID BY THE FULL READING ONLY";
  header.tone = stored.own ? Tone::Warning : Tone::Bad;
}

}  // namespace

namespace {

/// "2 changes", "edited": numbers that are not those of the files; empty where there are none.
std::string changes_text(const Content& content) {
  const std::size_t count = content.problem ? content.problem->changes.size() : 0;
  const std::string changes = count == 0 ? "" : count_of(count, "change");
  if (!content.machine_text || !content.machine_text->own) return changes;
  return changes.empty() ? "edited" : "edited · " + changes;
}

}  // namespace

std::string machine_text(const Content& content) {
  if (!content.machine) return "no machine";
  const std::string changes = changes_text(content);
  return content.machine->name + (changes.empty() ? "" : " · " + changes);
}

std::string status_word(const ScheduleEntry& entry) {
  if (const PeriodProof* proof = period_proof(entry); proof && entry.status != Status::Invalid) return standing_text(*proof);
  if (entry.status == Status::Optimal && entry.schedule.certificate)
    return std::string(heddle::status_word(to_string(entry.status))) + stages_text(entry.schedule.certificate->bound_stages);
  if (entry.by_time && entry.status == Status::Feasible) return "predicted fastest";
  const std::string word(heddle::status_word(to_string(entry.status)));
  return entry.status != Status::Feasible || entry.lower_bound ? word : claim_text(entry.schedule, word.c_str());
}

std::string seconds_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.2f} s", seconds > 0 ? seconds : 0.0);  // no "-0.00", also not of -0.0
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  const auto whole = static_cast<long long>(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

std::string bound_reason(const Content& content, Cycle lower_bound) {
  if (!content.bounds || !content.problem) return {};
  const Bounds& b = *content.bounds;
  if (lower_bound > b.min_ii()) return grouped(lower_bound - 1) + " refuted";
  if (b.res_mii == b.min_ii() && b.binding_unit.valid()) {
    const Unit& unit = content.problem->unit(b.binding_unit);
    return unit.about.empty() || unit.about.size() > 16 ? unit.name : unit.about;
  }
  if (b.rec_mii == b.min_ii()) return "recurrence";
  return "issue";
}

std::string violations_text(const Verdict& verdict) {
  const std::size_t count = verdict.violations.size();
  std::set<std::string> broken;
  for (const Violation& violation : verdict.violations)
    if (violation.family == "user") broken.insert(violation.message.substr(0, violation.message.find(": ")));
  const bool only_users =
      std::all_of(verdict.violations.begin(), verdict.violations.end(), [](const Violation& v) { return v.family == "user"; });
  if (only_users && count > 0) return fmt::format("breaks {} of your constraints", broken.size());
  return count_of(count, "violation");
}

std::string reading_text(const Content& content) {
  return content.source ? " by " + with_article(content.source->reading_name()) + " reading" : std::string();
}

bool no_schedule(const Session& session) {
  const ScheduleEntry* entry = session.content().entry();
  return session.live().refuted() && (!entry || !entry->verdict.valid());
}

HeaderModel build_header(const Session& session) {
  const Content& content = session.content();
  const LiveSolve& live = session.live();
  HeaderModel header;
  if (!content.kernel && content.source) {
    const bool undecided = content.source->undecided();
    header.subject = content.source->subject();
    header.ii = "no II";
    header.status = undecided ? "CHOOSE A KERNEL" : "NOTHING TO SCHEDULE";
    header.tone = undecided ? Tone::Neutral : Tone::Warning;
    return header;
  }
  if (!content.kernel) return header;
  header.subject = content.source ? content.source->subject() : content.kernel->name;
  if (content.allows(SourceUse::OtherMachine)) header.subject += " · " + (content.machine ? content.machine->name : machine_text(content));
  header.changes = changes_text(content);
  for (const auto& [name, value] : content.overrides) header.subject += fmt::format(" · {} {}", name, value);
  if (!content.problem) {
    header.ii = "no II";
    header.status = content.machine ? "NOT SCHEDULABLE" : "NO MACHINE";
    header.tone = Tone::Bad;
    return header;
  }
  const ScheduleEntry* entry = content.entry();
  if (entry) header.whole = whole_kernel(session, *entry);
  header.whole.awaited |=
      session.predictions().able() && live.active() && content.allows(SourceUse::WholeKernel) && (!entry || entry->running);
  const bool live_row = entry ? entry->running : live.active();
  const Cycle bound = live_row ? live.lower_bound
                      : entry  ? entry->lower_bound.value_or(content.bounds->min_ii())
                               : std::max(content.bounds->min_ii(), live.lower_bound);
  header.bound = fmt::format("bound {} ({})", grouped(bound), bound_reason(content, bound));
  header.ii = entry ? "II " + grouped(entry->schedule.ii) : "II ≥ " + grouped(bound);
  if (!entry) header.bound = bound_reason(content, bound);
  // A compiler's file has two, and II and its bound are by one of them.
  if (content.source) header.bound += " · reading: " + content.source->reading_name();
  if (live_row && live.active()) {
    const bool proved = entry && entry->schedule.ii == bound;
    header.status = live.phase == LiveSolve::Phase::Stopping ? "STOPPING" : proved ? "PROVED, REFINING" : "SOLVING";
    header.tone = Tone::Busy;
    header.facts = (entry ? facts_of(*entry).substr(0, facts_of(*entry).rfind(" · ")) + " · " : "") + seconds_text(live.seconds);
    return header;
  }
  if (no_schedule(session)) {
    header.ii = "no II";
    header.bound.clear();
    header.status = "NO SCHEDULE, PROVED";
    header.tone = Tone::Bad;
    header.facts = seconds_text(live.seconds);
    return header;
  }
  if (entry) {
    const bool proving = live.active() && live.proving == entry->name;
    header.status = proving ? "PROVING" : upper(status_word(*entry));
    header.tone = proving ? Tone::Busy : tone_of(*entry);
    header.facts = facts_of(*entry);
    if (const PeriodProof* proof = period_proof(*entry); proof && !proving) {
      const std::string_view proved = entry->status == Status::Optimal ? ", proved" : "";
      header.bound = fmt::format("{}{} · {}", header.ii, proved, header.bound);
      header.ii = "period " + grouped(period_cycles(*proof));
    }
    const bool its_search =
        live.phase == LiveSolve::Phase::Done && live.best == entry->schedule.ii && live.lower_bound == entry->lower_bound;
    if (!proving && its_search && live.timed_out && is_unfinished(*entry)) header.status += ", TIME IS UP";
    if (entry->stored && !proving) say_both_readings(*entry->stored, header);
    return header;
  }
  if (live.phase == LiveSolve::Phase::Done) {
    header.status = live.cancelled   ? "CANCELLED"
                    : live.timed_out ? "TIME IS UP"
                                     : upper(std::string(heddle::status_word(to_string(live.status))));
    header.tone = live.cancelled ? Tone::Neutral : tone_of(live.status);
    header.facts = seconds_text(live.seconds);
  } else {
    header.status = "NOT SOLVED";
  }
  return header;
}

ScheduleLine describe_entry(const ScheduleEntry& entry) {
  ScheduleLine line;
  line.name = entry.name;
  line.ii = grouped(entry.schedule.ii);
  line.tone = tone_of(entry);
  if (entry.running) {
    line.detail = "solving";
    line.tone = Tone::Busy;
  } else if (entry.status == Status::Invalid) {
    line.detail = violations_text(entry.verdict);
  } else {
    line.detail = status_word(entry);
    if (const PeriodProof* proof = period_proof(entry))
      line.detail = fmt::format("period {}, {}", grouped(period_cycles(*proof)), line.detail);
    else if (entry.status == Status::Feasible && entry.lower_bound)
      line.detail += fmt::format(", {} {}", entry.by_time ? "least" : "bound", grouped(*entry.lower_bound));
    if (entry.period.deadlock)
      line.detail += " · deadlocks";
    else if (entry.period.cycles() != entry.schedule.ii && !period_proof(entry))
      line.detail += fmt::format(" · period {}", grouped(entry.period.cycles()));
  }
  return line;
}

std::string solver_line(const Session& session) {
  const LiveSolve& live = session.live();
  std::string line;
  switch (live.phase) {
    case LiveSolve::Phase::Running: line = "solving: " + live.doing; break;
    case LiveSolve::Phase::Stopping: line = "still stopping"; break;
    case LiveSolve::Phase::None:
    case LiveSolve::Phase::Done: line = live.refuted() ? "no schedule exists, proved" : "solver idle"; break;
  }
  if (session.triton().active()) line = "working out the three schedules of the Triton kernel";
  for (const Topic topic : kTopics)
    if (const QuestionState& asked = session.question(topic); asked.active())
      line = fmt::format("solver asked about {}: {}", to_string(topic), asked.doing);
  line += " · " + session.solver_name();
  if (const ScheduleEntry* entry = session.content().entry()) {
    line += entry->verdict.valid() ? " · checker: valid" : fmt::format(" · {}: {}", entry->name, violations_text(entry->verdict));
    line += entry->period.deadlock ? " · deadlocks" : " · sustainable period " + grouped(entry->period.cycles());
    if (session.content().source) line += " ·" + reading_text(session.content());
  }
  return line;
}

}  // namespace heddle::app
