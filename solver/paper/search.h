// Algorithm 1 of the paper: I from 1 upward; at each I the shortest modulo schedule gives L; the joint problem is asked for
// that L and the longer ones with the same number of copies; the first success ends it.
//
// With the switch `accelerate` the answer is the same (I, L), found faster: I starts at the arithmetic bound; a window is
// asked at its last L first, because a schedule of length L is one of length L + 1; and after the first refuted window the
// joint problem is asked at serial_cycles(G), where one iteration follows the other: whatever works at some I works there
// (stretch one copy so that distinct starts no longer overlap; lifetimes keep their order), so a refutation ends the search.
#pragma once

#include <functional>
#include <vector>

#include "core/answers/paper.h"
#include "solver/paper/graph.h"
#include "solver/paper/joint.h"
#include "solver/z3/backend.h"

namespace heddle::solver::paper {

struct SearchProgress {
  const char* phase = "";  ///< "modulo schedule" or "joint schedule"
  Cycle ii = 0, length = 0;
};
using SearchListener = std::function<void(const SearchProgress&)>;

struct SearchResult {
  Status status = Status::Unknown;  ///< Optimal: ran through; Feasible: I stands, L may be shorter; Infeasible: no I works; Unknown:
                                    ///< stopped, out of time
  std::string why;
  Cycle modulo_ii = 0, modulo_length = 0;
  Cycle ii = 0, length = 0;
  JointSchedule schedule;
  std::vector<PaperWindow> windows;
  double modulo_seconds = 0, joint_seconds = 0;
};

/// What a search is given beside its question.
struct SearchRun {
  std::uint64_t seed = 0;
  QueryLimits limits{};
  SearchListener listener{};
};

SearchResult algorithm1(const PaperGraph& graph, const Options& options, const SearchRun& run = {});

/// Only the window of one I; I = 0: of the smallest I that has a modulo schedule.
SearchResult one_window(const PaperGraph& graph, const Options& options, Cycle ii, const SearchRun& run = {});

}  // namespace heddle::solver::paper
