#include "core/library/contenders.h"

#include <fmt/format.h>

#include "core/base/text_style.h"
#include "core/formats/choices_json.h"
#include "core/formats/schedule_json.h"
#include "core/instance/instance.h"
#include "core/library/library.h"

namespace heddle {
namespace {

/// What the loop of these parameters costs, as a hash; empty when that cannot be known.
std::string loop_hash(const std::string& kernel, const std::string& machine, const Scope& params, const LayoutChoices& choices) {
  const Result<Kernel> k = load_kernel(kernel);
  const Result<Machine> m = load_machine(machine);
  if (!k || !m) return {};
  InstanceSpec spec = with(spec_of(*k, *m), choices);
  spec.params = params;
  const Result<Problem> problem = make_problem(spec);
  return problem ? problem_hash(*problem) : std::string();
}

/// What a schedule with this head was made for, if that is another loop; empty when it is the problem's. Other sizes often
/// change nothing of the loop. Numbers that the user has changed do not count.
std::string made_for_another(const ScheduleHead& head, const Problem& problem) {
  std::string other = head.machine == problem.machine ? "" : printable(head.machine);
  for (const auto& [name, value] : head.params)
    if (const auto ours = problem.params.find(name); ours == problem.params.end() || ours->second != value)
      other += fmt::format("{}{}={}", other.empty() ? "" : ", ", printable(name), value);
  const LayoutChoices& ours = choices_of(problem);
  if (head.layouts != ours)
    other += (other.empty() ? "" : ", ") + (head.layouts.empty() ? std::string("default layouts and instructions")
                                                                 : "layouts and instructions " + printable(choices_text(head.layouts)));
  if (other.empty() || loop_hash(problem.kernel, head.machine, head.params, head.layouts) ==
                           loop_hash(problem.kernel, problem.machine, problem.params, ours))
    return {};
  return "made for " + other;
}

}  // namespace

Contender contender_of(Schedule schedule, std::string name, ContenderKind kind) {
  Contender c;
  c.name = std::move(name);
  c.kind = kind;
  c.about = schedule.provenance.note;
  c.schedule = std::move(schedule);
  return c;
}

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
    if (schedule)
      c = contender_of(*schedule, c.name, c.kind);
    else
      c.why_not = to_string(schedule.error());
    if (const std::string other = schedule ? made_for_another(*head, problem) : ""; !other.empty()) {
      c.schedule.reset();
      c.why_not = other;
    }
    contenders.push_back(std::move(c));
  }
  return contenders;
}

Result<Contender> file_contender(const std::string& name_or_path, const Problem& problem, std::vector<Fault>* warnings,
                                 const Source* known) {
  const Result<std::string> path = find_schedule(name_or_path, problem.kernel);
  if (!path) return path.error();
  Result<Schedule> schedule = read_schedule(*path, problem, warnings, known);
  if (!schedule) return schedule.error();
  const ContenderKind kind = schedule->provenance.kind == "hand" ? ContenderKind::Hand : ContenderKind::File;
  return contender_of(*std::move(schedule), name_in_library(Shelf::Schedules, *path), kind);
}

}  // namespace heddle
