#include "core/answers/race_table.h"

#include <fmt/format.h>

#include <optional>

#include "core/base/quantile.h"
#include "core/base/text_style.h"
#include "core/records/race_statistics.h"

namespace heddle {
namespace {

std::string number_or_none(double number, const char* format) { return number > 0 ? fmt::format(fmt::runtime(format), number) : "-"; }

RaceRow row_of(const Race& race, std::size_t racer) {
  const Racer& r = race.racers[racer];
  RaceRow row;
  row.racer = racer, row.rank = "-", row.program = printable(r.name), row.left_out = printable(r.why_not);
  for (const std::string& other : r.also) row.program += ", " + printable(other);
  row.model = number_or_none(r.period, "{:.1f}");
  row.cycles = row.cold_us = row.sustained_us = "-";
  return row;
}

}  // namespace

std::vector<RaceRow> race_rows(const Race& race) {
  const std::vector<std::vector<double>> times = race.times();
  const std::vector<std::size_t> order = ranked_by_median(times);
  const std::vector<bool> settled = settled_neighbours(times);
  std::vector<RaceRow> rows;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const Racer& r = race.racers[order[rank]];
    RaceRow& row = rows.emplace_back(row_of(race, order[rank]));
    row.rank = fmt::format("{}", rank + 1);
    row.cycles = number_or_none(median(r.cycles), "{:.1f}");
    row.cold_us = number_or_none(median(r.cold_us), "{:.2f}");
    row.sustained_us = number_or_none(median(r.sustained_us), "{:.2f}");
    if (rank < settled.size()) row.settled = settled[rank] ? "yes" : "not settled";
  }
  for (std::size_t i = 0; i < race.racers.size(); ++i)
    if (!race.racers[i].why_not.empty()) rows.push_back(row_of(race, i));
  return rows;
}

std::string correlation_text(const Race& race) {
  const std::optional<double> tau = race.correlation();
  return tau ? fmt::format("model against measured: rank correlation {:.2f} (Kendall's tau-b)", *tau)
             : "model against measured: nothing to compare";
}

std::string rounds_text(const Race& race) {
  return fmt::format("{} in {:.0f} s; {}", count_of(race.rounds, "round"), race.seconds, printable(race.ended));
}

}  // namespace heddle
