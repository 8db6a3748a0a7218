// How others choose layouts and instructions, without a schedule in sight: what greed costs is the difference to choosing them together
// (solver/questions/choose_layouts.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/instance/layout_decisions.h"

namespace heddle::solver {

struct LayoutBaseline {
  std::string name;    ///< "hexcute"
  std::string about;   ///< one sentence
  std::string source;  ///< where the rules come from
  /// A candidate of each decision.
  std::vector<std::size_t> (*choose)(const OpenLayouts& layouts) = nullptr;
};

const std::vector<LayoutBaseline>& layout_baselines();

}  // namespace heddle::solver
