#include "app/window/tabs/whole_kernel/traffic_model.h"

#include <fmt/format.h>

#include <utility>

#include "core/answers/simulation.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

std::string of_time(double part) { return part <= 0 ? "-" : part < 0.0005 ? "<0.1 %" : fmt::format("{:.1f} %", 100 * part); }

}  // namespace

TrafficModel build_traffic(const Problem& problem, const Schedule& schedule, const Traffic& traffic) {
  TrafficModel model;
  model.verdict = traffic.verdict.sentence;
  const auto role = [&](GroupId group) { return printable(role_name(schedule, group.index())); };
  for (const RingTraffic& ring : traffic.rings) {
    const Channel& channel = problem.channel(ring.tokens.channel);
    QueueRow row{channel.writer, printable(channel.name), role(ring.tokens.writer) + " → ", ring};
    if (const std::size_t readers = ring.tokens.readers.size(); readers != 1)
      row.between += count_of(static_cast<std::int64_t>(readers), "group");
    else
      row.between += role(ring.tokens.readers.front());
    model.rows.push_back(std::move(row));
  }
  if (traffic.floor)
    model.floor = fmt::format("On their way per SM: {:.1f} KiB in the mean, {} KiB wanted for {} cycles of {}; the rings hold {} KiB.",
                              traffic.floor->in_flight / 1024, kib(traffic.floor->needed), grouped(traffic.floor->latency),
                              printable(problem.op(traffic.floor->op).name), kib(traffic.floor->held));
  return model;
}

BalanceMark balance_mark(BalanceMark::Of of, BalancePoint point, std::size_t entry) {
  BalanceMark mark{of, std::move(point), entry, {}};
  mark.about =
      fmt::format("{}: access {:.0f} % ({}), execute {:.0f} % ({}), {} predicted{}", printable(mark.point.name), 100 * mark.point.access,
                  printable(mark.point.access_by), 100 * mark.point.execute, printable(mark.point.execute_by),
                  time_text(mark.point.microseconds), mark.point.fits ? "" : "; does not fit shared memory");
  return mark;
}

std::vector<Column<QueueRow>> queue_columns() {
  using Row = QueueRow;
  std::vector<Column<Row>> columns{Column<Row>{"ring", false, [](const Row& row) { return row.name; }}.wide(0.8f),
                                   Column<Row>{"from and to", false, [](const Row& row) { return row.between; }}.wide(2.8f)};
  const auto add = [&](const char* title, const char* about, float wide, auto text) {
    columns.push_back(Column<Row>{title, true, text}.wide(wide));
    columns.back().about = about;
  };
  add("bytes", "entries per iteration, of so many bytes", 1.0f, [](const Row& row) { return grouped(row.ring.tokens.bytes); });
  add("arrivals", "per iteration at full barriers + at empty barriers", 0.9f,
      [](const Row& row) { return fmt::format("{}+{}", row.ring.tokens.full_arrivals, row.ring.tokens.empty_arrivals); });
  add("taken", "slots being filled or filled, in the mean, of those that there are", 0.9f,
      [](const Row& row) { return fmt::format("{:.1f} of {}", row.ring.taken, row.ring.tokens.depth); });
  add("filled", "of these, slots whose entry is there", 0.7f, [](const Row& row) { return fmt::format("{:.1f}", row.ring.filled); });
  add("starving", "of the time, a reader could go, its unit is free, and the entry is not there yet", 0.9f,
      [](const Row& row) { return of_time(row.ring.starving); });
  add("full", "of the time, the writer could go, and the slot holds an entry that nobody has released", 0.8f,
      [](const Row& row) { return of_time(row.ring.full); });
  return columns;
}

}  // namespace heddle::app
