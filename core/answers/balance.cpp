#include "core/answers/balance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/answers/answer_members.h"
#include "core/answers/csv_members.h"
#include "core/answers/simulation.h"
#include "core/chart/chart_layout.h"
#include "core/chart/svg.h"

namespace heddle {
namespace {

constexpr int kColumns = 60;  ///< of the line that shows how many places are busy
constexpr std::array<const char*, 9> kLevels{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

Cycle longest_run(const BalanceStudy& study) {
  Cycle longest = 1;
  for (const BalanceRow& row : study.rows) longest = std::max(longest, row.run.cycles);
  return longest;
}

/// How many places are busy in each part of the time.
std::string busy_line(const BalanceRow& row, std::int64_t places, Cycle length) {
  std::string line;
  for (int c = 0; c < kColumns; ++c) {
    const Cycle from = length * c / kColumns, to = std::max(from + 1, length * (c + 1) / kColumns);
    Cycle busy = 0;
    for (const auto& lane : row.run.lanes)
      if (!lane.empty()) busy += std::clamp(lane.back().end, from, to) - from;
    const double part = static_cast<double>(busy) / (static_cast<double>(to - from) * static_cast<double>(places));
    line += kLevels[static_cast<std::size_t>(std::clamp(static_cast<int>(part * 8 + 0.999), 0, 8))];
  }
  return line;
}

std::string time_of(const KernelRun& run) { return run.fault.empty() && run.microseconds > 0 ? time_text(run.microseconds) : "-"; }

}  // namespace

std::string balance_summary(const BalanceStudy& study, const TextStyle& style) {
  if (!study.fault.empty()) return wrapped(printable(study.fault), "", style.width);
  std::string text = wrapped(fmt::format("{} of {} to {} iterations (half of them at most {}), {} in all, on {}: at best {:.1f} each",
                                         count_of(study.tiles, "tile"), study.shortest, study.longest, study.median,
                                         grouped(study.all_trips), count_of(study.places, "place"), study.best),
                             "", style.width);
  std::vector<std::vector<std::string>> rows;
  for (const BalanceRow& row : study.rows)
    rows.push_back({row.name, std::to_string(row.iterations), row.run.fault.empty() ? grouped(row.run.cycles) : printable(row.run.fault),
                    time_of(row.run), row.run.fault.empty() ? fmt::format("{:.0f} %", 100 * row.run.filled) : "",
                    row.run.merge_us > 0 ? time_text(row.run.merge_us) : "-"});
  text +=
      text_table({{"tiles"}, {"iterations", true}, {"cycles", true}, {"predicted", true}, {"SMs busy", true}, {"of it second pass", true}},
                 rows, style.width);
  text += "\nplaces that are busy, over time\n";
  std::size_t widest = 0;
  for (const BalanceRow& row : study.rows) widest = std::max(widest, row.name.size());
  for (const BalanceRow& row : study.rows)
    if (!row.run.lanes.empty() && !row.persistent)
      text += fmt::format("  {:<{}}  {}\n", row.name, widest, busy_line(row, study.places, longest_run(study)));
  return text;
}

namespace {

struct BalanceAnswer {
  const Problem& problem = blank<Problem>;
  const Schedule& schedule = blank<Schedule>;
  const BalanceStudy& study = blank<BalanceStudy>;
};

struct BalanceRecord {
  const BalanceRow& row = blank<BalanceRow>;
};

template <class Io>
void visit(Io& io, const BalanceRecord& record) {
  const BalanceRow& row = record.row;
  io.written("tiles", row.name), io.written("split", row.split), io.written("second_pass", row.second_pass);
  io.written("iterations", row.iterations), io.written("cycles", row.run.cycles);
  io.written("microseconds", row.run.microseconds, as::fixed(3)), io.written("second_pass_us", row.run.merge_us, as::fixed(3));
  io.written("filled", row.run.filled, as::fixed(4)), io.written("fault", row.run.fault);
}

template <class Io>
void visit(Io& io, const BalanceAnswer& answer) {
  const BalanceStudy& study = answer.study;
  visit_subject(io, answer.problem, answer.schedule);
  io.written("study", "balance");
  io.written("fault", study.fault, "why there are no rows; empty: there are");
  io.written("tiles", study.tiles), io.written("all_trips", study.all_trips), io.written("places", study.places);
  io.written("best", study.best, "iterations of each place if all had the same");
  io.written("shortest", study.shortest), io.written("median", study.median), io.written("longest", study.longest);
  io.written("rows", study.rows);
}

}  // namespace

template <class Io>
void visit(Io& io, const BalanceRow& row) {
  io.written("tiles", row.name), io.written("persistent", row.persistent), io.written("longest_first", row.longest_first);
  io.written("split", row.split), io.written("second_pass", row.second_pass), io.written("iterations", row.iterations);
  io.written("cycles", row.run.cycles), io.written("microseconds", row.run.microseconds), io.written("second_pass_us", row.run.merge_us);
  io.written("filled", row.run.filled), io.written("fault", row.run.fault);
}

std::string balance_csv(const BalanceStudy& study) {
  std::vector<BalanceRecord> records;
  for (const BalanceRow& row : study.rows) records.push_back({row});
  return csv_of(records);
}

Json balance_json(const Problem& problem, const Schedule& schedule, const BalanceStudy& study) {
  return document_json(kSimulationSchema, BalanceAnswer{problem, schedule, study});
}

Json balance_schema(Json& definitions) { return inner_schema<BalanceAnswer>(kSimulationSchema, "balance_study", definitions); }

std::string balance_svg(const BalanceStudy& study, const std::string& title) {
  constexpr double kWidth = 900, kLeft = 16, kTitle = 40, kHead = 22, kLane = 3, kGap = 14;
  std::vector<const BalanceRow*> shown;
  for (const BalanceRow& row : study.rows)
    if (!row.run.lanes.empty() && !row.persistent) shown.push_back(&row);
  const auto lanes = static_cast<double>(study.places);
  const double height = kTitle + static_cast<double>(shown.size()) * (kHead + lanes * kLane + kGap);
  const double scale = (kWidth - 2 * kLeft) / static_cast<double>(longest_run(study));
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
      "<style>text {{ font: 12px sans-serif; fill: #16191f }} .title {{ font-weight: bold }} rect.back {{ fill: #eef0f5 }} "
      "rect.tile {{ fill: #1261c4; stroke: #ffffff; stroke-width: 0.4 }}</style>\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n",
      kWidth, height);
  svg += fmt::format("<text class=\"title\" x=\"{}\" y=\"24\">{}</text>\n", kLeft, xml_text(title));
  double y = kTitle;
  for (const BalanceRow* row : shown) {
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\">{}: {} iterations on the busiest of {} places, {} cycles, predicted {}</text>\n", kLeft,
                       y + 14, xml_text(row->name), row->iterations, study.places, grouped(row->run.cycles), time_of(row->run));
    y += kHead;
    svg += fmt::format("<rect class=\"back\" x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", kLeft, y, kWidth - 2 * kLeft,
                       lanes * kLane);
    for (std::size_t place = 0; place < row->run.lanes.size(); ++place)
      for (const PlacedTile& tile : row->run.lanes[place])
        svg += fmt::format(
            "<rect class=\"tile\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" fill-opacity=\"{:.2f}\"><title>{} iterations, "
            "cycles {} to {}</title></rect>\n",
            kLeft + static_cast<double>(tile.start) * scale, y + static_cast<double>(place) * kLane,
            static_cast<double>(tile.end - tile.start) * scale, kLane - 0.4,
            0.35 + 0.65 * static_cast<double>(tile.trips) / static_cast<double>(std::max<std::int64_t>(1, study.longest)), tile.trips,
            tile.start, tile.end);
    y += lanes * kLane + kGap;
  }
  return svg + "</svg>\n";
}

}  // namespace heddle
