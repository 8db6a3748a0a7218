// The three schedules of the open Triton kernel, ready to be drawn on one time axis.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "core/chart/gantt_model.h"
#include "core/triton/audit/comparison.h"

namespace heddle::app {

inline constexpr float kLeastOfThree = 74;  ///< pixels of height, at scale 1, that each of them needs

struct ThreeChart {
  triton::Whose whose{};
  std::shared_ptr<const Problem> problem;
  std::shared_ptr<const Schedule> schedule;
  GanttModel gantt;   ///< empty for the live one, whose chart the window has already
  std::string title;  ///< "best Triton could do · 2 890 cycles per iteration · 41.1 % more · 1 group, 8 warps · 96 KiB · proved"
};

struct ThreeModel {
  std::vector<ThreeChart> charts;  ///< those that there are, in the order of triton::kAllWhose; at least two
  std::size_t live = 0;            ///< the one that is the session's A
};

/// Nothing where fewer than two are known, where A is none of them, or where they are of other numbers than what is open.
std::optional<ThreeModel> build_three(const Session& session);

}  // namespace heddle::app
