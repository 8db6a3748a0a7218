// The price of every user constraint, by warm re-solves of the same problem; and where a period decides, by as many searches for the
// program of least period.
#pragma once

#include <functional>
#include <stop_token>

#include "core/answers/price.h"
#include "solver/programs/least_program.h"
#include "solver/questions/choose_layouts.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct PriceListener {
  SolveListener solve;                                   ///< of the solve that is running
  std::function<void(const std::string& doing)> asking;  ///< "without pin S at 128"
  std::function<void(const ConstraintPrice&)> priced;
  programs::ProgressListener programs;  ///< of the search for a program that is running
};

/// Orders that searches for a least period begin with, whatever demands they keep: hand schedules, heuristics'. Called once, by whom it may
/// cost time.
using KnownPrograms = std::function<std::vector<programs::KnownProgram>(const std::stop_token&)>;

/// The request's constraints are priced; its II, incumbent and cutoff are ignored, its time limit is for everything together. With
/// `layouts` every optimum is the least over all schedules and all that is open, and what is said of layouts is priced like a constraint.
/// With `known` periods are asked too, behind II, in what is left of the time, a quarter at least; not where layouts are open, which would
/// be other problems.
Prices price_constraints(const SolveRequest& request, std::stop_token stop = {}, const PriceListener& listener = {},
                         const LayoutsLeftOpen* layouts = nullptr, const KnownPrograms& known = {});

}  // namespace heddle::solver
