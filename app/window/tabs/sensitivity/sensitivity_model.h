// Which number matters when it is some percent wrong, as rows with a swing to draw.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/session/session.h"
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
  std::vector<OpId> ops;  ///< whose cost it is
  bool proved() const;    ///< both ends
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

enum class SensitivityOrder { Effect, Number, Less, More };
/// Stable; ends without a schedule count as the greatest.
void sort_lines(std::vector<SensitivityLine>& lines, SensitivityOrder order, bool descending);
/// Tab-separated, with a header line.
std::string sensitivity_as_text(const SensitivityModel& model);

}  // namespace heddle::app
