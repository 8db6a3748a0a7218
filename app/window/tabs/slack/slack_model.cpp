#include "app/window/tabs/slack/slack_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/window/parts/ops_table.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

/// The bins of the histogram: 0, then up to these.
constexpr Cycle kBins[] = {0, 15, 63, 255, 1023, 4095};

namespace slack_cells {

using Row = SlackRow;
using Number = std::optional<std::int64_t>;

Number limited(Cycle cycles) { return cycles == kUnlimited ? std::nullopt : Number(cycles); }
Number start(const Row& r) { return r.range.start; }
Number earlier(const Row& r) { return limited(r.range.alone.earlier); }
Number later(const Row& r) { return limited(r.range.alone.later); }
Number path_earliest(const Row& r) { return r.range.path_earliest; }
Number path_latest(const Row& r) { return r.range.path_latest; }
Number earliest(const Row& r) { return r.exact ? Number(r.range.earliest.seen) : std::nullopt; }
Number latest(const Row& r) { return r.exact ? Number(r.range.latest.seen) : std::nullopt; }
Number room(const Row& r) { return r.room(); }

std::string shown(const std::string& text) { return text.empty() ? "-" : text; }
std::string alone_text(Number cycles) {
  if (!cycles) return "free";
  return *cycles < 0 ? fmt::format("broken by {}", grouped(-*cycles)) : grouped(*cycles);
}
std::string end_text(Number end, bool proved, const char* at_least) {
  if (!end) return "-";
  return proved ? grouped(*end) + " ✓" : at_least + grouped(*end);
}
std::string room_text(const Row& r) { return (r.range.settled() || !r.exact ? "" : "≤ ") + grouped(r.room()); }

std::string growth_text(const Row& r) { return !r.range.growth ? "-" : *r.range.growth == kUnlimited ? "any" : grouped(*r.range.growth); }
Number growth(const Row& r) { return r.range.growth ? limited(*r.range.growth) : std::nullopt; }

constexpr const char* kGrowth = "may grow";

const Column<Row> kColumns[] = {
    {"op", false, [](const Row& r) { return shown(r.name); }},
    {"unit", false, [](const Row& r) { return shown(r.unit); }},
    {"start", true, [](const Row& r) { return grouped(r.range.start); }, start},
    {"slack-", true, [](const Row& r) { return alone_text(earlier(r)); }, earlier,
     "how many cycles earlier it can start while all other ops and every order stay as they are"},
    {"slack+", true, [](const Row& r) { return alone_text(later(r)); }, later,
     "how many cycles later it can start while all other ops and every order stay as they are"},
    {kGrowth, true, growth_text, growth,
     "how many cycles longer it may take before the period does, where warp groups take time from each other, by more than 0.1 % "
     "(predicted)"},
    {"from", true, [](const Row& r) { return grouped(r.range.path_earliest); }, path_earliest,
     "no schedule at this II starts it earlier, by longest paths of dependences and refills"},
    {"to", true, [](const Row& r) { return grouped(r.range.path_latest); }, path_latest,
     "no schedule at this II starts it later, by longest paths of dependences and refills"},
    {"earliest", true, [](const Row& r) { return end_text(earliest(r), r.range.earliest.proved(), "≤ "); }, earliest,
     "its earliest start over all legal schedules at this II; ✓: proved"},
    {"latest", true, [](const Row& r) { return end_text(latest(r), r.range.latest.proved(), "≥ "); }, latest,
     "its latest start over all legal schedules at this II; ✓: proved"},
    {"room", true, room_text, room, "from earliest to latest, as far as it is proved"},
};

}  // namespace slack_cells

