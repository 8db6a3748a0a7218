// Why II is what it is, as a few cards: the reasons that bind, what giving way on each would buy, what binds next, what limits
// the schedule when it runs, and what is wrong with it if something is. Arithmetic says its part at once; the solver's
// answer takes its place where there is one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/window/parts/header_model.h"

namespace heddle::app {

/// One way out: a single change, and what it would buy.
struct ExplainStep {
  std::string change;  ///< "capacity of TC 1 → 2"
  std::string result;  ///< "II 1 280, proved; then SMEM binds"
  Tone tone = Tone::Neutral;
  bool gains = false, decided = true;
  std::optional<TryRelaxation> attempt;  ///< what "re-solve with this" does
  std::string why_not;                   ///< why it cannot be tried, where there is no attempt
};

struct ExplainCard {
  Tone tone = Tone::Neutral;
  UnitRole role = UnitRole::Other;  ///< colour of the edge when the tone is neutral
  std::string rule;                 ///< "unit", "dependence" ...: which kind of rule; may be empty
  std::string sentence;
  std::string detail;  ///< may be empty
  Highlight shown;     ///< what "show" points at; nothing when `why` is empty
  std::vector<ExplainStep> steps;
  std::string eased;  ///< the best of the steps in one line; empty without steps
};

struct ExplainModel {
  std::string title;      ///< "Why II 2 047 is impossible"
  std::string note;       ///< what kind of reason it is
  std::string cut_short;  ///< "time is up: 2 of 7 changes are not decided"; empty: the answer is whole
  std::vector<ExplainCard> cards;
  std::vector<std::string> remarks;  ///< what was shown about the cards, what was taken for granted, what is left open
  std::vector<std::size_t> core;     ///< indices of the constraints that leave no schedule
  std::string next;                  ///< "recurrence 1 640 · MUFU 1 024 ...": what would bind then
  bool solved = false;               ///< the cards are the solver's answer
  bool outdated = false;             ///< there is an answer, but to an earlier question
};

ExplainModel build_explain(const Session& session);

/// Reasons and ways out as a table for the clipboard.
std::string explain_as_text(const ExplainModel& model);

}  // namespace heddle::app
