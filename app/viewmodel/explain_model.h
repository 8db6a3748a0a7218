// Why II is what it is, as a few cards: the reason that binds, what binds next, what limits the schedule when it runs,
// and what is wrong with it if something is.
#pragma once

#include <string>
#include <vector>

#include "app/session/session.h"
#include "app/viewmodel/header_model.h"

namespace heddle::app {

struct ExplainCard {
  Tone tone = Tone::Neutral;
  UnitRole role = UnitRole::Other;  ///< colour of the edge when the tone is neutral
  std::string sentence;
  std::string detail;     ///< may be empty
  std::vector<OpId> ops;  ///< what "show" selects
};

struct ExplainModel {
  std::string title;  ///< "Why II 2 047 is impossible"
  std::string note;   ///< what kind of reason it is
  std::vector<ExplainCard> cards;
  std::vector<std::size_t> core;  ///< indices of the constraints that leave no schedule
  std::string next;               ///< "recurrence 1 640 · MUFU 1 024 ...": what would bind then
};

ExplainModel build_explain(const Session& session);

}  // namespace heddle::app
