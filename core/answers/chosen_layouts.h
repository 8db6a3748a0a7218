// The answer to "which layouts and instructions, and which schedule, are best together?", and how it is put into words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/problem/layout_decisions.h"
#include "core/schedule/outcome.h"

namespace heddle {

struct ChosenLayouts {
  OpenLayouts question;
  std::vector<std::size_t> chosen;  ///< a candidate of each decision; as given where no schedule was found
  LayoutChoices choices;            ///< all of the problem's, those chosen among them
  Problem problem;                  ///< with them
  /// Of that problem. Its lower bound holds over every combination of candidates: that is what was proved.
  SolveOutcome outcome;
  int cases = 0;  ///< sets of combinations that were solved or refuted, each at once
};

/// "II 2688 is the least over all schedules and all layouts that the catalogue of h100 offers for dqs0 and dqs1: 1936 combinations, 1 of
/// them not dominated, refuted below in 1 case." Says less where less was proved.
std::string layout_claim(const ChosenLayouts& answer);

/// A line for each decision with what was chosen; then every candidate that is not as good, the best few, and why it was not taken.
std::string chosen_layouts_text(const ChosenLayouts& answer, const TextStyle& style);

/// {"claim", "combinations", "left", "cases", "decisions": [{"values", "ops", "chosen", "candidates": [...]}]}.
Json chosen_layouts_json(const ChosenLayouts& answer);

}  // namespace heddle
