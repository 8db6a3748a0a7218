// The answer to "which machine number, some percent wrong, changes II or the order of the ops?".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/layout/choices.h"
#include "core/motion/period_parts.h"
#include "core/problem/problem.h"
#include "core/schedule/certificate.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// What becomes of the least II when the number is off in one direction.
struct SensitivitySide {
  bool same_problem = false;  ///< the percentage rounds to nothing, or nothing depends on the number
  std::string fault;          ///< such a number cannot be at all: a tile does not fit any more
  Cycle lower_bound = 1;      ///< kNoFiniteII: proved that no schedule exists
  Cycle ii = kNoFiniteII;     ///< of a schedule that passed the checker; kNoFiniteII: none is known
  /// The smallest II known for the present groups and order with other starts; nothing when none was found to be legal.
  std::optional<Cycle> in_order;
  Cycle order_bound = 1;             ///< of every schedule with the present groups and order
  std::optional<double> period{};    ///< with contention, of the present schedule's program; 0: it cannot run; none: not known
  std::vector<std::int64_t> values;  ///< what the number becomes, where it stands in the problem
  LayoutChoices layouts;             ///< of the schedule with this II, where layouts are open and it has others than at present

  bool proved() const { return fault.empty() && ii == lower_bound; }
  Status status() const {
    if (!fault.empty()) return Status::Invalid;
    if (lower_bound >= kNoFiniteII) return Status::Infeasible;
    return ii >= kNoFiniteII ? Status::Unknown : proved() ? Status::Optimal : Status::Feasible;
  }
  /// The present order, re-timed, is as good as any.
  bool order_stays() const { return in_order && *in_order == lower_bound; }
  /// Another order is better, or this one is not legal any more: proved.
  bool order_goes() const { return ii < kNoFiniteII && order_bound > ii; }
};

struct SensitivityRow {
  std::string number;                ///< as changes name it: "mma.ss.TC.duration"
  std::vector<std::int64_t> values;  ///< at present, where it stands in the problem
  std::vector<std::string> ops;      ///< whose costs it is
  SensitivitySide less, more;
};

/// "Order": the order of the ops on every stream and unit, their warp groups, and which iterations overlap.
enum class SensitivityEffect { Undecided, None, TooSmall, Order, II };
const char* to_string(SensitivityEffect effect);  ///< "undecided", "none", "too_small", "order", "ii"

struct Sensitivity {
  int percent = 10;
  Status status = Status::Unknown;  ///< of the present problem's II
  Cycle ii = 0, lower_bound = 0;
  std::string explanation;                         ///< why II is what it is at present
  std::optional<Schedule> schedule;                ///< the present one, whose order is tried; without one there are no rows
  std::optional<double> period{};                  ///< of its program, where the machine has contention
  std::vector<motion::PeriodAtEnds> contention{};  ///< the period at both ends of what is stated of each number of contention
  std::vector<SensitivityRow> rows;                ///< greatest effect first
  /// What is open about layouts (open_layouts_text()): every II, with every number, is the least over all of it. The present order is that
  /// of the layouts that are best at present. Empty: nothing is open.
  std::string layouts_open;
  LayoutChoices layouts;  ///< that the present schedule has, where some are open
  std::int64_t queries = 0;
  double seconds = 0;
  bool cancelled = false, timed_out = false;

  SensitivityEffect effect(const SensitivityRow& row) const;
  /// By how much II moves at most; kNoFiniteII when no schedule is left; 0 for what cannot be at all.
  Cycle swing(const SensitivityRow& row) const;
  bool complete() const;  ///< the present II is proved, and so is every row
};

/// Greatest effect first; rows of equal effect keep their order.
void sort_rows(Sensitivity& answer);

// The answer about wrong numbers in words and a table.

/// "6 numbers change II · 2 only the order · 31 neither ...": one line.
std::string sensitivity_headline(const Sensitivity& answer, const TextStyle& style);

/// With `all`, numbers without any effect have rows too.
std::string sensitivity_summary(const Problem& problem, const Sensitivity& answer, bool all, const TextStyle& style);

// The answer about wrong numbers as JSON: what `heddle sensitivity` prints with --json. Written only.

/// "rows" holds every number, greatest effect first; what is not known is null.
Json sensitivity_json(const Problem& problem, const Sensitivity& answer);
Json sensitivity_schema();

}  // namespace heddle
