// The scoreboard (core/answers/scoreboard.h) of one problem: every schedule at hand, every heuristic that applies, and the
// solver's own.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/answers/scoreboard.h"
#include "solver/baselines/baselines.h"
#include "solver/questions/choose_layouts.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct ScoreboardRequest {
  SolveRequest solve;                     ///< the problem, the demands, and the solver's limits
  std::vector<Contender> given;           ///< hand schedules and files: name, kind, about, schedule or why_not
  std::vector<BaselineChoice> baselines;  ///< those that do not apply say why
  bool optimum = true;                    ///< solve too
  /// Runs a schedule of that problem on the whole grid; an empty function: nothing is simulated.
  std::function<SimulatedFigures(const Problem&, const Schedule&)> simulate;
  /// Layouts that are open. Then others' ways to choose them take part, each with the best schedule that there is for it, and the solver
  /// chooses them with the schedule. What is given keeps the problem's own. The bound is that of all of them.
  std::optional<OpenLayouts> layouts;
  ResolveWith resolve;  ///< needed where layouts are open
};

/// All of them, with their defaults.
std::vector<BaselineChoice> all_baselines();

/// Called with the board so far after every contender.
using ScoreboardListener = std::function<void(const Scoreboard&)>;

/// Hand schedules first, then heuristics, the solver last. A request to stop leaves what has been settled.
Scoreboard make_scoreboard(const ScoreboardRequest& request, std::stop_token stop = {}, const ScoreboardListener& settled = {},
                           const SolveListener& listener = {});

}  // namespace heddle::solver
