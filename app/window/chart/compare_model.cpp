#include "app/window/chart/compare_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "app/session/prediction_state.h"
#include "core/answers/difference.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

ComparedSchedule compared(const Session& session, const ScheduleEntry& entry) {
  ComparedSchedule one;
  one.name = entry.name;
  one.schedule = &entry.schedule;
  one.status = entry.status;
  one.lower_bound = entry.lower_bound;
  one.verdict = entry.verdict;
  one.period = entry.period;
  one.usage = entry.usage;
  if (const auto answer = session.predictions().of(session.content(), entry)) one.predicted = predicted_of(answer->kernel);
  return one;
}

std::string title_of(const ComparedSchedule& one) { return one.name + " · " + standing(one); }

/// What two windows of different length on one axis mean.
std::string axis_note(const ComparedSchedule& a, const ComparedSchedule& b, GanttMode mode) {
  const Cycle in_a = a.schedule->ii, in_b = b.schedule->ii;
  if (in_a == in_b) return {};
  if (mode == GanttMode::Steady) return fmt::format("one window of each: A ends at {}, B at {}", grouped(in_a), grouped(in_b));
  return fmt::format("one clock for both: B falls {} {} cycles every iteration", in_b > in_a ? "back" : "ahead",
                     grouped(std::abs(in_b - in_a)));
}

std::vector<OtherBar> others_of(const CompareModel& model, const GanttModel& chart_a) {
  const Schedule& a = *model.a.schedule;
  std::vector<std::size_t> own_row(a.ops.size());
  std::vector<int> own_lane(a.ops.size());
  for (const GanttBar& bar : chart_a.bars) {
    own_row[bar.op.index()] = bar.row;
    own_lane[bar.op.index()] = bar.lane;
  }
  std::vector<OtherBar> others;
  for (const GanttBar& bar : model.chart_b.bars) {
    const std::size_t op = bar.op.index();
    const GanttRow& row_b = model.chart_b.rows[bar.row];
    const GroupId group = model.difference.groups[row_b.group.index()];
    OtherBar other{bar.op, bar.iteration, own_row[op], own_lane[op], bar.begin, bar.end, model.difference.ops[op].differs(),
                   true,   bar.label};
    for (std::size_t r = 0; r < chart_a.rows.size() && group.valid(); ++r) {
      if (chart_a.rows[r].group != group || chart_a.rows[r].role != row_b.role) continue;
      other.elsewhere = false;
      if (r != other.row) other.lane = 0;
      other.row = r;
    }
    others.push_back(std::move(other));
  }
  return others;
}

}  // namespace

std::string why_this_ii(const ScheduleEntry& entry) {
  if (entry.period.deadlock) return "it deadlocks: " + entry.period.sentence;
  const Cycle ii = entry.schedule.ii, period = entry.period.cycles();
  if (period < ii && entry.status != Status::Optimal)
    return fmt::format("its order could run every {} cycles, {} sooner; {}", grouped(period), grouped(ii - period), entry.period.sentence);
  if (!entry.explanation.empty()) return entry.explanation;
  return entry.period.sentence;
}

std::optional<CompareModel> build_compare(const Session& session, const GanttModel& chart_a, const ChartOverlay& overlay_a) {
  const Content& content = session.content();
  if (!content.problem || !content.shown || !content.baseline) return std::nullopt;
  const Problem& problem = *content.problem;
  CompareModel model;
  model.entry_a = content.schedules[*content.shown];
  model.entry_b = content.schedules[*content.baseline];
  model.a = compared(session, *model.entry_a);
  model.b = compared(session, *model.entry_b);
  model.alignment = session.view().alignment;
  model.difference = compare_schedules(problem, *model.a.schedule, *model.b.schedule, model.alignment);
  model.metrics = metric_rows(problem, model.a, model.b, model.difference);
  model.ops = op_difference_rows(problem, *model.a.schedule, *model.b.schedule, model.difference);

  model.aligned_b = shifted(*model.b.schedule, model.difference.shift);
  GanttOptions options;
  options.mode = session.view().mode;
  options.iterations = session.iterations();
  options.verdict = &model.entry_b->verdict;
  EndOps ends = end_ops(content.spec(), problem, *model.b.schedule);
  for (EndOp& end : ends.ops) end.start += model.difference.shift;
  options.ends = &ends;
  model.chart_b = build_gantt(problem, model.aligned_b, options);
  model.overlay_a = overlay_a;
  model.overlay_a.differing.clear();
  for (const OpDifference& op : model.difference.ops)
    if (op.differs()) model.overlay_a.differing.push_back(op.op);
  model.overlay_b.highlight = overlay_a.highlight;
  if (!overlay_a.highlight.why.empty()) model.overlay_b.focus = overlay_a.focus;  // what limits A's II says nothing about B
  model.overlay_b.differing = model.overlay_a.differing;
  model.overlay_b.flags = overlay_a.flags;
  model.others = others_of(model, chart_a);
  model.title_a = title_of(model.a);
  model.title_b = title_of(model.b);
  model.axis = axis_note(model.a, model.b, options.mode);
  if (model.difference.shift != 0)
    model.axis += (model.axis.empty() ? "" : " · ") + describe(model.alignment, problem, model.difference.shift);
  model.relation = heddle::relation(model.difference, *model.a.schedule, *model.b.schedule);
  return model;
}

