// What the truth tab keeps between frames.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "app/window/kit/plot.h"
#include "app/window/tabs/truth/truth_model.h"

namespace heddle::app {

enum class TruthPage { Plot, Rows, Kinds, Pairs, Row };

struct TruthTabState {
  TruthPage page = TruthPage::Plot;
  std::optional<std::size_t> only;  ///< the kind that alone is shown
  PlotState plot;
  TableOrder rows_order, kinds_order, pairs_order;

  // Worked out once per answer and choice.
  std::shared_ptr<const TruthAnswer> seen;
  std::optional<std::size_t> seen_only;
  TruthModel model;
  std::vector<TruthRow> rows;  ///< those shown, sorted
};

}  // namespace heddle::app
