// Where rows and ticks of a timeline go, for every picture of one: the window and SVG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chart/gantt_model.h"

namespace heddle {

/// Pixels.
struct RowMetrics {
  float lane = 26;           ///< height of one lane
  float group_padding = 6;   ///< above and below the rows of a group
  float group_gap = 2;       ///< between groups
  float group_minimum = 40;  ///< room for a group's two lines of text
};

struct RowBox {
  float top = 0, height = 0;  ///< relative to the first group's top
};

struct ChartLayout {
  std::vector<RowBox> rows, groups;
  float lane = 26;
  float height = 0;
  /// The row at this height, or the nearest row of the group where there is padding; nothing between and below groups.
  std::optional<std::size_t> row_at(const GanttModel& model, float y) const;
  /// Top of a bar's lane.
  template <class Bar>
  float lane_top(const Bar& bar) const {
    return rows[bar.row].top + static_cast<float>(bar.lane) * lane;
  }
};

ChartLayout layout_rows(const GanttModel& model, const RowMetrics& metrics);

/// Distance of labelled ticks that are at least `minimum` cycles apart: 1, 2 or 5 times a power of ten; a power of two
/// where II is a multiple of 64, so that windows and ticks agree. Never below 1.
Cycle tick_step(double minimum, Cycle ii);

/// "1 024": thousands apart, as every number of cycles is written.
std::string grouped(std::int64_t number);

/// "145 of 192 KiB", or in bytes where the whole is less than 10 KiB: how every amount of memory is written.
std::string bytes_of(std::int64_t part, std::int64_t whole);
/// "160", "24.5": KiB, with one digit after the point where they are not whole.
std::string kib(std::int64_t bytes);

}  // namespace heddle
