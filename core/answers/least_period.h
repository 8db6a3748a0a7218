// The least period of a kernel's programs in the rule of motion (core/motion/motion.h), beside the periods of the schedules at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/answers/found_period.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/motion/period_parts.h"
#include "core/problem/problem.h"
#include "core/schedule/period_proof.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct RankedPeriod {
  std::string name;           ///< "fa3", "tawa"; "as given"; "found": by the search
  double cycles = 0;          ///< 0: it cannot run
  std::optional<Cycle> ii{};  ///< of its schedule
  std::string why{};          ///< it cannot run: why
};

/// The orders of one warp group's ops.
struct OrdersOfGroup {
  std::string group;
  std::int64_t seen = 0, keep_dependences = 0, fit = 0, differ = 0;  ///< each of those before
};

/// What becomes of the period if a number were another one.
struct PeriodIf {
  std::string change;                  ///< "exp0.latency=600"
  std::string fault{};                 ///< such a number cannot be; empty: it can
  std::optional<double> in_order{};    ///< of the answer's order, which stays; none: it cannot run
  std::optional<FoundPeriod> least{};  ///< none: no order that is known keeps the rules then, or the time was over
};

struct LeastPeriod {
  PeriodStanding standing = PeriodStanding::ByPrediction;
  std::string sentence;  ///< for a certificate: what is claimed, and nothing more
  std::string why;       ///< what keeps it from a better standing; empty: it is the least of all
  std::optional<Schedule> schedule;
  std::string from;                  ///< a schedule's name, or empty: found by the search
  std::vector<std::string> streams;  ///< the ops of each group, in order
  double cycles = 0;
  std::optional<motion::PeriodParts> parts{};  ///< what the period consists of; none without contention
  double bound = 0;                            ///< cycles
  std::string bound_sentence;
  std::vector<RankedPeriod> ranked;  ///< the answer, and every schedule at hand, the shortest first
  std::vector<OrdersOfGroup> orders;
  std::vector<PeriodIf> what_if;  ///< of each change that was asked about
  std::int64_t programs = 0, compared = 0;
  std::string digest;  ///< of all programs
  bool cancelled = false;
  double seconds = 0;
};

std::string least_period_summary(const Problem& problem, const LeastPeriod& answer, const TextStyle& style);
Json least_period_json(const Problem& problem, const LeastPeriod& answer);
Json least_period_schema();

}  // namespace heddle
