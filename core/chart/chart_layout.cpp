#include "core/chart/chart_layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle {

ChartLayout layout_rows(const GanttModel& model, const RowMetrics& metrics) {
  ChartLayout layout;
  layout.lane = metrics.lane;
  layout.rows.resize(model.rows.size());
  float y = 0;
  for (const GanttGroup& group : model.groups) {
    RowBox box{y, 0};
    y += metrics.group_padding;
    for (std::size_t r = group.first_row; r < group.first_row + group.rows; ++r) {
      layout.rows[r] = {y, metrics.lane * static_cast<float>(model.rows[r].lanes)};
      y += layout.rows[r].height;
    }
    y = std::max(y + metrics.group_padding, box.top + metrics.group_minimum);
    box.height = y - box.top;
    layout.groups.push_back(box);
    y += metrics.group_gap;
  }
  layout.height = layout.groups.empty() ? 0 : y - metrics.group_gap;
  return layout;
}

std::optional<std::size_t> ChartLayout::row_at(const GanttModel& model, float y) const {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (y < groups[g].top || y >= groups[g].top + groups[g].height || model.groups[g].rows == 0) continue;
    const std::size_t first = model.groups[g].first_row, last = first + model.groups[g].rows - 1;
    std::size_t row = first;
    while (row < last && y >= rows[row].top + rows[row].height) ++row;
    return row;
  }
  return std::nullopt;
}

Cycle tick_step(double minimum, Cycle ii) {
  if (ii % 64 == 0) {
    for (Cycle step = 1; step <= (Cycle{1} << 60); step *= 2)
      if (static_cast<double>(step) >= minimum && (ii % step == 0 || step % ii == 0)) return step;
  }
  for (Cycle decade = 1; decade < 1'000'000'000'000'000; decade *= 10)
    for (const Cycle digit : {1, 2, 5})
      if (static_cast<double>(digit * decade) >= minimum) return digit * decade;
  return 1'000'000'000'000'000;
}

std::string grouped(std::int64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') out += ' ';
    out += digits[i];
  }
  return out;
}

std::string bytes_of(std::int64_t part, std::int64_t whole) {
  if (whole < 10 * 1024) return fmt::format("{} of {} B", grouped(part), grouped(whole));
  return fmt::format("{} of {} KiB", kib(part), kib(whole));
}

std::string kib(std::int64_t bytes) {
  // Rounded to a tenth, away from a ".0" that would be shown for nothing.
  const std::int64_t tenths = (bytes * 10 + 512) / 1024;
  return tenths % 10 == 0 ? grouped(tenths / 10) : fmt::format("{}.{}", grouped(tenths / 10), tenths % 10);
}

}  // namespace heddle
