// From ranges to rows, bins and an axis.
#include "app/viewmodel/slack_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/viewmodel/ops_table.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

/// The bins of the histogram: 0, then up to these.
constexpr Cycle kBins[] = {0, 15, 63, 255, 1023, 4095};

std::optional<Cycle> number(const SlackRow& row, SlackColumn column) {
  const auto limited = [](Cycle room) { return room == kUnlimited ? std::nullopt : std::optional<Cycle>(room); };
  switch (column) {
    case SlackColumn::Start: return row.range.start;
    case SlackColumn::Earlier: return limited(row.range.alone.earlier);
    case SlackColumn::Later: return limited(row.range.alone.later);
    case SlackColumn::PathEarliest: return row.range.path_earliest;
    case SlackColumn::PathLatest: return row.range.path_latest;
    case SlackColumn::Earliest: return row.exact ? row.range.earliest.seen : std::nullopt;
    case SlackColumn::Latest: return row.exact ? row.range.latest.seen : std::nullopt;
    case SlackColumn::Room: return row.room();
    case SlackColumn::Name:
    case SlackColumn::Unit: break;
  }
  return std::nullopt;
}

const std::string& text(const SlackRow& row, SlackColumn column) { return column == SlackColumn::Unit ? row.unit : row.name; }

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

const char* title(SlackColumn column) {
  switch (column) {
    case SlackColumn::Name: return "op";
    case SlackColumn::Unit: return "unit";
    case SlackColumn::Start: return "start";
    case SlackColumn::Earlier: return "alone-";
    case SlackColumn::Later: return "alone+";
    case SlackColumn::PathEarliest: return "path≥";
    case SlackColumn::PathLatest: return "path≤";
    case SlackColumn::Earliest: return "earliest";
    case SlackColumn::Latest: return "latest";
    case SlackColumn::Room: return "room";
  }
  return "";
}

const char* about(SlackColumn column) {
  switch (column) {
    case SlackColumn::Earlier: return "how many cycles earlier it can start while all other ops and every order stay as they are";
    case SlackColumn::Later: return "how many cycles later it can start while all other ops and every order stay as they are";
    case SlackColumn::PathEarliest: return "no schedule at this II starts it earlier, by longest paths of dependences and refills";
    case SlackColumn::PathLatest: return "no schedule at this II starts it later, by longest paths of dependences and refills";
    case SlackColumn::Earliest: return "its earliest start over all legal schedules at this II; ✓: proved";
    case SlackColumn::Latest: return "its latest start over all legal schedules at this II; ✓: proved";
    case SlackColumn::Room: return "from earliest to latest, as far as it is proved";
    default: return "";
  }
}

bool is_number(SlackColumn column) { return column != SlackColumn::Name && column != SlackColumn::Unit; }

std::string cell(const SlackRow& row, SlackColumn column) {
  if (!is_number(column)) return text(row, column).empty() ? "-" : text(row, column);
  const auto value = number(row, column);
  switch (column) {
    case SlackColumn::Earlier:
    case SlackColumn::Later:
      if (!value) return "free";
      return *value < 0 ? fmt::format("broken by {}", grouped(-*value)) : grouped(*value);
    case SlackColumn::Earliest:
      if (!value) return "-";
      return row.range.earliest.proved() ? grouped(*value) + " ✓" : "≤ " + grouped(*value);
    case SlackColumn::Latest:
      if (!value) return "-";
      return row.range.latest.proved() ? grouped(*value) + " ✓" : "≥ " + grouped(*value);
    case SlackColumn::Room: return row.range.settled() || !row.exact ? grouped(*value) : "≤ " + grouped(*value);
    default: return grouped(*value);
  }
}

SlackModel build_slack(const Problem& problem, const Schedule& schedule, const SlackRanges& answer) {
  SlackModel model;
  model.ii = answer.ii;
  model.exact = answer.exact;
  model.title = fmt::format("How far every op can move at II {}", grouped(answer.ii));
  const std::string& anchor = problem.op(answer.anchor).name;
  model.note = answer.absolute
                   ? fmt::format("{} is held; constraints fix cycles or stages, so nothing starts before cycle 0", anchor)
                   : fmt::format("{} is held at {}, since a schedule can be shifted as a whole; at most {} stage{}", anchor,
                                 grouped(schedule.start(answer.anchor)), answer.stages, answer.stages == 1 ? "" : "s");
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

void sort_slack(std::vector<SlackRow>& rows, SlackColumn column, bool descending) {
  std::stable_sort(rows.begin(), rows.end(), [&](const SlackRow& a, const SlackRow& b) {
    if (!is_number(column)) return descending ? text(b, column) < text(a, column) : text(a, column) < text(b, column);
    const auto x = number(a, column), y = number(b, column);
    if (!x || !y) return x.has_value() && !y.has_value();
    return descending ? *y < *x : *x < *y;
  });
}

std::string slack_as_text(const std::vector<SlackRow>& rows) {
  std::string out;
  for (const SlackColumn column : kSlackColumns) out += (out.empty() ? "" : "\t") + std::string(title(column));
  out += "\tearliest proved\tlatest proved\n";
  for (const SlackRow& row : rows) {
    bool first = true;
    for (const SlackColumn column : kSlackColumns) {
      const auto value = number(row, column);
      if (!first) out += '\t';
      first = false;
      out += is_number(column) ? (value ? std::to_string(*value) : "") : text(row, column);
    }
    const auto word = [&](bool proved) { return row.exact ? (proved ? "yes" : "no") : ""; };
    out += fmt::format("\t{}\t{}\n", word(row.range.earliest.proved()), word(row.range.latest.proved()));
  }
  return out;
}

}  // namespace heddle::app
