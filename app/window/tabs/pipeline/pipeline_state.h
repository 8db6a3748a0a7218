// What the Pipeline tab remembers between frames.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/chart/pipeline_text.h"

namespace heddle::app {

struct PipelineState {
  std::optional<PipelineText> text;  ///< of the shown schedule
  std::uint64_t built_revision = 0;
  std::set<std::string> folded;  ///< "group/section" whose lines are hidden
  std::size_t first = 0;         ///< the first group on screen, where there is no room for all
  char find[64] = "";
  int match = 0;  ///< the line that Enter brought into view, counted over all matches
  bool jump = false;
};

}  // namespace heddle::app
