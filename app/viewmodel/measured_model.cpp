// From a measurement to rows and bars.
#include "app/viewmodel/measured_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

Tone tone_of(RunStatus status) {
  switch (status) {
    case RunStatus::Verified: return Tone::Good;
    case RunStatus::Unverified: return Tone::Warning;
    case RunStatus::NoGpu: return Tone::Neutral;
    case RunStatus::Wrong:
    case RunStatus::Unstable:
    case RunStatus::TimedOut:
    case RunStatus::Faulted:
    case RunStatus::Refused: return Tone::Bad;
  }
  return Tone::Neutral;
}

/// "2026-01-02T03:04:05Z" as "2026-01-02 03:04"; other texts as they are.
std::string short_date(std::string_view date) {
  std::string text = printable(date.substr(0, 40));
  if (text.size() < 16 || text[10] != 'T') return text;
  text[10] = ' ';
  return text.substr(0, 16);
}

Cycle whole(double cycles) {
  constexpr double kFar = 1e12;
  return static_cast<Cycle>(std::llround(std::clamp(cycles, -kFar, kFar)));
}

const OpTiming* timing_of(const KernelProfile& profile, const std::string& op) {
  const auto found = std::find_if(profile.ops.begin(), profile.ops.end(), [&](const OpTiming& t) { return t.op == op; });
  return found == profile.ops.end() ? nullptr : &*found;
}

}  // namespace

std::string percent_text(double share) { return fmt::format("{:+.1f} %", share * 100); }

RunRow run_row(const Measurement& m) {
  RunRow row;
  row.date = short_date(m.date);
  row.kernel = printable(m.kernel);
  row.device = m.device ? printable(m.device->name) : printable(m.machine);
  row.schedule = printable(m.schedule);
  row.status = to_string(m.status);
  row.tone = tone_of(m.status);
  if (m.timing && m.timing->kernel.tflops > 0) row.tflops = fmt::format("{:.0f}", m.timing->kernel.tflops);
  if (m.timing)
    if (const auto ratio = m.timing->ratio()) row.ratio = fmt::format("{:.2f}", *ratio);
  if (m.predicted_ii > 0) row.predicted = grouped(m.predicted_ii);
  if (m.measured_ii) row.measured = grouped(whole(*m.measured_ii));
  if (const auto residual = m.ii_residual()) row.residual = percent_text(*residual);
  return row;
}

RunFit run_fit(const Content& content, const Measurement& m) {
  RunFit fit;
  if (!content.problem) {
    fit.sentence = "nothing is open to compare it with";
    return fit;
  }
  const Problem& problem = *content.problem;
  if (problem.kernel != m.kernel) {
    fit.sentence = fmt::format("this is a run of {}", printable(m.kernel));
    return fit;
  }
  const auto same_param = [&](const auto& param) {
    const auto here = problem.params.find(param.first);
    return here == problem.params.end() || here->second == param.second;
  };
  if (!std::all_of(m.params.begin(), m.params.end(), same_param)) {
    fit.sentence = "this is a run with other parameters";
    return fit;
  }
  fit.same_kernel = true;
  const ScheduleEntry* entry = content.entry();
  fit.same_schedule = entry && schedule_hash(problem, entry->schedule) == m.schedule_hash;
  fit.sentence = fit.same_schedule ? "measured of the schedule that is shown"
                 : entry           ? fmt::format("measured of {}, another schedule than the one that is shown, or with other numbers",
                                       m.schedule.empty() ? "a schedule" : printable(m.schedule))
                                   : "there is no schedule to lay it over";
  return fit;
}

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
    if (!timing) continue;
    const double begin = static_cast<double>(bar.begin) + timing->start_residual() + drift * bar.iteration;
    OtherBar ghost;
    ghost.op = bar.op;
    ghost.iteration = bar.iteration;
    ghost.row = bar.row;
    ghost.lane = bar.lane;
    ghost.begin = whole(begin);
    ghost.end = std::max(whole(begin + timing->duration), ghost.begin + 1);
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