std::vector<OpDifferenceRow> filtered(const CompareModel& model, const GanttModel& chart_a, const CompareFilter& filter) {
  std::vector<bool> inside(model.ops.size(), !filter.range);
  if (filter.range)
    for (const GanttModel* chart : {&chart_a, &model.chart_b})
      for (const GanttBar& bar : chart->bars)
        if (bar.begin < filter.range->end && bar.end > filter.range->begin) inside[bar.op.index()] = true;
  std::vector<OpDifferenceRow> rows;
  for (const OpDifferenceRow& row : model.ops)
    if (inside[row.op.index()] && (!filter.only_differences || row.difference.differs())) rows.push_back(row);
  return rows;
}

std::vector<Column<OpDifferenceRow>> op_difference_columns(const Problem& problem) {
  using Row = OpDifferenceRow;
  const auto words = [](const char* title, auto text) { return Column<Row>{title, false, text}.sorted_by(text); };
  const auto number = [](const char* title, auto value) {
    return Column<Row>{title, true, [value](const Row& r) { return grouped(value(r)); }, value};
  };
  const auto delta = [](const Row& r) { return r.difference.delta; };
  const auto delta_text = [=](const Row& r) { return (delta(r) == 0 ? "" : delta(r) > 0 ? "+" : "-") + grouped(std::abs(delta(r))); };
  const auto distance = [=](const Row& r) { return std::abs(delta(r)); };
  return {
      words("op", [&](const Row& r) { return problem.op(r.op).name; }),
      Column<Row>{"delta", true, delta_text, distance}.as_copied([=](const Row& r) { return std::to_string(delta(r)); }),
      Column<Row>{"in B", false, [](const Row& r) { return r.change; }}.sorted_by(distance),
      number("A start", [](const Row& r) { return r.difference.a_start; }),
      number("A slot", [](const Row& r) { return r.a_slot; }),
      number("A stage", [](const Row& r) { return r.a_stage; }),
      words("A group", [](const Row& r) { return r.a_group; }),
      number("B start", [](const Row& r) { return r.difference.b_start; }),
      number("B slot", [](const Row& r) { return r.b_slot; }),
      number("B stage", [](const Row& r) { return r.b_stage; }),
      words("B group", [](const Row& r) { return r.b_group; }),
  };
}

std::string compare_tsv(const Problem& problem, const CompareModel& model, const std::vector<OpDifferenceRow>& rows) {
  std::string text = fmt::format("number\tA: {}\tB: {}\tB against A\n", model.a.name, model.b.name);
  for (const MetricRow& row : metric_rows(problem, model.a, model.b, model.difference, ungrouped))
    text += fmt::format("{}\t{}\t{}\t{}\n", row.name, row.a, row.b, row.change);
  text += "\ngroup\tin both\tonly in A\tonly in B\n";
  for (const PartitionRow& row : partition_rows(problem, *model.a.schedule, *model.b.schedule, model.difference))
    text += fmt::format("{}\t{}\t{}\t{}\n", row.group, op_names(problem, row.both), op_names(problem, row.only_a),
                        op_names(problem, row.only_b));
  text += fmt::format("\nlimiting cycle of A\t{}\nlimiting cycle of B\t{}\n", model.a.period.sentence, model.b.period.sentence);
  text += "\n";
  const std::vector<Column<OpDifferenceRow>> columns = op_difference_columns(problem);
  text += table_as_text(std::span(columns), rows);
  return text;
}

}  // namespace heddle::app
