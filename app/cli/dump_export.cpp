// A schedule patched into a compiler's dump, as one or as variants, or as the answer to a joint-solver problem.
#include <fmt/format.h>

#include "app/cli/compiler_export.h"
#include "app/cli/second_schedule.h"
#include "app/cli/solving.h"
#include "app/command/interrupt.h"
#include "core/check/checker.h"
#include "core/dump/export.h"
#include "core/library/dump_text.h"
#ifdef HEDDLE_HAS_SOLVER
#include "solver/questions/alternatives.h"
#endif

namespace heddle::app {
namespace {

#ifdef HEDDLE_HAS_SOLVER
constexpr int kVariants = 5;

std::vector<Schedule> alternatives_of(const CommandInputs& inputs, const Arguments& arguments) {
  solver::AlternativesRequest request;
  request.solve = solve_request(inputs, arguments);
  request.count = static_cast<int>(arguments.integer("--count").value_or(kVariants));
  request.ii_only = true;
  const InterruptScope interrupt;
  std::vector<Schedule> schedules;
  for (const Alternative& a : solver::find_alternatives(request, interrupt.token()).found) schedules.push_back(a.schedule);
  return schedules;
}
#endif

}  // namespace

bool is_dump_format(const std::string& format) { return format == "schedule_graph" || format == "variants" || format == "joint-solver"; }

Result<std::string> dump_failure(const std::string& format, const SolveOutcome& outcome, const Arguments& arguments) {
  if (format != "joint-solver" || outcome.status == Status::Invalid || outcome.cancelled)
    return Error::input("only the answer to a joint-solver problem says that there is none");
  const DumpText* text = arguments.source()->dump();
  if (!text) return Error::input("only a joint-solver problem is answered so");
  const DumpText::SharedDump dump = text->document();
  return dump ? dump::export_joint_failure(**dump, outcome) : dump.error();
}

Result<std::string> dump_export(const std::string& format, const CommandInputs& inputs, const Schedule& schedule,
                                const Arguments& arguments, const Terminal& terminal) {
  const std::string& name = inputs.source->name();
  const DumpText* text = inputs.source->dump();
  if (!text)
    return Error::input(fmt::format("--format {} patches a compiler's dump, and {} is none", format, name), "give the dump as KERNEL");
  const DumpText::SharedDump read = text->document();
  if (!read) return read.error();
  const dump::Dump& dump = **read;
  if (format == "joint-solver") return dump::export_joint_solution(dump, inputs.problem(), schedule);
  const Result<const dump::DumpLoop*> loop = text->loop();
  if (!loop) return loop.error();
  const auto index = static_cast<std::size_t>(*loop - dump.loops.data());
  if (format == "schedule_graph") return dump::export_schedule_graph(text->text(), dump, index, inputs.problem(), schedule);

  std::vector<Schedule> schedules;
  const auto named = arguments.text("SCHEDULE");
  if ((named && *named != name) || arguments.has("--also")) schedules.push_back(schedule);
  for (const std::string& other : arguments.all("--also")) {
    const Result<std::optional<Schedule>> read = read_second(other, inputs, terminal);
    if (!read) return read.error();
    if (*read) schedules.push_back(**read);
  }
#ifdef HEDDLE_HAS_SOLVER
  if (schedules.empty()) schedules = alternatives_of(inputs, arguments);
#endif
  if (schedules.empty()) schedules.push_back(schedule);
  for (const Schedule& s : schedules)
    for (const Violation& v : check(inputs.problem(), s, inputs.constraints).violations)
      terminal.note(fmt::format("{}: {}: {}", s.name.empty() ? "a schedule without a name" : s.name, v.family, v.message));
  return dump::export_variants(text->text(), dump, index, inputs.problem(), schedules);
}

}  // namespace heddle::app
