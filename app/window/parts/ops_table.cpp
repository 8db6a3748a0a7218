#include "app/window/parts/ops_table.h"

#include <algorithm>

#include "app/window/kit/fuzzy.h"
#include "core/analysis/slack.h"
#include "core/base/letters.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

namespace ops_cells {

using Row = OpsTableRow;
using Number = std::optional<std::int64_t>;

std::string shown(const std::string& text) { return text.empty() ? "-" : text; }
std::string shown(Number number) { return number ? grouped(*number) : "-"; }

Number start(const Row& r) { return r.scheduled ? Number(r.start) : std::nullopt; }
Number stage(const Row& r) { return r.scheduled ? Number(r.stage) : std::nullopt; }
Number slot(const Row& r) { return r.scheduled ? Number(r.slot) : std::nullopt; }
Number latency(const Row& r) { return r.latency; }
Number slack(const Row& r) { return r.scheduled ? Number(r.slack) : std::nullopt; }

const Column<Row> kColumns[] = {
    {"op", false, [](const Row& r) { return shown(r.name); }},
    {"unit", false, [](const Row& r) { return shown(r.unit); }},
    {"group", false, [](const Row& r) { return shown(r.group); }},
    {"start", true, [](const Row& r) { return r.once.empty() ? shown(start(r)) : r.once; }, start},
    {"stage", true, [](const Row& r) { return shown(stage(r)); }, stage},
    {"slot", true, [](const Row& r) { return shown(slot(r)); }, slot},
    {"latency", true, [](const Row& r) { return shown(latency(r)); }, latency},
    {"slack", true, [](const Row& r) { return (slack(r).value_or(0) < 0 ? "! " : "") + shown(slack(r)); }, slack},
};

}  // namespace ops_cells

}  // namespace

std::span<const Column<OpsTableRow>> ops_columns() { return ops_cells::kColumns; }

namespace {

void describe(const Problem& problem, const Op& op, OpsTableRow& row) {
  row.name = op.name;
  row.latency = op.latency;
  row.occupancy = op.window;
  if (const UnitUse* use = primary_use(problem, op)) {
    row.unit = problem.unit(use->unit).name;
    row.role = problem.unit(use->unit).role;
    row.occupancy = use->duration;
  }
}

}  // namespace

std::vector<OpsTableRow> build_ops_table(const Problem& problem, const Schedule* schedule, const EndOps* ends) {
  const std::vector<bool> critical = schedule ? critical_ops(problem, *schedule) : std::vector<bool>();
  const std::vector<Slack> slack = schedule ? compute_slack(problem, *schedule) : std::vector<Slack>();
  std::vector<OpsTableRow> table;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const OpId id(v);
    OpsTableRow row;
    row.op = id;
    describe(problem, problem.ops[v], row);
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
  if (!ends) return table;
  for (const EndOp& end : ends->ops) {
    OpsTableRow row;
    row.once = to_string(end.section);
    describe(ends->problem, ends->problem.op(end.op), row);
    if (schedule) row.group = ends->groups[end.group.index()].role;
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
                [&](const OpsTableRow& row) { return !matches(row.name + ' ' + row.unit + ' ' + row.group + ' ' + row.once, filter); });
}

}  // namespace heddle::app
