// Which number, some percent wrong, changes the least II or the order of the ops.
//
// Arithmetic first: a number is settled when the bound of the problem with it meets the present schedule, as it stands or with
// its starts moved in the same order. Of the others, those that only relax the problem are tried together: II - 1 refuted with
// all of them relaxed at once is refuted with any one; a set that does allow a smaller II is halved. What is left gets a solve
// of its own.
//
// With layouts left open there are two problems instead of each one: that of the layouts that are best at present, whose schedules are
// schedules; and that with every number at its least over all layouts (easiest(), core/instance/layout_decisions.h), whose bounds are
// bounds over all of them. A solve of its own is one over the layouts too.
#pragma once

#include <functional>
#include <stop_token>

#include "core/answers/sensitivity.h"
#include "core/base/result.h"
#include "core/problem/changes.h"
#include "solver/questions/choose_layouts.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct SensitivityRequest {
  SolveRequest solve;  ///< the present problem; its objectives choose the schedule whose order is tried
  Changes numbers;     ///< core/problem/changes.h; their effect is ignored
  int percent = 10;    ///< 1 to 99
  /// The present problem with changed numbers.
  std::function<Result<Problem>(const Changes&)> problem_with;

  // With layouts left open:
  std::function<Result<OpenLayouts>(const Changes&)> open_with;  ///< empty: none are
  std::function<Result<Problem>(const Changes&, const LayoutChoices&)> problem_with_layouts;
};

using SensitivityListener = std::function<void(const Sensitivity&)>;

/// Never throws; a stop request or the time limit ends it with what is known, marked as such.
Sensitivity sensitivity(const SensitivityRequest& request, std::stop_token stop = {}, const SensitivityListener& grown = {});

}  // namespace heddle::solver
