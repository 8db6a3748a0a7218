// heddle alternatives: schedules as good as the best that differ in what matters.
#include "app/ask/alternatives.h"
#include "app/cli/questions/asking.h"
#include "app/cli/questions/schedule_files.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/base/words.h"
#include "core/formats/schedule_json.h"

namespace heddle::app {
namespace {

/// Programs of nearly the least period behind all others. The first failure's code.
int save_all(const Problem& problem, const Alternatives& answer, const std::string& folder, const Terminal& terminal) {
  std::vector<const Schedule*> schedules;
  for (const Alternative& one : answer.found) schedules.push_back(&one.schedule);
  for (const ProgramAlternative& one : answer.programs) schedules.push_back(&one.schedule);
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const std::string path = numbered_file(folder, problem.kernel, i + 1);
    if (const int failed = write_text(terminal, path, schedule_text(problem, *schedules[i]))) return failed;
    terminal.note("schedule saved as " + path);
  }
  return kDone;
}

}  // namespace

int run_alternatives(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const auto folder = arguments.text("--out-dir");
  if (folder)
    if (const int failed = expect_writable(terminal, numbered_file(*folder, inputs->problem().kernel, 1), json)) return failed;

  const Subject subject = subject_of(*inputs, arguments);
  AlternativesOptions options;
  options.count = static_cast<int>(arguments.integer("--count").value_or(options.count));
  options.aspect = parse_word(arguments.text("--differ").value_or("any"), Aspect::Any).value_or(Aspect::Any);
  options.ii_only = arguments.text("--equal") == "ii";
  options.ii = arguments.integer("--ii");
  const auto answer =
      asked<Alternatives>(terminal, [&](auto stop, const auto& listener) { return ask_alternatives(subject, options, stop, listener); });
  int code = tell(terminal, json, told(subject, answer, telling(terminal, json)), ended(answer));
  if (folder)
    if (const int failed = save_all(inputs->problem(), answer, *folder, terminal)) code = failed;
  return code;
}

}  // namespace heddle::app
