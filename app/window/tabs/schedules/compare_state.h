// What of the Compare tab is looked at.
#pragma once

#include <string>
#include <vector>

#include "app/window/chart/compare_model.h"
#include "core/answers/scoreboard.h"
#include "core/library/library.h"

namespace heddle::app {

struct CompareTabState {
  bool board = false;      ///< the scoreboard of everything instead of A against B
  std::size_t picked = 0;  ///< contender of the scoreboard
  bool only_differences = true;
  TableOrder order{"A start"};              ///< of the ops
  ScoreColumn sorted = ScoreColumn::Place;  ///< of the scoreboard
  bool descending = false;
  std::shared_ptr<const Problem> shelf_of;  ///< whose schedules are on `shelf`
  std::vector<LibraryEntry> shelf;
};

}  // namespace heddle::app
