#include "app/window/tabs/triton/triton_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/triton_origins.h"
#include "app/session/triton_state.h"
#include "app/window/parts/header_model.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

using triton::Whose;

std::string percent(Cycle value, Cycle base) {
  const double off = 100.0 * static_cast<double>(value - base) / static_cast<double>(std::max<Cycle>(base, 1));
  return off < 99.95 ? fmt::format("{:+.1f} %", off) : fmt::format("{:+.0f} %", off);
}

void say_standing(const triton::Side& side, bool running, TritonRow& row) {
  if (!side.schedule) {
    const bool to_come = side.why_not.empty() && running;
    row.standing = to_come ? "being worked out" : side.why_not.empty() ? "none" : "none: " + printable(side.why_not);
    row.tone = to_come ? Tone::Busy : Tone::Warning;
  } else if (side.status == Status::Optimal) {
    row.standing = "proved";
    row.tone = Tone::Good;
  } else if (side.status == Status::Invalid) {
    row.standing = "breaks a rule";
    row.tone = Tone::Bad;
  } else if (side.whose == Whose::Tritons) {
    row.standing = "predicted";
    row.tone = Tone::Neutral;
  } else {
    row.standing = side.lower_bound > 0 ? fmt::format("not proved, bound {}", grouped(side.lower_bound)) : "not proved";
    row.tone = running ? Tone::Busy : Tone::Warning;
  }
}

TritonRow row_of(const triton::Side& side, const Session& session, Cycle best, bool running) {
  TritonRow row;
  row.whose = side.whose;
  row.name = row_name(side.whose);
  row.about = triton::about(side.whose);
  say_standing(side, running, row);
  if (!side.schedule) return row;
  row.there = true;
  const Content& content = session.content();
  const ScheduleEntry* entry = content.entry();
  row.shown = entry && entry->name == row.name && content.triton()->reading() == triton::reading_of(side);
  row.ii = grouped(side.schedule->ii);
  row.period = grouped(side.cycles());
  row.more = side.cycles() == best ? "best" : percent(side.cycles(), best);
  row.groups = fmt::format("{} · {} warps", side.groups, side.warps);
  row.stages = std::to_string(side.stages);
  row.shared = kib(side.shared_bytes);
  row.tensor = std::to_string(side.tmem_columns);
  return row;
}

void add_options(const triton::Comparison& comparison, TritonModel& model) {
  const auto now = std::find_if(comparison.options.begin(), comparison.options.end(), [](const triton::OptionRow& o) { return o.now; });
  const Cycle base = now == comparison.options.end() ? 0 : now->period;
  for (const triton::OptionRow& row : comparison.options) {
    TritonOption option;
    option.stages = std::to_string(row.num_stages);
    option.warps = std::to_string(row.num_warps);
    option.now = row.now;
    option.fits = row.why_not.empty();
    if (row.period > 0) option.period = grouped(row.period);
    if (row.period > 0 && base > 0 && !row.now) option.change = row.period == base ? "as now" : percent(row.period, base);
    if (row.shared_bytes > 0) option.shared = kib(row.shared_bytes);
    option.better = option.fits && row.period > 0 && row.period < base;
    option.remark = printable(row.why_not);
    if (row.now) option.remark = option.remark.empty() ? "as compiled" : "as compiled; " + option.remark;
    model.options.push_back(std::move(option));
  }
  model.best_option = triton::best_option(comparison);
}

}  // namespace

TritonModel build_triton_tab(const Session& session) {
  TritonModel model;
  const Content& content = session.content();
  if (!content.triton()) return model;
  const TritonState::Known* known = session.triton().of(content);
  model.title = content.source->subject() + (content.machine ? " · " + content.machine->name : "");
  if (!content.kernel) {
    model.title += ": nothing to compare";
    for (const Fault& fault : content.source->refused()) model.faults.push_back(in_words(fault));
    return model;
  }
  if (!known) return model;
  model.running = known->running;
  model.cancelled = known->cancelled;
  for (const Fault& fault : known->faults) model.faults.push_back(in_words(fault));
  if (known->running) model.doing = "working them out · " + seconds_text(known->seconds);
  if (!known->comparison) return model;
  const triton::Comparison& comparison = *known->comparison;
  model.headline = printable(triton::headline(comparison));
  model.tensor = content.problem && content.problem->limits.tmem_columns > 0;
  Cycle best = 0;
  for (const triton::Side& side : comparison.sides)
    if (side.schedule && (best == 0 || side.cycles() < best)) best = side.cycles();
  for (const triton::Side& side : comparison.sides) model.rows.push_back(row_of(side, session, best, known->running));
  if (!known->running)
    for (const std::string& price : triton::prices(comparison)) model.prices.push_back(printable(price));
  for (const triton::Side& side : comparison.sides)
    if (!side.schedule && !side.why_not.empty())
      model.reasons.push_back(fmt::format("{}: none: {}", row_name(side.whose), printable(side.why_not)));
    else if (side.schedule && !side.explanation.empty())
      model.reasons.push_back(fmt::format("{}: II {}: {}", row_name(side.whose), grouped(side.schedule->ii), printable(side.explanation)));
  add_options(comparison, model);
  return model;
}

std::vector<Column<TritonRow>> triton_columns(bool tensor) {
  using Row = TritonRow;
  const auto words = [](const char* title, std::string Row::*text) {
    return Column<Row>{title, false, [text](const Row& r) { return r.*text; }};
  };
  const auto number = [](const char* title, const char* about, std::string Row::*text) {
    Column<Row> column{title, true, [text](const Row& r) { return r.*text; }};
    column.about = about;
    return column;
  };
  std::vector<Column<Row>> columns{words("schedule", &Row::name),
                                   number("cycles", "that an iteration takes in the long run, by the model", &Row::period),
                                   number("against the best", "of the three", &Row::more),
                                   number("II", "cycles between two iterations, as the schedule states them", &Row::ii),
                                   number("groups", "warp groups, and warps of all of them", &Row::groups),
                                   number("stages", "iterations that overlap", &Row::stages),
                                   number("shared KiB", "shared memory", &Row::shared)};
  if (tensor) columns.push_back(number("tensor col", "columns of tensor memory", &Row::tensor));
  columns.push_back(words("standing", &Row::standing));
  return columns;
}

std::vector<Column<TritonOption>> option_columns() {
  using Row = TritonOption;
  const auto column = [](const char* title, bool is_number, std::string Row::*text) {
    return Column<Row>{title, is_number, [text](const Row& r) { return r.*text; }};
  };
  return {column("num_stages", true, &Row::stages),  column("num_warps", true, &Row::warps),   column("cycles", true, &Row::period),
          column("against now", true, &Row::change), column("shared KiB", true, &Row::shared), column("remark", false, &Row::remark)};
}

std::string triton_tsv(const TritonModel& model) {
  const std::vector<Column<TritonRow>> columns = triton_columns(model.tensor);
  std::string text = model.headline + "\n" + table_as_text(std::span(columns), model.rows);
  for (const std::string& sentence : model.prices) text += sentence + "\n";
  for (const std::string& sentence : model.reasons) text += sentence + "\n";
  if (model.options.empty()) return text;
  const std::vector<Column<TritonOption>> options = option_columns();
  return text + "\n" + table_as_text(std::span(options), model.options);
}

}  // namespace heddle::app
