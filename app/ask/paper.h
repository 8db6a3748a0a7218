// The Twill paper's pipeline to the letter, and what its schedule is worth at native cycles: put to the solver, and told.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/ending.h"
#include "core/answers/paper.h"
#include "core/base/result.h"

namespace heddle::app {

struct PaperOptions {
  std::int64_t u = 300;                  ///< limit on the sum of normalized costs
  std::vector<std::string> ablations{};  ///< by name
  std::vector<std::string> switches{};   ///< "NAME=VALUE": what the paper leaves open, as it is decided; `u` may be one of them
  bool operator==(const PaperOptions&) const = default;
};

/// Everything that the paper leaves open, as these options decide it. Faults: of the switches.
Result<std::vector<PaperSetting>> paper_settings(const PaperOptions& options);

/// Pre: paper_settings() has no faults.
PaperAnswer ask_paper(const Subject& subject, const PaperOptions& options, std::stop_token stop, const Listener<PaperAnswer>& listener);
Ended ended(const PaperAnswer& answer);
std::string told(const Subject& subject, const PaperAnswer& answer, const Telling& how);

}  // namespace heddle::app
