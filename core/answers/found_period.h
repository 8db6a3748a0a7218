// The least period that a search found under some demands, as a part of answers about several of them.
#pragma once

#include <optional>
#include <string>

#include "core/schedule/period_proof.h"

namespace heddle {

struct FoundPeriod {
  /// As the search says: schedules have passed the checker, but what is known of other programs was not counted by it, as it is where a
  /// schedule is certified.
  PeriodProof proof;
  std::string from{};  ///< whose order it is, "fa3"; empty: found by the search
  std::string why{};   ///< what keeps it from a better standing; empty: it is the least of all

  double cycles() const;  ///< an iteration, in the rule of motion
};

/// By how many cycles an iteration `dear` is longer than `cheap`. Differences in the last digits, in which it is only seen how a program
/// fell into step, are none.
double period_difference(const FoundPeriod& cheap, const FoundPeriod& dear);

/// "2446.3 cycles, least of all 75 082 programs"
std::string period_text(const FoundPeriod& found);

}  // namespace heddle
