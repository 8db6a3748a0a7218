// Why is II not smaller, or why is there no schedule at all? Arithmetic where it is reason enough, else a minimal core of the
// refutation, re-checked; and what giving way on each member alone would buy.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/answers/explanation.h"
#include "core/instance/layout_decisions.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct ExplainRequest {
  /// `ii`: why has exactly this one no schedule? Without it: why is the least II not smaller? Objectives are not looked at;
  /// `timeout_seconds` is for everything together.
  SolveRequest solve;
  std::optional<double> relax_seconds;  ///< at most so long for all ways out together; 0: none
  std::optional<OpenLayouts> layouts;   ///< of the same problem: other layouts and instructions are ways out, too
};

/// What is known already, as it becomes known. All may be empty.
struct ExplainListener {
  SolveListener solve;
  std::function<void(const std::string& doing)> progress;
  std::function<void(const WayOut&)> relaxed;
  std::function<void(const Explanation& so_far)> known;  ///< the reasons first, then with every way out that was tried
};

/// Never throws. A stop request takes effect within 100 ms; what is known by then is the answer, and says so.
Explanation explain(const ExplainRequest& request, std::stop_token stop = {}, const ExplainListener& listener = {});

}  // namespace heddle::solver
