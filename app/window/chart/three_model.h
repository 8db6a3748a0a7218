// The three schedules of the open Triton kernel, ready to be drawn on one time axis.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "core/chart/gantt_model.h"
#include "core/triton/comparison.h"

namespace heddle::app {

inline constexpr float kLeastOfThree = 74;  ///< pixels of height, at scale 1, that each of them needs

struct ThreeChart {
  triton::Whose whose{};
  std::shared_ptr<const Problem> problem;
  std::shared_ptr<const Schedule> schedule;
  GanttModel gantt;   ///< empty for the live one, whose chart the window has already
  std::string title;  ///< "Triton's · 3 612 cycles per iteration · II 3 612 · 12 % more than the best the machine could do"
  std::string note;   ///< "proved"
};

struct ThreeModel {
  std::vector<ThreeChart> charts;  ///< those that there are, in the order of triton::kAllWhose; at least two
  std::size_t live = 0;            ///< the one that is the session's A
};

/// Nothing where fewer than two are known, where A is none of them, or where they are of other numbers than what is open.
std::optional<ThreeModel> build_three(const Session& session);

}  // namespace heddle::app
