// "What if this number were different?" at once, without the solver: what the shown schedule is worth then, and how far it
// goes. Everything is judged by the checker; one judgement is cheap enough for a frame of a drag.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/commands.h"
#include "app/session/document.h"
#include "app/window/kit/column.h"
#include "core/answers/latency.h"

namespace heddle::app {

/// A number of one op, as a slider shows it.
struct WhatIfNumber {
  OpId op;
  Change number;                      ///< which one; its effect and value mean nothing here
  std::string label;                  ///< "latency", "TC duration"
  std::int64_t base = 0;              ///< without a change of just this number
  std::int64_t now = 0;               ///< with all changes in force
  std::int64_t low = 0, high = 0;     ///< half to double the base; a little room where that is nothing
  std::optional<std::size_t> change;  ///< which of the content's changes sets just this number

  bool operator==(const WhatIfNumber& other) const { return op == other.op && same_number(number, other.number); }
};

/// Latency first, then how long it holds each unit. Empty without a problem or such an op.
std::vector<WhatIfNumber> numbers_of_op(const Content& content, OpId op);

/// The content's changes with the number at `value`.
Changes changes_with(const Content& content, const WhatIfNumber& number, std::int64_t value);

/// What is left of a schedule when the number is `value`.
struct WhatIfTrial {
  enum class Fate {
    Nothing,    ///< there is no schedule to judge, or it breaks a rule already
    Valid,      ///< start for start
    Refitted,   ///< start for start, with ring depths and register budgets chosen again
    Retimed,    ///< same groups and order, other starts, same II
    Longer,     ///< the same with a greater II
    Broken,     ///< none of these
    Impossible  ///< there is no such problem
  };
  std::int64_t value = 0;
  Fate fate = Fate::Nothing;
  std::shared_ptr<const Problem> problem;  ///< null when impossible
  std::optional<Schedule> schedule;        ///< what is left, accepted by the checker; none when broken
  Cycle least_ii = 0;                      ///< no schedule of that problem has a smaller II, by arithmetic
  std::string sentence;                    ///< "this schedule stays valid"
  std::string objection;                   ///< what the checker says to the unchanged starts; empty when nothing
  /// "period 2446.5 → 2391.0 in this order", where a period decides (core/simulate/forecast.h); solving again finds the least.
  std::string period;
};

WhatIfTrial try_value(const Content& content, const WhatIfNumber& number, std::int64_t value);

/// How far the shown schedule goes. Sought a little at a time, so that a big kernel does not hold up a frame: `step` makes one
/// judgement.
class WhatIfReach {
 public:
  WhatIfReach() = default;
  WhatIfReach(const Content& content, const WhatIfNumber& number);

  /// True while there is more to find out.
  bool step();
  bool done() const { return phase_ == Phase::Done; }
  /// The largest value for which the checker accepts the schedule as it is; kUnlimited when there is no end. None: not known yet,
  /// or there is nothing to say.
  const std::optional<std::int64_t>& valid_to() const { return valid_to_; }
  /// At least up to here the same groups and order keep II with other starts, as far as the slider goes.
  const std::optional<std::int64_t>& retimed_to() const { return retimed_to_; }
  /// What the checker objects to one cycle later.
  const std::string& objection() const { return objection_; }
  /// "this schedule stays valid up to 524"; empty until that is known.
  std::string sentence() const;

 private:
  enum class Phase { Strict, Grow, Far, Halve, RetimeEnd, Retime, Done };
  bool accepted(std::int64_t value);
  bool retimed(std::int64_t value) const;
  void found(std::int64_t valid_to);

  Content content_;
  WhatIfNumber number_;
  Phase phase_ = Phase::Done;
  std::int64_t good_ = 0, bad_ = 0, stride_ = 1;
  std::optional<std::int64_t> valid_to_, retimed_to_;
  std::string objection_, refused_;
};

/// The command that puts the number at `value`: a change, or taking back the change that it had.
Command change_to(const Content& content, const WhatIfNumber& number, std::int64_t value, bool solve);

/// One stretch of latencies with the same II, or with one that grows evenly.
struct LatencyRow {
  LatencySegment segment;
  std::string latencies, ii, status;  ///< "276 to 812", "2 048", "proved"
  bool now = false;                   ///< the present latency is among them
};
std::vector<LatencyRow> latency_rows(const LatencyRange& answer);
std::vector<Column<LatencyRow>> latency_columns();
/// "II 2 048 until 812, then 2 160, proved"
std::string latency_sentence(const LatencyRange& answer);
std::string latency_as_text(const LatencyRange& answer);

/// A change in force or switched off, as a line of the list.
struct ChangeRow {
  std::string number, value;  ///< "exp0.latency", "600"
  std::string was;            ///< "552": what the number is without it; empty where that is no single number
  bool enabled = true;
};
std::vector<ChangeRow> change_rows(const Content& content);

}  // namespace heddle::app
