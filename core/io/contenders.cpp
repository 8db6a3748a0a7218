// Reading contenders.
#include "core/io/contenders.h"

#include <fmt/format.h>

#include "core/io/library.h"
#include "core/io/schedule_json.h"
#include "core/report/text_style.h"

namespace heddle {
namespace {

/// Why a schedule with this head is not one of the problem; empty when it is.
std::string made_for_another(const ScheduleHead& head, const Problem& problem) {
  if (head.machine != problem.machine) return fmt::format("made for {}", printable(head.machine));
  std::string other;
  for (const auto& [name, value] : head.params)
    if (const auto ours = problem.params.find(name); ours == problem.params.end() || ours->second != value)
      other += fmt::format("{}{}={}", other.empty() ? "" : ", ", printable(name), value);
  return other.empty() ? other : "made for " + other;
}

Contender contender_of(Schedule schedule, std::string name, ContenderKind kind) {
  Contender c;
  c.name = std::move(name);
  c.kind = kind;
  c.about = schedule.provenance.note;
  c.schedule = std::move(schedule);
  return c;
}

}  // namespace

std::vector<Contender> shelf_contenders(const Problem& problem) {
  std::vector<Contender> contenders;
  const std::string prefix = problem.kernel + "/";
  for (const LibraryEntry& entry : list_library(Shelf::Schedules)) {
    if (!entry.name.starts_with(prefix)) continue;
    Contender c;
    c.name = entry.name.substr(prefix.size());
    c.kind = ContenderKind::Hand;
    const Result<ScheduleHead> head = read_schedule_head(entry.path);
    const Result<Schedule> schedule = head ? read_schedule(entry.path, problem) : Result<Schedule>(head.error());
    if (schedule) c = contender_of(*schedule, c.name, c.kind);
    else c.why_not = to_string(schedule.error());
    // Other sizes often change no cost of the loop; where they do, its starts mean nothing here.
    if (const std::string other = schedule ? made_for_another(*head, problem) : ""; !other.empty() && !check(problem, *schedule).valid()) {
      c.schedule.reset();
      c.why_not = other;
    }
    contenders.push_back(std::move(c));
  }
  return contenders;
}

Result<Contender> file_contender(const std::string& name_or_path, const Problem& problem, std::vector<Fault>* warnings) {
  const Result<std::string> path = find_in_library(Shelf::Schedules, name_or_path);
  if (!path) return path.error();
  Result<Schedule> schedule = read_schedule(*path, problem, warnings);
  if (!schedule) return schedule.error();
  const ContenderKind kind = schedule->provenance.kind == "hand" ? ContenderKind::Hand : ContenderKind::File;
  return contender_of(*std::move(schedule), name_in_library(Shelf::Schedules, *path), kind);
}

}  // namespace heddle
