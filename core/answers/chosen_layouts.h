// The answer to "which layouts and instructions, and which schedule, are best together?", and how it is put into words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/instance/layout_decisions.h"
#include "core/schedule/outcome.h"

namespace heddle {

struct ChosenLayouts {
  OpenLayouts question;
  std::vector<std::size_t> chosen;  ///< a candidate of each decision; as given where no schedule was found
  LayoutChoices choices;            ///< all of the problem's, those chosen among them
  Problem problem;                  ///< with them
  /// Of that problem. Its lower bound holds over every combination of candidates, and so does its status: that is what was proved. The
  /// schedule's certificate is about that problem alone, as a file's is.
  SolveOutcome outcome;
  std::optional<Cycle> asked_ii;  ///< decided for exactly this one
  int cases = 0;                  ///< sets of combinations that were solved or refuted, each at once
};

/// "the layouts and instructions of dqs0 and dqs1 that the catalogue of h100 offers (225 combinations in all, 1 after those that others
/// dominate are dropped)". Pre: there is a decision.
std::string open_layouts_text(const OpenLayouts& question);

/// Why there is no one problem whose front is that of all that is open (only_choices()).
std::string several_left_text(const OpenLayouts& question);

/// "II 2688 is the least over all schedules and the layouts and instructions of dqs0 and dqs1 that the catalogue of h100 offers (225
/// combinations in all, 1 after those that others dominate are dropped)". Says less where less was proved.
std::string layout_claim(const ChosenLayouts& answer);

/// A candidate as a row of a table.
struct CandidateRow {
  std::size_t decision = 0, candidate = 0;
  bool chosen = false, dominated = false;
  std::string why;  ///< "chosen", or why it is not
};
/// Decision by decision the chosen one, those that were open, then the dominated ones with the fewest cycles of the port.
std::vector<CandidateRow> candidate_rows(const ChosenLayouts& answer);
/// "15 candidates for dqs0, 14 of them dominated"
std::string decision_text(const LayoutDecision& decision);
/// The choices of a problem with what was chosen otherwise than as given: what puts the answer in force.
LayoutChoices choices_to_use(const ChosenLayouts& answer, LayoutChoices now);

/// A line for each decision with what was chosen; then every candidate that is not as good, the best few, and why it was not taken.
std::string chosen_layouts_text(const ChosenLayouts& answer, const TextStyle& style);

/// {"claim", "complete", "combinations", "left", "cases", "decisions": [{"values", "ops", "chosen", "candidates": [...]}]}.
Json chosen_layouts_json(const ChosenLayouts& answer);
Json chosen_layouts_schema(Json& definitions);

}  // namespace heddle
