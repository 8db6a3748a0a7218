// heddle compare: the schedules that people use beside the optimum, on one scoreboard.
#include <fmt/format.h>

#include <algorithm>

#include "app/ask/compare.h"
#include "app/cli/kernel_run_options.h"
#include "app/cli/questions/asking.h"
#include "app/cli/questions/triton_compare.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "core/answers/scoreboard_page.h"
#include "core/library/contenders.h"
#include "core/library/triton_text.h"

namespace heddle::app {
namespace {

/// What Triton's compiler decided, or why that is not known.
Contender own_contender(const CommandInputs& inputs) {
  Result<Schedule> schedule = inputs.source->own_schedule(inputs.problem());
  if (schedule) return contender_of(*std::move(schedule), "triton's own");
  Contender none;
  none.name = "triton's own";
  none.why_not = schedule.error().faults.front().message;
  return none;
}

/// Every fault of every file at once.
Result<std::vector<Contender>> read_contenders(const Arguments& arguments, const CommandInputs& inputs, const Terminal& terminal) {
  const Problem& problem = inputs.problem();
  std::vector<Contender> given;
  // A kernel of somebody else's may have the name of a shipped one.
  if (!arguments.has("--no-hand") && !inputs.triton()) given = shelf_contenders(problem);
  std::vector<Fault> warnings;
  if (!arguments.has("--no-hand") && inputs.triton() && inputs.triton()->reading() == triton::TextReading::Triton)
    given.push_back(own_contender(inputs));
  // The schedule that a compiler's dump carries takes part by itself.
  if (!arguments.has("--no-hand") && inputs.source->dump() && inputs.source->has_own())
    if (Result<Schedule> stored = inputs.source->own_schedule(problem)) given.push_back(contender_of(*std::move(stored), "stored"));
  Error error;
  for (const std::string& name : arguments.all("SCHEDULES")) {
    Result<Contender> contender = file_contender(name, problem, &warnings, inputs.source.get());
    if (contender) {
      given.push_back(*std::move(contender));
      continue;
    }
    error.kind = contender.error().kind;
    error.faults.insert(error.faults.end(), contender.error().faults.begin(), contender.error().faults.end());
  }
  print_warnings(terminal, warnings);
  if (!error.faults.empty()) return error;
  return given;
}

CompareOptions compare_options_of(const Arguments& arguments) {
  CompareOptions options;
  options.optimum = !arguments.has("--no-solve");
  options.ii = arguments.integer("--ii");
  options.least_ii = arguments.has("--least-ii");
  if (arguments.has("--no-baselines") || arguments.has("--baseline"))
    options.heuristics = arguments.has("--no-baselines") ? std::vector<std::string>{} : arguments.all("--baseline");
  if (const auto word = arguments.text("--sort"))
    options.sorted =
        *std::find_if(std::begin(kScoreColumns), std::end(kScoreColumns), [&](ScoreColumn c) { return *word == to_string(c); });
  return options;
}

std::string written_as(const std::string& format, const CommandInputs& inputs, const Scoreboard& board, const Arguments& arguments,
                       const TextStyle& style) {
  if (format == "json") return scoreboard_json(inputs.problem(), inputs.constraints, board).pretty();
  if (format == "csv") return scoreboard_csv(board);
  if (format == "markdown") return scoreboard_markdown(inputs.problem(), board);
  if (format == "html")
    return scoreboard_html(inputs.problem(), board, arguments.text("--theme") == "dark" ? SvgTheme::Dark : SvgTheme::Light);
  return scoreboard_text(inputs.problem(), board, style, arguments.has("--all"));
}

}  // namespace

std::string compare_format(const Arguments& arguments, const std::string& path) {
  if (const auto format = arguments.text("--format")) return *format;
  for (const auto& [ending, format] : {std::pair{".html", "html"}, {".csv", "csv"}, {".md", "markdown"}, {".json", "json"}})
    if (path.ends_with(ending)) return format;
  return path == "-" && arguments.has("--json") ? "json" : "text";
}

int run_compare(const Arguments& arguments, const Terminal& terminal) {
  if (wants_three(arguments)) return compare_three(arguments, terminal);
  const std::string path = arguments.text("--out").value_or("-");
  const std::string format = compare_format(arguments, path);
  const bool here = path == "-", json = arguments.has("--json") || (format == "json" && here);
  if (json && here && format != "json")
    return refuse(terminal, fmt::format("--json and --format {} both want standard output; give one of them", format), json);
  const Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  Result<std::vector<Contender>> given = read_contenders(arguments, *inputs, terminal);
  if (!given) return report(terminal, given.error(), json);
  CompareOptions options = compare_options_of(arguments);
  if (const Result<Ok> fine = check_heuristics(options); !fine) return report(terminal, fine.error(), json);
  const Result<ClockChoice> clock = clock_choice(arguments, inputs->machine());
  if (!clock) return report(terminal, clock.error(), json);
  options.clock = *clock;
  if (const int failed = expect_writable(terminal, path, json)) return failed;

  const Subject subject = subject_of(*inputs, arguments);
  const Result<Scoreboard> answer = asked<Scoreboard>(
      terminal, [&](auto stop, const auto& listener) { return ask_compare(subject, options, *std::move(given), stop, listener); });
  if (!answer) return report(terminal, answer.error(), json);
  const Scoreboard& board = *answer;
  TextStyle style = terminal.style;
  if (path != "-") style = {};
  const Ended end = ended(board);
  int code = exit_code(end);
  for (const std::string& complaint : end.complaints) terminal.complain(complaint);
  if (terminal.quiet && here && format == "text")
    terminal.out << styled(scoreboard_headline(board, ungrouped), style) << "\n";
  else if (const int failed = write_text(terminal, path, written_as(format, *inputs, board, arguments, style)))
    code = failed;
  else if (!here)
    terminal.note(fmt::format("{} written to {}", format, path));
  if (json && !here) terminal.out << written_as("json", *inputs, board, arguments, {});
  return code;
}

}  // namespace heddle::app
