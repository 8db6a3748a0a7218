// SWP-AND-WS(G, M, I, L): the joint problem of Figures 4 to 6 at one I and L, in two forms.
//
// Compact: one start s_v in [0, L - cycles(v)] per op, start(v, i) = s_v + i I, which takes UNIQUENESS, CONSISTENCY and
// COMPLETION along. Starts are Booleans "s_v >= t"; DEPENDENCE is one implication per t. CAPACITY need only hold modulo I,
// because in the steady state all copies run and elsewhere fewer do. Liveness still ranges over the whole straight-line
// program, as in Figure 5, but in one direction only: a value is live at least when it must be, which is all that the
// limits ask.
//
// Literal: the Booleans op[v,i,t] and live[v,i,t] and the formulas as printed.
#pragma once

#include <vector>

#include "solver/paper/graph.h"
#include "solver/z3/backend.h"

namespace heddle::solver::paper {

struct JointSchedule {
  std::vector<Cycle> starts;
  std::vector<std::vector<int>> warps;  ///< members of the pool, per op
};

struct JointQuery {
  Cycle ii = 1, length = 1;
  int pool = 0;                              ///< members that may be used; 0: all
  std::vector<std::vector<Cycle>> excluded;  ///< starts that are not wanted (again)
  std::uint64_t seed = 0;
};

struct JointAnswer {
  Answer answer = Answer::Unknown;
  JointSchedule schedule;  ///< when Yes
  std::size_t clauses = 0;
};

/// Never throws; Unknown when stopped or out of time, or (literal form) when the formulas would not fit in memory.
JointAnswer swp_and_ws(const PaperGraph& graph, const Options& options, const JointQuery& query, const QueryLimits& limits);

/// ceil(L / I)
inline Cycle copies_of(Cycle ii, Cycle length) { return (length + ii - 1) / ii; }

/// The schedule's starts judged by the definition, with no solver: dependence, capacity modulo I, completion. For tests.
bool valid_modulo_schedule(const PaperGraph& graph, Cycle ii, Cycle length, const std::vector<Cycle>& starts);

// The two forms; use swp_and_ws.
JointAnswer joint_compact(const PaperGraph& graph, const Options& options, const JointQuery& query, const QueryLimits& limits);
JointAnswer joint_literal(const PaperGraph& graph, const Options& options, const JointQuery& query, const QueryLimits& limits);

}  // namespace heddle::solver::paper
