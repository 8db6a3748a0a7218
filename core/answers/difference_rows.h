// Two schedules beside each other, number by number and op by op: rows that the window's Compare tab, `heddle diff` and its
// tests share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/difference.h"
#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/chart/chart_layout.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "core/schedule/certificate.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// One of the two, with all that is said about it.
struct ComparedSchedule {
  std::string name;
  const Schedule* schedule = nullptr;
  Status status = Status::Unknown;
  std::optional<Cycle> lower_bound;  ///< proved by this process; none for schedules without certificate
  Verdict verdict;
  Period period;
  Usage usage;
};

/// Judges and measures. The standing is what the certificate says where it is one of this problem, as long as the verdict
/// agrees. Pre: the sizes fit, and `schedule` outlives the result.
ComparedSchedule measure(const Problem& problem, const Schedule& schedule, const Constraints& constraints, std::string name);

/// How numbers are written: `grouped` for people in the window, `ungrouped` where text may be read by programs too.
using NumberText = std::string (*)(std::int64_t);
std::string ungrouped(std::int64_t number);

/// "II 2 048 · bound 2 048 · proved"
std::string standing(const ComparedSchedule& one, NumberText number = grouped);

struct MetricRow {
  std::string name;
  std::string a, b;              ///< as people read them; "-" where there is nothing
  std::string change;            ///< of B against A, in words: "242 more (12 %)"; empty when they are the same
  int direction = 0;             ///< B is +1 greater, -1 smaller, 0 the same or no number
  int better = 0;                ///< +1: B is better, -1: A is; 0 where neither is better by itself
  bool differs() const { return a != b; }
};

/// II and its standing, period, stages, length, groups, warps, units, registers, memories, rings, verdict.
std::vector<MetricRow> metric_rows(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b,
                                   const Difference& difference, NumberText number = grouped);

/// A row of the op table.
struct OpDifferenceRow {
  OpId op;
  OpDifference difference;
  Cycle a_slot = 0, b_slot = 0;
  int a_stage = 0, b_stage = 0;
  std::string a_group, b_group;  ///< what each schedule calls it
  std::string change;            ///< "128 later, other group"; empty when nothing differs
};
/// In op order, all ops.
std::vector<OpDifferenceRow> op_difference_rows(const Problem& problem, const Schedule& a, const Schedule& b, const Difference& difference,
                                                NumberText number = grouped);

/// "the same schedule", "the same program with other idle times", "different programs"
const char* relation(const Difference& difference, const Schedule& a, const Schedule& b);
/// What the alignment does: "aligned at II start", "aligned at QK0: B shown 128 cycles earlier".
std::string describe(const Alignment& alignment, const Problem& problem, Cycle shift, NumberText number = grouped);

}  // namespace heddle
