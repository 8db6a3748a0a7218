// What the What if tab and the inspector's sliders keep between frames.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/kit/plot.h"
#include "app/window/parts/what_if_model.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {

struct WhatIfState {
  // About the selected op; made again when op, problem or schedule are others.
  OpId op;
  std::shared_ptr<const Problem> problem;
  EntryPtr entry;
  std::vector<WhatIfNumber> numbers;
  std::vector<WhatIfReach> reaches;  ///< of each number
  bool busy = false;                 ///< in this frame: not all is known yet

  // While a slider is dragged.
  std::optional<WhatIfNumber> dragged;
  std::int64_t value = 0;
  std::int64_t began_at = 0;
  float pressed_x = 0;
  bool given_up = false;  ///< Escape: nothing follows until the button is released
  std::optional<WhatIfTrial> trial;
  std::optional<GanttModel> gantt;  ///< of the trial: what the chart shows meanwhile
  std::optional<Schedule> drawn;

  std::vector<ChangeRow> changes;  ///< of `changes_of`
  std::shared_ptr<const Problem> changes_of;
  bool solve_on_release = true;
  char sentence[256] = "";
  std::string complaint, hint;        ///< about the sentence
  std::optional<std::size_t> edited;  ///< which change's value is in the field
  char value_text[64] = "";
  bool edit_opened = false;
  TableOrder order{"latency"};  ///< of the steps
  PlotState plot;
};

}  // namespace heddle::app
