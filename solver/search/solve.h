// The search: bounds by arithmetic, bisection on II, then the lexicographic objectives, each proved or marked.
//
// A request is a value and so is every event; nothing of Z3 leaves the .cpp files. `solve` runs on the calling thread; a
// stop request takes effect within 100 ms (a helper thread interrupts Z3 repeatedly, because an interrupt that arrives
// before a query starts is lost). Same request and seed give the same schedule, unless a time limit was hit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/outcome.h"
#include "core/simulate/uncertain.h"

namespace heddle::solver {

struct TimeChoice;  // solver/questions/fastest.h

enum class Objective { Stages, Warps, Smem, Tmem, Registers };

struct SolveRequest {
  Problem problem;
  Constraints constraints;
  std::optional<Cycle> ii;      ///< decide exactly this II; nothing is claimed about smaller ones
  double timeout_seconds = 60;  ///< for everything together
  std::uint64_t seed = 0;
  int max_stages = 6;  ///< a refutation covers every schedule of at most this many stages
  std::vector<Objective> objectives{Objective::Stages, Objective::Warps, Objective::Smem, Objective::Tmem, Objective::Registers};

  // What the caller knows already, for questions that solve many problems of one kind.
  Cycle known_bound = 0;  ///< proved elsewhere (on a relaxation, say): no schedule has a smaller II
  std::string known_bound_why;
  std::optional<int> known_bound_stages;  ///< it speaks of schedules of at most so many stages; none: of all
  std::optional<Schedule> incumbent;      ///< to start from; ignored unless the checker accepts it
  /// Stop as soon as the lower bound reaches this: the caller has something as good. The outcome is Unknown or Feasible.
  std::optional<Cycle> cutoff;
  bool explain = true;  ///< where there is no schedule, look for the constraints that are to blame
  /// Of the schedules of least II the one whose order stands these numbers best, instead of the one that the objectives choose; and of
  /// those whose II is up to `within_percent` above the least (solver/search/robust.h).
  std::shared_ptr<const UncertainNumbers> uncertain;
  int within_percent = 0;
  /// Of all orders at hand the one that is predicted to be fastest. solve() does not look at it: solve_for_time() does
  /// (solver/questions/fastest.h).
  std::shared_ptr<const TimeChoice> by_time;
};

// What happens while it runs, in order; each is complete in itself.
struct Started {
  Cycle res_mii = 0, rec_mii = 0, issue_mii = 0;
  std::string explanation;
};
struct BoundRaised {
  Cycle lower_bound = 0;
  std::string why;
};
struct Incumbent {
  Schedule schedule;
};  ///< passed the checker
struct ObjectiveSettled {
  ObjectiveValue objective;
};
struct Progress {
  std::string phase;
  Cycle ii_under_test = 0;
  std::int64_t queries = 0, conflicts = 0;
  double seconds = 0;
};
struct LogLine {
  std::string text;
};
using SolveEvent = std::variant<Started, BoundRaised, Incumbent, ObjectiveSettled, Progress, LogLine>;
using SolveListener = std::function<void(const SolveEvent&)>;

/// Where time runs out, or a stop comes, before the search has found anything, the answer is one op after the other, if that is legal;
/// SolveOutcome::serial says so. What can be seen by arithmetic not to fit (core/analysis/shortage.h) is infeasible at once.
SolveOutcome solve(const SolveRequest& request, std::stop_token stop = {}, const SolveListener& listener = {});

/// "Z3 4.15.4", as schedules and answers name it.
std::string solver_version();

}  // namespace heddle::solver
