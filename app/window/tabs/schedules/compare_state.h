// What of the Compare tab is looked at.
#pragma once

#include <vector>

#include "app/jobs/ask_options.h"
#include "app/window/chart/compare_model.h"
#include "core/answers/scoreboard.h"
#include "core/library/library.h"

namespace heddle::app {

/// A against B; the scoreboard of everything; what the GPU says; what Twill's own formulation makes of the kernel.
enum class CompareView { Pair, Board, Race, Paper };

struct CompareTabState {
  CompareView view = CompareView::Pair;
  std::size_t picked = 0;  ///< contender of the scoreboard
  bool only_differences = true;
  TableOrder order{"A start"};              ///< of the ops
  ScoreColumn sorted = ScoreColumn::Place;  ///< of the scoreboard
  bool descending = false;
  AskOptions paper;                         ///< the question to Twill's formulation, as it will be asked
  std::shared_ptr<const Problem> shelf_of;  ///< whose schedules are on `shelf`
  std::vector<LibraryEntry> shelf;
};

}  // namespace heddle::app
