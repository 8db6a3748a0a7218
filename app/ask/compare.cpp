#include "app/ask/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "app/ask/time_choice.h"
#include "core/library/contenders.h"
#include "core/library/trust.h"
#include "solver/questions/scoreboard.h"

namespace heddle::app {
namespace {

Result<std::vector<solver::BaselineChoice>> baselines_of(const CompareOptions& options) {
  if (!options.heuristics) return solver::all_baselines();
  std::vector<solver::BaselineChoice> choices;
  Error error;
  for (const std::string& text : *options.heuristics) {
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

}  // namespace

std::vector<Contender> contenders_with(const Subject& subject, std::vector<Contender> listed) {
  // A kernel of somebody else's may have the name of a shipped one.
  if (!subject.allows(SourceUse::KernelText)) return listed;
  std::vector<Contender> all = shelf_contenders(subject.problem());
  const std::vector<Contender> shipped = all;
  for (Contender& c : listed)
    if (std::none_of(shipped.begin(), shipped.end(),
                     [&](const Contender& s) { return s.schedule && same_program(*s.schedule, *c.schedule); }))
      all.push_back(std::move(c));
  return all;
}

Result<Ok> check_heuristics(const CompareOptions& options) {
  const Result<std::vector<solver::BaselineChoice>> baselines = baselines_of(options);
  return baselines ? Result<Ok>(Ok{}) : baselines.error();
}

Result<Scoreboard> ask_compare(const Subject& subject, const CompareOptions& options, std::vector<Contender> given, std::stop_token stop,
                               const Listener<Scoreboard>& listener) {
  Result<std::vector<solver::BaselineChoice>> baselines = baselines_of(options);
  if (!baselines) return baselines.error();
  const Instance& instance = subject.instance;
  solver::ScoreboardRequest request;
  request.solve = solve_request(subject);
  request.solve.incumbent.reset();  // what is given takes part anyway
  request.solve.ii = options.ii;
  if (!options.ii && !options.least_ii && subject.allows(SourceUse::OrderByTime)) request.solve.by_time = time_choice(instance);
  request.given = std::move(given);
  request.baselines = *std::move(baselines);
  request.simulate = [&](const Problem& of, const Schedule& schedule) {
    return simulated_figures(with(instance, of), schedule, options.clock);
  };
  if (!subject.left_open.empty()) {
    Result<OpenLayouts> open = what_is_open(subject);
    if (!open) return open.error();
    request.layouts = *std::move(open);
  }
  request.resolve = [&](const LayoutChoices& choices) { return problem_with(subject, choices); };
  request.optimum = options.optimum;
  const auto settled = [&](const Scoreboard& so_far) {
    const std::string& last = so_far.contenders.back().name;
    listener.tell({.doing = last + " measured", .facts = {fmt::format("{} contenders", so_far.contenders.size()), last}}, &so_far);
  };
  Scoreboard board = solver::make_scoreboard(request, std::move(stop), settled, listener.solve);
  board.sorted = options.sorted;
  board.trust = trust_in(instance.kernel().reference, instance.machine().arch, !instance.changes().empty()).text;
  return board;
}

Ended ended(const Scoreboard& board) {
  std::vector<std::string> complaints;
  for (const std::string& name : beyond_bound(board))
    complaints.push_back(
        fmt::format("internal error: {} is valid and sustains less than the {} cycles that were proved", name, board.lower_bound));
  if (!complaints.empty()) return {Ending::Internal, std::move(complaints)};
  if (board.cancelled) return Ending::Interrupted;
  return board.timed_out ? Ending::NoProof : Ending::Done;
}

}  // namespace heddle::app