std::vector<SlackBin> histogram(const std::vector<SlackRow>& rows) {
  std::vector<SlackBin> bins;
  Cycle low = 0;
  for (const Cycle high : kBins) {
    bins.push_back({high == low ? grouped(low) : fmt::format("{}-{}", grouped(low), grouped(high)), 0, high == 0});
    low = high + 1;
  }
  bins.push_back({fmt::format("{}+", grouped(low)), 0, false});
  for (const SlackRow& row : rows) {
    std::size_t b = 0;
    while (b < std::size(kBins) && row.room() > kBins[b]) ++b;
    ++bins[b].ops;
  }
  while (bins.size() > 1 && bins.back().ops == 0) bins.pop_back();
  return bins;
}

}  // namespace

std::span<const Column<SlackRow>> slack_columns() { return slack_cells::kColumns; }

std::vector<Column<SlackRow>> slack_columns_of(const std::vector<SlackRow>& rows) {
  std::vector<Column<SlackRow>> columns(std::begin(slack_cells::kColumns), std::end(slack_cells::kColumns));
  if (std::none_of(rows.begin(), rows.end(), [](const SlackRow& row) { return row.range.growth.has_value(); }))
    std::erase_if(columns, [](const Column<SlackRow>& column) { return column.title == slack_cells::kGrowth; });
  return columns;
}

SlackModel build_slack(const Problem& problem, const Schedule& schedule, const SlackRanges& answer) {
  SlackModel model;
  model.ii = answer.ii;
  model.exact = answer.exact;
  model.title = fmt::format("How far every op can move at II {}", grouped(answer.ii));
  const std::string& anchor = problem.op(answer.anchor).name;
  model.note = answer.absolute ? fmt::format("{} is held; constraints fix cycles or stages, so nothing starts before cycle 0", anchor)
                               : fmt::format("{} is held at {}, since a schedule can be shifted as a whole; at most {}", anchor,
                                             grouped(schedule.start(answer.anchor)), count_of(answer.stages, "stage"));
  model.low = 0;
  model.high = answer.ii;
  for (const OpRange& range : answer.ops) {
    SlackRow row;
    const Op& op = problem.op(range.op);
    row.op = range.op;
    row.name = op.name;
    row.length = op.window;
    if (const UnitUse* use = primary_use(problem, op)) {
      row.unit = problem.unit(use->unit).name;
      row.role = problem.unit(use->unit).role;
      row.length = use->duration;
    }
    row.group = schedule.groups[schedule.group(range.op).index()].role;
    row.anchor = range.op == answer.anchor;
    row.range = range;
    row.exact = answer.exact && (range.earliest.seen || range.latest.seen);
    model.proved += answer.exact && range.settled();
    model.low = std::min(model.low, range.path_earliest);
    model.high = std::max(model.high, range.path_latest + row.length);
    model.rows.push_back(std::move(row));
  }
  model.histogram = histogram(model.rows);
  if (!answer.fault.empty())
    model.caveat = answer.fault;
  else if (!answer.legal)
    model.caveat = "the schedule breaks rules: these are the ranges of legal schedules at its II";
  else if (answer.cancelled)
    model.caveat = "cancelled: ranges without ✓ are partial";
  else if (answer.timed_out)
    model.caveat = "time is up: ranges without ✓ are partial";
  return model;
}

void filter_slack(std::vector<SlackRow>& rows, std::string_view filter) {
  std::erase_if(rows, [&](const SlackRow& row) { return !matches(row.name + ' ' + row.unit + ' ' + row.group, filter); });
}

std::string slack_as_text(const std::vector<SlackRow>& rows) {
  std::vector<Column<SlackRow>> columns = slack_columns_of(rows);
  column_of(columns, "op").text = [](const SlackRow& row) { return row.name; };
  column_of(columns, "unit").text = [](const SlackRow& row) { return row.unit; };
  const auto word = [](const SlackRow& row, bool proved) { return std::string(!row.exact ? "" : proved ? "yes" : "no"); };
  columns.push_back({"earliest proved", false, [&](const SlackRow& row) { return word(row, row.range.earliest.proved()); }});
  columns.push_back({"latest proved", false, [&](const SlackRow& row) { return word(row, row.range.latest.proved()); }});
  return table_as_text(std::span<const Column<SlackRow>>(columns), rows);
}

}  // namespace heddle::app
