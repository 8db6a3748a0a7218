// heddle race: programs of a kernel against each other on the GPU.
#include "app/ask/race.h"
#include "app/cli/lowering.h"
#include "app/cli/questions/asking.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "codegen/run/driver.h"
#include "core/formats/race_json.h"
#include "core/formats/schedule_json.h"

namespace heddle::app {
namespace {

RaceOptions race_options(const Arguments& arguments) {
  RaceOptions options;
  options.best = static_cast<int>(arguments.integer("--best").value_or(options.best));
  options.far = static_cast<int>(arguments.integer("--far").value_or(options.far));
  options.stages = static_cast<int>(arguments.integer("--max-stages").value_or(options.stages));
  options.rounds = static_cast<int>(arguments.integer("--rounds").value_or(options.rounds));
  if (const auto minutes = arguments.integer("--minutes")) options.race_seconds = 60.0 * static_cast<double>(*minutes);
  options.launches = static_cast<int>(arguments.integer("--launches").value_or(options.launches));
  options.warmups = static_cast<int>(arguments.integer("--warmups").value_or(options.warmups));
  options.sustained_launches = static_cast<int>(arguments.integer("--sustained").value_or(options.sustained_launches));
  options.verify = !arguments.has("--no-verify");
  options.build = build_options(arguments);
  options.compile.compiler = compiler_of(arguments);
  options.compile.cache = codegen::default_cache();
  return options;
}

}  // namespace

int run_race(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  for (const char* flag : {"--out", "--schedule"})
    if (const auto path = arguments.text(flag))
      if (const int failed = expect_writable(terminal, *path, json)) return failed;
  Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  if (const auto driver = codegen::cuda::open_driver(); !driver.ok()) return report(terminal, driver.error(), json);
  int code = kDone;
  const std::optional<Schedule> schedule = schedule_to_show(*inputs, arguments, terminal, code);
  if (!schedule) return code;
  if (code == kInterrupted) return code;

  Subject subject = subject_of(*inputs, arguments);
  subject.schedule = schedule;
  const RaceOptions options = race_options(arguments);
  RaceAnswer answer =
      asked<RaceAnswer>(terminal, [&](auto stop, const auto& listener) { return ask_race(subject, options, stop, listener); });
  if (answer.error) return report(terminal, *answer.error, json);
  answer.race.command = arguments.command_line;
  const int told_code = tell(terminal, json, told(subject, answer, telling(terminal, json)), ended(answer));
  if (const auto file = arguments.text("--out"))
    if (const int failed = write_text(terminal, *file, race_text(answer.race))) return failed;
  if (const auto file = arguments.text("--schedule"); file && answer.winner)
    if (const int failed = write_text(terminal, *file, schedule_text(subject.problem(), *answer.winner))) return failed;
  return told_code;
}

}  // namespace heddle::app
