// Which number matters when it is some percent wrong, as rows with a swing to draw.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "app/window/kit/column.h"
#include "core/answers/sensitivity.h"

namespace heddle::app {

/// II with the number off in one direction.
struct SensitivityEnd {
  enum class Kind {
    Same,        ///< the percentage rounds to nothing
    Known,       ///< proved
    Open,        ///< between `low` and `high`; kNoFiniteII: no schedule is known
    NoSchedule,  ///< proved
    Impossible   ///< such a number cannot be
  };
  Kind kind = Kind::Same;
  Cycle low = 0, high = 0;
  std::string text;    ///< "1 946 (-102)", "2 048 to 2 100", "no schedule"
  std::string values;  ///< what the number becomes: "461"
};

struct SensitivityLine {
  std::string number, now;  ///< as --set takes it; its present values
  SensitivityEnd less, more;
  std::string order;  ///< "stays", "another is better at -10 %"
  SensitivityEffect effect = SensitivityEffect::None;
  Cycle swing = 0;
  std::int64_t place = 0;  ///< among the lines, by effect
  std::vector<OpId> ops;   ///< whose cost it is
  bool proved() const;     ///< both ends
  bool without_effect() const { return effect == SensitivityEffect::None || effect == SensitivityEffect::TooSmall; }
};

struct SensitivityModel {
  int percent = 10;
  Cycle ii = 0;
  std::string headline;                ///< "53 numbers 10 % less and more: 2 change II, 2 only the order"
  std::vector<SensitivityLine> lines;  ///< greatest effect first
  std::size_t without_effect = 0;      ///< how many of the lines neither change II nor make another order better
  Cycle reach = 0;                     ///< the greatest change of II among the ends that are known: the scale of the bars
};

/// `problem` is the one that was asked about.
SensitivityModel build_sensitivity(const Problem& problem, const Sensitivity& answer);

/// Number, what it is now, II with less of it, swing, II with more of it, status, order. Sorting takes ends without a schedule for the
/// greatest.
std::vector<Column<SensitivityLine>> sensitivity_columns(const SensitivityModel& model);
/// Tab-separated, with a header line.
std::string sensitivity_as_text(const SensitivityModel& model);

}  // namespace heddle::app
