// Paper mode as a question: a problem and switches in, the paper's answer out, with what its schedule is worth at native
// cycles. The encoder behind it shares nothing with Heddle's own (solver/encoding), so that each can be checked against the
// other; only the comparison at the end uses core/analysis and solve().
#pragma once

#include <stop_token>
#include <vector>

#include "core/answers/paper.h"
#include "core/problem/problem.h"
#include "solver/paper/ablation.h"
#include "solver/paper/options.h"
#include "solver/paper/search.h"

namespace heddle::solver::paper {

struct Request {
  Problem problem;
  Options options;
  std::vector<Ablation> ablations;
  double timeout_seconds = 60;  ///< for everything together
  std::uint64_t seed = 0;
  bool native = true;  ///< also solve at native cycles, to compare
};

/// Never throws; a stop request takes effect within 100 ms. What was not decided is marked so.
PaperAnswer ask(const Request& request, std::stop_token stop = {}, const SearchListener& listener = {});

}  // namespace heddle::solver::paper
