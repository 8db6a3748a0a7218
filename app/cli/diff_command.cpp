// heddle diff: two schedules beside each other.
#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/commands.h"
#include "app/cli/inputs.h"
#include "app/cli/solving.h"
#include "core/base/suggest.h"
#include "core/io/difference_json.h"
#include "core/io/library.h"
#include "core/io/schedule_json.h"
#include "core/report/difference_summary.h"

namespace heddle::app {
namespace {

/// An op of that name wins over the two words.
Result<Alignment> alignment_of(const Problem& problem, const std::string& word) {
  if (const OpId op = problem.find_op(word); op.valid()) return Alignment{Alignment::At::Op, op};
  if (word == "start") return Alignment{};
  if (word == "most") return Alignment{Alignment::At::Most, {}};
  std::vector<std::string> known = names_of(problem.ops);
  std::string hint = did_you_mean(word, known);
  if (hint.empty()) hint = "its ops: " + list_of(known) + "; or start, or most";
  return Error::input(fmt::format("--align: no op '{}' in the loop body of {}", word, problem.kernel), hint);
}

Result<Schedule> read_second(const std::string& name, const Problem& problem, const Terminal& terminal) {
  const Result<std::string> path = find_in_library(Shelf::Schedules, name);
  if (!path) return path.error();
  std::vector<Fault> warnings;
  Result<Schedule> schedule = read_schedule(*path, problem, &warnings);
  print_warnings(terminal, warnings);
  return schedule;
}

std::string title_of(const Schedule& schedule, const std::string& file) {
  return schedule.name.empty() || schedule.name == file ? file : fmt::format("{} ({})", schedule.name, file);
}

}  // namespace

int run_diff(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const std::string file_a = *arguments.text("A");
  Arguments with_a = arguments;
  with_a.set("SCHEDULE", {file_a});
  Result<Inputs> inputs = load_inputs(with_a, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Problem& problem = inputs->problem;
  const Result<Alignment> alignment = alignment_of(problem, arguments.text("--align").value_or("start"));
  if (!alignment) return report(terminal, alignment.error(), json);
  const Schedule in_a = *inputs->schedule;
  const ComparedSchedule a = measure(problem, in_a, inputs->constraints, title_of(in_a, file_a));

  Schedule in_b;
  ComparedSchedule b;
  if (const auto file_b = arguments.text("B")) {
    Result<Schedule> read = read_second(*file_b, problem, terminal);
    if (!read) return report(terminal, read.error(), json);
    in_b = *std::move(read);
    b = measure(problem, in_b, inputs->constraints, title_of(in_b, *file_b));
  } else {
    inputs->schedule.reset();
    const Result<SolveOutcome> outcome = solve_inputs(*inputs, arguments, terminal);
    if (!outcome) return report(terminal, outcome.error(), json);
    if (!outcome->schedule) {
      report(terminal, Error::input("there is no schedule to compare with: " + outcome->explanation), json);
      return exit_code_of(*outcome, false);
    }
    in_b = *outcome->schedule;
    b = measure(problem, in_b, inputs->constraints, outcome->status == Status::Optimal ? "the solver's optimum" : "the solver's best so far");
    b.status = outcome->status;
    b.lower_bound = outcome->lower_bound;
  }
  const Difference difference = compare_schedules(problem, in_a, in_b, *alignment);
  if (json)
    terminal.out << difference_json(problem, a, b, difference, *alignment).pretty();
  else if (terminal.quiet)
    terminal.out << difference_headline(difference, a, b, terminal.style) << "\n";
  else
    terminal.out << difference_summary(problem, a, b, difference, *alignment, arguments.has("--all"), terminal.style);
  return difference.same_program() ? kDone : kNegative;
}

}  // namespace heddle::app
