// Rows, order and filter of the ops table.
#include "app/viewmodel/ops_table.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "app/viewmodel/fuzzy.h"
#include "core/analysis/slack.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

std::optional<Cycle> number(const OpsTableRow& row, OpsColumn column) {
  if (column == OpsColumn::Latency) return row.latency;
  if (!row.scheduled) return std::nullopt;
  switch (column) {
    case OpsColumn::Start: return row.start;
    case OpsColumn::Stage: return row.stage;
    case OpsColumn::Slot: return row.slot;
    case OpsColumn::Slack: return row.slack;
    default: return std::nullopt;
  }
}

const std::string& text(const OpsTableRow& row, OpsColumn column) {
  return column == OpsColumn::Unit ? row.unit : column == OpsColumn::Group ? row.group : row.name;
}

}  // namespace

const char* title(OpsColumn column) {
  switch (column) {
    case OpsColumn::Name: return "op";
    case OpsColumn::Unit: return "unit";
    case OpsColumn::Group: return "group";
    case OpsColumn::Start: return "start";
    case OpsColumn::Stage: return "stage";
    case OpsColumn::Slot: return "slot";
    case OpsColumn::Latency: return "latency";
    case OpsColumn::Slack: return "slack";
  }
  return "";
}

bool is_number(OpsColumn column) {
  return column != OpsColumn::Name && column != OpsColumn::Unit && column != OpsColumn::Group;
}

std::string cell(const OpsTableRow& row, OpsColumn column) {
  if (!is_number(column)) return text(row, column).empty() ? "-" : text(row, column);
  const auto value = number(row, column);
  if (!value) return "-";
  return (column == OpsColumn::Slack && *value < 0 ? "! " : "") + grouped(*value);
}

std::vector<OpsTableRow> build_ops_table(const Problem& problem, const Schedule* schedule) {
  const std::vector<bool> critical = schedule ? critical_ops(problem, *schedule) : std::vector<bool>();
  const std::vector<Slack> slack = schedule ? compute_slack(problem, *schedule) : std::vector<Slack>();
  std::vector<OpsTableRow> table;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const OpId id(v);
    const Op& op = problem.ops[v];
    OpsTableRow row;
    row.op = id;
    row.name = op.name;
    row.latency = op.latency;
    row.occupancy = op.window;
    if (const UnitUse* use = primary_use(problem, op)) {
      row.unit = problem.unit(use->unit).name;
      row.role = problem.unit(use->unit).role;
      row.occupancy = use->duration;
    }
    if (schedule) {
      row.scheduled = true;
      row.group = schedule->groups[schedule->group(id).index()].role;
      row.start = schedule->start(id);
      row.slot = schedule->slot(id);
      row.stage = schedule->stage(id);
      if (slack[v].later != kUnlimited) row.slack = slack[v].later;
      row.critical = critical[v];
    }
    table.push_back(std::move(row));
  }
  return table;
}

bool matches(std::string_view text, std::string_view filter) {
  const std::string haystack = lower_case(text), words = lower_case(filter);
  std::size_t at = 0;
  while (at < words.size()) {
    const std::size_t begin = words.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (haystack.find(words.substr(begin, end - begin)) == std::string::npos) return false;
    at = end;
  }
  return true;
}

void filter_ops(std::vector<OpsTableRow>& rows, std::string_view filter) {
  std::erase_if(rows,
                [&](const OpsTableRow& row) { return !matches(row.name + ' ' + row.unit + ' ' + row.group, filter); });
}

void sort_ops(std::vector<OpsTableRow>& rows, OpsColumn column, bool descending) {
  std::stable_sort(rows.begin(), rows.end(), [&](const OpsTableRow& a, const OpsTableRow& b) {
    if (!is_number(column)) {
      const std::string x = lower_case(text(a, column)), y = lower_case(text(b, column));
      return descending ? y < x : x < y;
    }
    const auto x = number(a, column), y = number(b, column);
    if (!x || !y) return x.has_value() && !y.has_value();
    return descending ? *y < *x : *x < *y;
  });
}

std::string ops_as_text(const std::vector<OpsTableRow>& rows) {
  std::string out;
  for (OpsColumn column : kOpsColumns) {
    if (!out.empty()) out += '\t';
    out += title(column);
  }
  out += '\n';
  for (const OpsTableRow& row : rows) {
    bool first = true;
    for (OpsColumn column : kOpsColumns) {
      if (!first) out += '\t';
      first = false;
      const auto value = number(row, column);
      out += is_number(column) ? (value ? std::to_string(*value) : "") : text(row, column);
    }
    out += '\n';
  }
  return out;
}

}  // namespace heddle::app
