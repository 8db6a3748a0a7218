// heddle alternatives: schedules as good as the best that differ in what matters.
#include <fmt/format.h>

#include "app/cli/questions/schedule_files.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "core/answers/alternatives.h"
#include "core/base/words.h"
#include "core/formats/schedule_json.h"
#include "solver/questions/alternatives.h"

namespace heddle::app {
namespace {

int exit_code(const Alternatives& answer) {
  if (!answer.fault.empty() || answer.first.status == Status::Invalid) return kInternal;
  if (answer.cancelled) return kInterrupted;
  if (answer.found.empty()) return exit_code_of(answer.first, false);
  return answer.exact || answer.more ? kDone : kNoProof;
}

/// The first failure's code.
int save_all(const Problem& problem, const Alternatives& answer, const std::string& folder, const Terminal& terminal) {
  for (std::size_t i = 0; i < answer.found.size(); ++i) {
    const std::string path = numbered_file(folder, problem.kernel, i + 1);
    if (const int failed = write_text(terminal, path, schedule_text(problem, answer.found[i].schedule))) return failed;
    terminal.note("schedule saved as " + path);
  }
  return kDone;
}

}  // namespace

int run_alternatives(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const auto folder = arguments.text("--out-dir");
  if (folder)
    if (const int failed = expect_writable(terminal, numbered_file(*folder, inputs->problem().kernel, 1), json)) return failed;

  solver::AlternativesRequest request;
  request.solve = solve_request(*inputs, arguments);
  request.count = static_cast<int>(arguments.integer("--count").value_or(request.count));
  request.aspect = parse_word(arguments.text("--differ").value_or("any"), Aspect::Any).value_or(Aspect::Any);
  request.ii_only = arguments.text("--equal") == "ii";

  request.numbers = std::make_shared<UncertainNumbers>(uncertain_numbers(inputs->problem(), inputs->machine()));

  Alternatives answer;
  {
    const InterruptScope interrupt;
    ProgressLine progress(terminal);
    std::size_t found = 0;
    const auto announce = [&](const Alternative& alternative) {
      ++found;
      progress.show({fmt::format("II {}", alternative.schedule.ii), fmt::format("{} found", found), "looking for another one"});
      if (found > 1) progress.say(fmt::format("{}: {} places differ from 1", found, alternative.distance));
    };
    answer = solver::find_alternatives(request, interrupt.token(), announce, listener_for(progress));
    answer.cancelled |= interrupt.interrupted() && !answer.exact && !answer.more;
  }
  if (json)
    terminal.out << alternatives_json(inputs->problem(), answer).pretty();
  else if (terminal.quiet)
    terminal.out << alternatives_headline(answer) << "\n";
  else
    terminal.out << alternatives_summary(inputs->problem(), answer, terminal.style);
  if (!answer.fault.empty())
    terminal.complain("internal error: " + answer.fault);
  else if (answer.first.status == Status::Invalid)
    terminal.complain("internal error: " + answer.first.explanation);
  int code = exit_code(answer);
  if (folder)
    if (const int failed = save_all(inputs->problem(), answer, *folder, terminal)) code = failed;
  return code;
}

}  // namespace heddle::app
