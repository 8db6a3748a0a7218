#include "app/cli/questions/triton_compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/inputs.h"
#include "app/cli/triton_solving.h"
#include "app/command/called.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/jobs/triton_return.h"
#include "core/answers/difference.h"
#include "core/library/library.h"
#include "core/library/triton_text.h"

namespace heddle::app {
namespace {

constexpr double kSeconds = 60;

/// What only a scoreboard of one problem can take; empty when there is nothing of it.
std::string option_of_one_reading(const Arguments& arguments) {
  for (const char* option :
       {"--param", "--subtile", "--constraints", "--demand", "--set", "--ii", "--max-stages", "--groups", "--emitter", "--baseline",
        "--no-baselines", "--no-hand", "--no-solve", "--clock", "--power", "--data", "--measured", "--all"})
    if (arguments.has(option)) return option;
  return {};
}

/// Everything was found out: what has a schedule is proved, or is Triton's where there was nothing to search.
bool settled(const triton::Comparison& comparison) {
  return std::all_of(comparison.sides.begin(), comparison.sides.end(), [](const triton::Side& side) {
    if (side.whose == triton::Whose::Tritons) return true;
    if (!side.schedule) return side.status != Status::Unknown || !side.why_not.empty();
    return side.status == Status::Optimal || side.status == Status::Invalid || side.lower_bound == 0;
  });
}

/// Why no side has a schedule; empty where one has.
std::string why_nothing(const triton::Comparison& comparison) {
  for (const triton::Side& side : comparison.sides)
    if (side.schedule) return {};
  for (const triton::Side& side : comparison.sides)
    if (!side.why_not.empty()) return side.why_not;
  return {};
}

std::string written_as(const std::string& format, const triton::Comparison& comparison, const std::string& name, const std::string& machine,
                       const TextStyle& style) {
  if (format == "json") return comparison_json(comparison).pretty();
  if (format == "csv") return comparison_csv(comparison);
  if (format == "markdown") return comparison_markdown(comparison);
  std::string text = comparison_text(comparison, style);
  for (const triton::NextStep way : ways_out(comparison))
    text += fmt::format("\n{}:\n  {}\n", styled(title(way), style), styled(as_called(command_of(way, name, machine)), style));
  return text;
}

}  // namespace

bool wants_three(const Arguments& arguments) {
  const TritonText* text = arguments.source()->triton();
  return text && arguments.all("SCHEDULES").empty() && !text->said();
}

int compare_three(const Arguments& arguments, const Terminal& terminal) {
  const std::string path = arguments.text("--out").value_or("-"), format = compare_format(arguments, path);
  const bool here = path == "-", json = arguments.has("--json") || (format == "json" && here);
  const TritonText& text = *arguments.source()->triton();
  const std::string& name = text.name();
  if (json && here && format != "json")
    return refuse(terminal, fmt::format("--json and --format {} both want standard output; give one of them", format), json);
  if (const std::string option = option_of_one_reading(arguments); !option.empty())
    return refuse(
        terminal,
        fmt::format("{} is about one reading's scoreboard, and this compares three schedules in two readings; name the reading: {} or {}",
                    option, with_reading(name, triton::TextReading::Triton), with_reading(name, triton::TextReading::Free)),
        json);
  if (format == "html")
    return refuse(terminal,
                  fmt::format("the three schedules have no page of html yet; name a reading for its scoreboard: {}",
                              with_reading(name, triton::TextReading::Triton)),
                  json);
  const Result<triton::LoweredLoop> loop = text.loop();
  if (!loop) return report(terminal, loop.error(), json);
  const std::string given = *arguments.text("MACHINE");
  std::vector<Fault> warnings;
  const Result<Machine> machine = given == *arguments.text("KERNEL") ? text.machine(nullptr) : load_machine(given, &warnings);
  print_warnings(terminal, warnings);
  if (!machine) return report(terminal, machine.error(), json);
  if (const int failed = expect_writable(terminal, path, json)) return failed;

  const InterruptScope interrupt;
  Result<triton::Comparison> comparison =
      solve_three({*loop, *machine}, arguments, terminal, arguments.deadline(kSeconds).left(), interrupt.token());
  if (!comparison) return report(terminal, comparison.error(), json);
  if (const std::string nothing = why_nothing(*comparison); !nothing.empty() && !comparison->cancelled)
    return report(terminal, Error::input(nothing), json);
  TextStyle style = terminal.style;
  if (!here) style = {};
  const std::string on = given == *arguments.text("KERNEL") ? "" : shell_word(given);
  int code = comparison->cancelled ? kInterrupted : settled(*comparison) ? kDone : kNoProof;
  if (terminal.quiet && here && format == "text")
    terminal.out << styled(headline(*comparison, ungrouped), style) << "\n";
  else if (const int failed = write_text(terminal, path, written_as(format, *comparison, shell_word(name), on, style)))
    code = failed;
  else if (!here)
    terminal.note(fmt::format("{} written to {}", format, path));
  if (json && !here) terminal.out << written_as("json", *comparison, name, on, {});
  return code;
}

}  // namespace heddle::app
