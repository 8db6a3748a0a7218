// One row per point, number or depth; periods beside the II that the schedule claims.
#include "core/answers/study_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/summary.h"
#include "core/chart/chart_layout.h"
#include "core/chart/csv.h"

namespace heddle {
namespace {

std::string period_text(double cycles) { return fmt::format("{:.1f}", cycles); }
std::string over(double cycles, double base) { return base > 0 ? fmt::format("{:+.1f} %", 100 * (cycles / base - 1)) : ""; }

std::string about_jitter(const StudyOptions& options) {
  const std::string how = options.shape == JitterShape::Uniform  ? "uniform, up to so many percent both ways"
                          : options.shape == JitterShape::Normal ? "normal, with a deviation of so many percent"
                                                                 : "late only, an exponential tail with a mean of so many percent";
  return fmt::format("latencies of {}: {}; {} of {} iterations each, seeds from {}\n", options.every_op ? "all ops" : "loads", how,
                     count_of(options.runs, "run"), grouped(options.trips), options.seed);
}

std::string present_values(const std::vector<std::int64_t>& values) {
  if (values.empty()) return "";
  return values.size() == 1 ? std::to_string(values.front()) : fmt::format("{}-{}", values.front(), values.back());
}

std::string side_text(const NumberSide& side, double base) {
  if (!side.fault.empty()) return printable(shortened(side.fault, 40));
  return side.same || side.period == base ? "-" : fmt::format("{} ({})", period_text(side.period), over(side.period, base));
}

}  // namespace

std::string jitter_summary(const Schedule& schedule, const std::vector<JitterPoint>& points, const StudyOptions& options) {
  std::string text = fmt::format("period under jitter, II {}\n", grouped(schedule.ii)) + about_jitter(options);
  if (!points.empty() && !points.front().fault.empty()) return text + printable(points.front().fault) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const JitterPoint& p : points)
    rows.push_back({fmt::format("{} %", p.percent), period_text(p.mean), over(p.mean, points.front().mean), period_text(p.worst)});
  return text + text_table({{"jitter", true}, {"mean period", true}, {"change", true}, {"worst run", true}}, rows);
}

std::string number_summary(const Schedule& schedule, const NumberStudy& study) {
  std::string text = fmt::format("simulated period with each number {} % off, the program as it is; now {} (II {})\n", study.percent,
                                 period_text(study.period), grouped(schedule.ii));
  std::vector<std::vector<std::string>> rows;
  std::size_t without = 0;
  for (const NumberRow& row : study.rows) {
    if (row.swing == 0 && row.less.fault.empty() && row.more.fault.empty()) {
      ++without;
      continue;
    }
    rows.push_back({printable(row.number), present_values(row.values), side_text(row.less, study.period), side_text(row.more, study.period)});
  }
  text += text_table({{"number"}, {"now", true}, {fmt::format("-{} %", study.percent), true}, {fmt::format("+{} %", study.percent), true}}, rows);
  return text + fmt::format("{} without effect\n", count_of(static_cast<std::int64_t>(without), "number"));
}

std::string depth_summary(const Problem& problem, const Schedule& schedule, const DepthStudy& study, const StudyOptions& options) {
  std::string text = fmt::format("period by ring depth and jitter, II {}\n", grouped(schedule.ii)) + about_jitter(options);
  if (study.rows.empty()) return text + "no ring is filled by loads\n";
  std::vector<TextColumn> columns{{"ring"}, {"depth"}, {"shared memory", true}};
  for (const int percent : study.percents) columns.push_back({fmt::format("{} %", percent), true});
  std::vector<std::vector<std::string>> rows;
  for (const DepthRow& row : study.rows) {
    const std::string depth = !row.ring.empty() ? std::to_string(row.depth) : row.more == 0 ? "" : fmt::format("{:+}", row.more);
    rows.push_back({row.ring.empty() ? "all of loads" : printable(row.ring), row.more == 0 ? (depth.empty() ? "as now" : depth + ", as now") : depth,
                    bytes_of(row.bytes, problem.limits.smem_bytes) + (row.fits ? "" : " !")});
    if (row.periods.empty()) rows.back().emplace_back("deadlock");
    for (const double period : row.periods) rows.back().push_back(period_text(period));
    rows.back().resize(columns.size());
  }
  text += text_table(columns, rows);
  const bool any = std::any_of(study.rows.begin(), study.rows.end(), [](const DepthRow& row) { return !row.fits; });
  return any ? text + "!: more than a CTA may use\n" : text;
}

std::string jitter_csv(const std::vector<JitterPoint>& points) {
  std::string text = csv_record({"jitter_percent", "mean_period_cycles", "worst_period_cycles", "fault"});
  for (const JitterPoint& p : points)
    text += csv_record({std::to_string(p.percent), fmt::format("{:.3f}", p.mean), fmt::format("{:.3f}", p.worst), p.fault});
  return text;
}

std::string number_csv(const NumberStudy& study) {
  std::string text = csv_record({"number", "now", "less_period_cycles", "more_period_cycles", "less_fault", "more_fault"});
  const auto cycles = [](const NumberSide& side) { return side.fault.empty() ? fmt::format("{:.3f}", side.period) : std::string(); };
  for (const NumberRow& row : study.rows)
    text += csv_record({row.number, present_values(row.values), cycles(row.less), cycles(row.more), row.less.fault, row.more.fault});
  return text;
}

std::string depth_csv(const DepthStudy& study) {
  std::string text = csv_record({"ring", "depth", "more", "smem_bytes", "fits", "jitter_percent", "period_cycles"});
  for (const DepthRow& row : study.rows)
    for (std::size_t i = 0; i < study.percents.size(); ++i)
      text += csv_record({row.ring.empty() ? "all" : row.ring, row.ring.empty() ? "" : std::to_string(row.depth), std::to_string(row.more),
                          std::to_string(row.bytes), row.fits ? "1" : "0", std::to_string(study.percents[i]),
                          i < row.periods.size() ? fmt::format("{:.3f}", row.periods[i]) : ""});
  return text;
}

}  // namespace heddle
