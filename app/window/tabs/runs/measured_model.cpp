#include "app/window/tabs/runs/measured_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

const OpTiming* timing_of(const KernelProfile& profile, const std::string& op) {
  const auto found = std::find_if(profile.ops.begin(), profile.ops.end(), [&](const OpTiming& t) { return t.op == op; });
  return found == profile.ops.end() ? nullptr : &*found;
}

}  // namespace

bool ResidualRow::off() const {
  const double allowed = std::max(8.0, 0.05 * predicted_duration);
  return std::abs(start_residual()) > allowed || (observed_end && std::abs(duration_residual()) > allowed);
}

std::vector<ResidualRow> residual_rows(const Problem& problem, const KernelProfile& profile) {
  std::vector<ResidualRow> rows;
  for (const OpTiming& t : profile.ops)
    rows.push_back({problem.find_op(t.op), printable(t.op), printable(t.group), t.predicted_start, t.start, t.predicted_duration,
                    t.duration, t.spread, t.observed_end, t.samples});
  const auto worst = [](const ResidualRow& r) {
    return std::max(std::abs(r.start_residual()), r.observed_end ? std::abs(r.duration_residual()) : 0.0);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const ResidualRow& a, const ResidualRow& b) { return worst(a) > worst(b); });
  return rows;
}

std::vector<OtherBar> measured_bars(const Problem& problem, const GanttModel& chart, const Measurement& m) {
  std::vector<OtherBar> bars;
  if (!m.profile) return bars;
  const double drift = chart.mode == GanttMode::Steady || !m.measured_ii ? 0 : *m.measured_ii - static_cast<double>(chart.ii);
  for (const GanttBar& bar : chart.bars) {
    if (bar.wraps_left) continue;  // the piece that begins it has the ghost
    const OpTiming* timing = timing_of(*m.profile, problem.op(bar.op).name);
    if (!timing || timing->duration < 0) continue;
    const double begin = static_cast<double>(bar.begin) + timing->start_residual() + drift * bar.iteration;
    OtherBar ghost;
    ghost.op = bar.op;
    ghost.iteration = bar.iteration;
    ghost.row = bar.row;
    ghost.lane = bar.lane;
    ghost.begin = whole_cycles(begin);
    ghost.end = std::max(whole_cycles(begin + timing->duration), ghost.begin + 1);
    ghost.differs =
        ResidualRow{
            bar.op, {}, {}, timing->predicted_start, timing->start, timing->predicted_duration, timing->duration, 0, timing->observed_end,
            0}
            .off();
    ghost.label = bar.label;
    bars.push_back(std::move(ghost));
  }
  return bars;
}

std::string measured_legend(const Content& content, const Measurement& m) {
  const RunRow row = run_row(m);
  std::string text = fmt::format("Measured: {} on {}", row.date, row.device);
  if (!row.measured.empty()) text += fmt::format(" · II {}{}", row.measured, row.residual.empty() ? "" : " (" + row.residual + ")");
  if (const RunFit fit = run_fit(content, m); !fit.same_schedule) text += " · " + fit.sentence;
  return text;
}

}  // namespace heddle::app
