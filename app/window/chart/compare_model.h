// A beside B, ready to be drawn: numbers, ops, B's own chart on A's axis, and B's bars as ghosts on A's rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "app/window/chart/chart_overlay.h"
#include "app/window/chart/chart_view.h"
#include "app/window/kit/column.h"
#include "core/answers/difference.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {

/// A bar of B where it would lie in the chart of A.
struct OtherBar {
  OpId op;
  int iteration = 0;
  std::size_t row = 0;  ///< of A's chart
  int lane = 0;
  Cycle begin = 0, end = 0;
  bool differs = false;
  bool elsewhere = false;  ///< B has it in another group, or on a row that A's chart does not have: drawn on A's row of the op
  std::string label;
};

struct CompareModel {
  ComparedSchedule a, b;  ///< their schedules live in the entries below
  EntryPtr entry_a, entry_b;
  Alignment alignment;
  Difference difference;
  std::vector<MetricRow> metrics;
  std::vector<OpDifferenceRow> ops;
  Schedule aligned_b;  ///< B with every start shifted
  GanttModel chart_b;  ///< of it
  ChartOverlay overlay_a, overlay_b;
  std::vector<OtherBar> others;
  std::string title_a, title_b;  ///< "A  solver #3 · II 2 048 · period 2 048 · proved"
  std::string axis;              ///< how to read the shared axis; empty when nothing needs saying
  std::string relation;          ///< "different programs; consumer A: after QK0, ..."
};

/// Nothing without an A and a B. `chart_a` is the chart of A in the session's mode, `overlay_a` what lies on it already.
std::optional<CompareModel> build_compare(const Session& session, const GanttModel& chart_a, const ChartOverlay& overlay_a);

/// What is looked at of the op table.
struct CompareFilter {
  bool only_differences = true;
  std::optional<CycleRange> range;  ///< only ops with a bar of A or of B in it
};

std::vector<OpDifferenceRow> filtered(const CompareModel& model, const GanttModel& chart_a, const CompareFilter& filter);
/// They look up names in the problem, which must stay.
std::vector<Column<OpDifferenceRow>> op_difference_columns(const Problem& problem);

/// Both tables as lines of tab-separated fields, numbers ungrouped, with a title line each.
std::string compare_tsv(const Problem& problem, const CompareModel& model, const std::vector<OpDifferenceRow>& rows);

/// Why the II of a schedule is what it is: the limiting cycle where the period reaches II, what the solver proved, or that the
/// order could run faster.
std::string why_this_ii(const ScheduleEntry& entry);

}  // namespace heddle::app
