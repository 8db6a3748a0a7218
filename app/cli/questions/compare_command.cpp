// heddle compare: the schedules that people use beside the optimum, on one scoreboard.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/kernel_run_options.h"
#include "app/cli/questions/triton_compare.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "core/answers/scoreboard.h"
#include "core/answers/scoreboard_page.h"
#include "core/library/contenders.h"
#include "core/library/triton_text.h"
#include "core/library/trust.h"
#include "solver/questions/scoreboard.h"

namespace heddle::app {
namespace {

Contender contender_of(Schedule schedule, std::string name) {
  Contender contender;
  contender.name = std::move(name);
  contender.about = schedule.provenance.note;
  contender.schedule = std::move(schedule);
  return contender;
}

/// What Triton's compiler decided, or why that is not known.
Contender own_contender(const Inputs& inputs) {
  Result<Schedule> schedule = inputs.source->own_schedule(inputs.problem());
  if (schedule) return contender_of(*std::move(schedule), "triton's own");
  Contender none;
  none.name = "triton's own";
  none.why_not = schedule.error().faults.front().message;
  return none;
}

/// Every fault of every file at once.
Result<std::vector<Contender>> read_contenders(const Arguments& arguments, const Inputs& inputs, const Terminal& terminal) {
  const Problem& problem = inputs.problem();
  std::vector<Contender> given;
  // A kernel of somebody else's may have the name of a shipped one.
  if (!arguments.has("--no-hand") && !inputs.triton()) given = shelf_contenders(problem);
  std::vector<Fault> warnings;
  if (!arguments.has("--no-hand") && inputs.triton() && inputs.triton()->reading() == triton::Reading::Triton)
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

Result<std::vector<solver::BaselineChoice>> baselines_of(const Arguments& arguments) {
  if (arguments.has("--no-baselines")) return std::vector<solver::BaselineChoice>{};
  if (!arguments.has("--baseline")) return solver::all_baselines();
  std::vector<solver::BaselineChoice> choices;
  Error error;
  for (const std::string& text : arguments.all("--baseline")) {
    Result<solver::BaselineChoice> choice = solver::parse_baseline(text);
    if (choice)
      choices.push_back(*std::move(choice));
    else
      for (Fault fault : choice.error().faults) {
        fault.message = "--baseline: " + fault.message;
        error.faults.push_back(std::move(fault));
      }
  }
  if (!error.faults.empty()) return error;
  return choices;
}

std::string written_as(const std::string& format, const Inputs& inputs, const Scoreboard& board, const Arguments& arguments,
                       const TextStyle& style) {
  if (format == "json") return scoreboard_json(inputs.problem(), inputs.constraints, board).pretty();
  if (format == "csv") return scoreboard_csv(board);
  if (format == "markdown") return scoreboard_markdown(inputs.problem(), board);
  if (format == "html")
    return scoreboard_html(inputs.problem(), board, arguments.text("--theme") == "dark" ? SvgTheme::Dark : SvgTheme::Light);
  return scoreboard_text(inputs.problem(), board, style, arguments.has("--all"));
}

int exit_code(const Scoreboard& board) {
  if (!beyond_bound(board).empty()) return kInternal;
  if (board.cancelled) return kInterrupted;
  return board.timed_out ? kNoProof : kDone;
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
  const Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  Result<std::vector<Contender>> given = read_contenders(arguments, *inputs, terminal);
  if (!given) return report(terminal, given.error(), json);
  Result<std::vector<solver::BaselineChoice>> baselines = baselines_of(arguments);
  if (!baselines) return report(terminal, baselines.error(), json);
  const Result<ClockChoice> clock = clock_choice(arguments, inputs->machine());
  if (!clock) return report(terminal, clock.error(), json);
  if (const int failed = expect_writable(terminal, path, json)) return failed;

  solver::ScoreboardRequest request;
  request.solve = solve_request(*inputs, arguments);
  request.solve.by_time = time_choice_of(*inputs, arguments);
  request.given = *std::move(given);
  request.baselines = *std::move(baselines);
  request.simulate = [&](const Problem& of, const Schedule& schedule) {
    return simulated_figures(with(inputs->instance, of), schedule, *clock);
  };
  request.layouts = inputs->open;
  request.resolve = [&](const LayoutChoices& choices) { return problem_with(*inputs, choices); };
  request.optimum = !arguments.has("--no-solve");
  Scoreboard board;
  {
    const InterruptScope interrupt;
    ProgressLine progress(terminal);
    const auto settled = [&](const Scoreboard& so_far) {
      progress.show({fmt::format("{} contenders", so_far.contenders.size()), so_far.contenders.back().name});
    };
    board = solver::make_scoreboard(request, interrupt.token(), settled, listener_for(progress));
    if (const auto word = arguments.text("--sort"))
      board.sorted =
          *std::find_if(std::begin(kScoreColumns), std::end(kScoreColumns), [&](ScoreColumn c) { return *word == to_string(c); });
    board.trust = trust_in(inputs->kernel().reference, inputs->machine().arch, !inputs->changes().empty()).text;
  }
  TextStyle style = terminal.style;
  if (path != "-") style = {};
  int code = exit_code(board);
  for (const std::string& name : beyond_bound(board))
    terminal.complain(
        fmt::format("internal error: {} is valid and sustains less than the {} cycles that were proved", name, board.lower_bound));
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
