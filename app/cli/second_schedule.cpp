#include "app/cli/second_schedule.h"

#include <fmt/format.h>

#include "app/cli/inputs.h"
#include "app/command/arguments.h"
#include "app/jobs/judge_claim.h"
#include "core/base/suggest.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/library/project_file.h"

namespace heddle::app {

Result<Alignment> alignment_of(const Problem& problem, const std::string& word) {
  if (const OpId op = problem.find_op(word); op.valid()) return Alignment{Alignment::At::Op, op};
  if (word == "start") return Alignment{};
  if (word == "most") return Alignment{Alignment::At::Most, {}};
  std::vector<std::string> known = names_of(problem.ops);
  std::string hint = did_you_mean(word, known);
  if (hint.empty()) hint = "its ops: " + list_of(known) + "; or start, or most";
  return Error::input(fmt::format("--align: no op '{}' in the loop body of {}", word, problem.kernel), hint);
}

Result<std::optional<Schedule>> read_second(const std::string& name, const CommandInputs& inputs, const Terminal& terminal) {
  const Problem& problem = inputs.problem();
  std::vector<Fault> warnings;
  const auto judged = [&](Schedule schedule) {
    judge_claim(problem, inputs.constraints, schedule, name, &warnings);
    print_warnings(terminal, warnings);
    if (inputs.proof && check(problem, schedule, inputs.constraints).valid())
      take_proof(problem, inputs.constraints, *inputs.proof, schedule);
    return std::optional(std::move(schedule));
  };
  if (const std::shared_ptr<const Source> source = find_source(name, inputs.source.get()); source->project()) {
    const Result<Project>& project = source->project()->read(&warnings);
    if (!project) return project.error();
    if (!project->baseline) return std::optional<Schedule>();
    Schedule schedule = project->schedules[*project->baseline].schedule;
    if (schedule.ops.size() != problem.ops.size() || schedule.depths.size() != problem.channels.size())
      return Error::input("the project's B is a schedule of other ops", "give none of --param, --set and --subtile");
    return judged(std::move(schedule));
  }
  const Result<std::string> path = find_schedule(name, problem.kernel);
  if (!path) return path.error();
  Result<Schedule> schedule = read_schedule(*path, problem, &warnings, inputs.source.get());
  if (!schedule) {
    print_warnings(terminal, warnings);
    return schedule.error();
  }
  return judged(*std::move(schedule));
}

}  // namespace heddle::app
