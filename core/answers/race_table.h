// A race as a table: programs in the order of their times, the model beside what was measured; those that were left out at its end.
#pragma once

#include <string>
#include <vector>

#include "core/records/race.h"

namespace heddle {

struct RaceRow {
  std::string rank;     ///< "1"; "-": left out
  std::string program;  ///< with its other names
  std::string model, cycles, cold_us, sustained_us;
  std::string settled;   ///< that it comes before the next: "yes", "not settled"; empty: there is none
  std::string left_out;  ///< why
  std::size_t racer = 0;
};
std::vector<RaceRow> race_rows(const Race& race);

/// "model against measured: rank correlation 0.73 (Kendall's tau-b)"
std::string correlation_text(const Race& race);
/// "12 rounds in 40 s; ranks are settled"
std::string rounds_text(const Race& race);

}  // namespace heddle
