// Two schedules beside each other, number by number and op by op: what `heddle diff` and the window's Compare tab show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/difference.h"
#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "core/schedule/certificate.h"
#include "core/schedule/schedule.h"
#include "core/simulate/kernel_run.h"

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
  /// The whole kernel on the whole machine, predicted; 0 where it is not known.
  struct Predicted {
    Cycle cycles = 0;
    double microseconds = 0, speed = 0;
    const char* unit = "";  ///< of the speed: TFLOP/s, of a kernel without products GB/s
  } predicted;
};

/// What is predicted of a run without faults.
ComparedSchedule::Predicted predicted_of(const KernelRun& run);

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
  std::string a, b;    ///< as people read them; "-" where there is nothing
  std::string change;  ///< of B against A, in words: "242 more (12 %)"; empty when they are the same
  int direction = 0;   ///< B is +1 greater, -1 smaller, 0 the same or no number
  int better = 0;      ///< +1: B is better, -1: A is; 0 where neither is better by itself
  bool differs() const { return a != b; }
};

/// Predicted time and speed, II and its standing, period, stages, length, groups, warps, units, registers, memories, rings, verdict.
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

// Two schedules beside each other, as text.

/// One line: the relation, and where the programs part.
std::string difference_headline(const Difference& difference, const ComparedSchedule& a, const ComparedSchedule& b, const TextStyle& style);

/// Two schedules of a problem, compared.
struct ComparedPair {
  const Problem& problem;
  const ComparedSchedule &a, &b;
  const Difference& difference;
  const Alignment& alignment;
};
/// Headline, both standings with what limits them, numbers side by side, and the ops that differ (`all`: every op).
std::string difference_summary(const ComparedPair& pair, bool all, const TextStyle& style);

// Which ops two schedules put into the same warp groups, and which not.

/// A group of A with the group of B that it corresponds to, or one that only one of them has.
struct PartitionRow {
  std::string group;  ///< "wg0", "wg0 / consumer A" where the two call it differently
  std::vector<OpId> both, only_a, only_b;
};

/// Groups of A in their order, then those that only B has; none without ops.
std::vector<PartitionRow> partition_rows(const Problem& problem, const Schedule& a, const Schedule& b, const Difference& difference);

/// "load_0, mma_4"; "-" for none.
std::string op_names(const Problem& problem, const std::vector<OpId>& ops);

// Two schedules beside each other as JSON: what `heddle diff --json` prints. Written only.

Json difference_json(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b, const Difference& difference,
                     const Alignment& alignment);
Json difference_schema();

}  // namespace heddle
