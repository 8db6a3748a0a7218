// The program of least period, as one more order for whoever chooses between orders, and what is then known of a period.
//
// Searches end after so many programs, not after so much time, so that an answer does not depend on how fast the machine is; time ends
// them only as a last resort. What was found is kept in this process: the same question comes again with every solve of a problem.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/answers/found_period.h"
#include "core/schedule/constraints.h"
#include "core/schedule/period_proof.h"
#include "solver/programs/least_program.h"

namespace heddle::solver {

/// Spaces of up to so many programs are run whole: attention with a causal mask has 119 137, which take some seconds.
inline constexpr std::int64_t kMostProgramsOfChoice = 150'000;
/// So many orders of a group are looked at before its space counts as too large; 10! / 4 are enough for ten ops.
inline constexpr std::int64_t kMostOrdersOfChoice = 1'000'000;
/// Of larger spaces so many changed programs are tried, times the ops of each, from so many beginnings.
inline constexpr std::int64_t kStepsOfChoice = 200'000;
inline constexpr std::size_t kBeginningsOfChoice = 3;

struct LeastOrderRequest {
  const Problem& problem;
  const Constraints& constraints;
  /// Legal ones, the fastest first, which says which ops share a group. Pre: there is one.
  std::vector<programs::KnownProgram> known;
  double seconds = 60;
  std::uint64_t seed = 0;
};

struct LeastOrder {
  std::shared_ptr<const programs::LeastProgram> found;
  programs::Rules rules;
  bool complete = false;  ///< it did not end for want of time

  /// Whose order it is: "least period" where it is the least of all programs, else "a search over programs".
  const char* name() const;
  /// The first program that is not of a known order, has a legal schedule, and is `wanted`.
  std::optional<Schedule> schedule(const Problem& problem, const std::function<bool(const Schedule&)>& wanted) const;
};

/// Pre: the problem's machine knows contention.
LeastOrder least_order(const LeastOrderRequest& request, const std::stop_token& stop, const programs::ProgressListener& listener);

/// The answer where a question asks for no more than the period.
struct LeastUnder {
  FoundPeriod period;
  Schedule schedule;  ///< of that program; passed the checker
  LeastOrder order;
};

/// least_order() from any known orders: those that break a rule or a demand, or have no deciding period (core/simulate/forecast.h), are
/// left out. Nothing where none is left, or when stopped before the first was run. An order that was found under some demands may be known
/// under fewer: then no demand is found to make a period shorter. Pre: chooses_by_period(problem).
std::optional<LeastUnder> least_under(LeastOrderRequest request, const std::stop_token& stop,
                                      const programs::ProgressListener& listener = {});

/// Gives the schedule's certificate the strongest statement on its period that the search gives and the checker bears out; none where the
/// program does not run. Returns what the checker objected to, empty: nothing. Pre: the schedule is legal and has a certificate.
std::string certify_period_of(const Problem& problem, const LeastOrder& least, Schedule& schedule);

}  // namespace heddle::solver
