#include "core/chart/op_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/slack.h"

namespace heddle {

std::string describe_uses(const Problem& problem, const Op& op) {
  std::string text;
  for (const UnitUse& use : op.uses) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}+{}", problem.unit(use.unit).name, use.offset, use.duration);
    if (use.amount != 1) text += fmt::format(" x{}", use.amount);
  }
  return text;
}

std::string op_key(OpId op) {
  static const std::string kKeys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return op.index() < kKeys.size() ? std::string(1, kKeys[op.index()]) : "#";
}

std::vector<OpRow> op_rows(const Problem& problem, const Schedule* schedule) {
  std::vector<OpRow> rows;
  const std::vector<Slack> slack = schedule ? compute_slack(problem, *schedule) : std::vector<Slack>();
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    OpRow row;
    row.op = OpId(v);
    row.key = op_key(row.op);
    row.uses = describe_uses(problem, problem.ops[v]);
    if (schedule) {
      row.start = schedule->start(row.op);
      row.slot = schedule->slot(row.op);
      row.stage = schedule->stage(row.op);
      row.end = row.start + problem.ops[v].latency;
      row.group = schedule->group(row.op);
      if (slack[v].later != kUnlimited) row.slack = slack[v].later;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string op_table(const Problem& problem, const Schedule* schedule) {
  std::vector<OpRow> rows = op_rows(problem, schedule);
  std::stable_sort(rows.begin(), rows.end(), [](const OpRow& a, const OpRow& b) { return a.start < b.start; });
  std::vector<std::vector<std::string>> cells;
  for (const OpRow& row : rows) {
    const Op& op = problem.op(row.op);
    std::vector<std::string> line{row.key, printable(op.name), op.kind};
    if (schedule) {
      line.push_back(fmt::format("{} = {}*{} + {}", row.start, row.stage, schedule->ii, row.slot));
      line.push_back(printable(schedule->groups[row.group.index()].role));
    }
    line.push_back(std::to_string(op.latency));
    line.push_back(std::to_string(op.window));
    line.push_back(std::to_string(op.warps));
    if (schedule) line.push_back(row.slack ? std::to_string(*row.slack) : "");
    line.push_back(printable(row.uses));
    cells.push_back(std::move(line));
  }
  std::vector<TextColumn> columns{{"", false}, {"op", false}, {"kind", false}};
  if (schedule) {
    columns.push_back({"start = stage*II + slot", false});
    columns.push_back({"group", false});
  }
  columns.insert(columns.end(), {{"latency", true}, {"window", true}, {"warps", true}});
  if (schedule) columns.push_back({"slack", true});
  columns.push_back({"units (offset+cycles)", false});
  return text_table(columns, cells);
}

}  // namespace heddle
