#include "app/session/run_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

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

}  // namespace

Cycle whole_cycles(double cycles) {
  constexpr double kFar = 1e12;
  return static_cast<Cycle>(std::llround(std::clamp(cycles, -kFar, kFar)));
}

std::string percent_text(double share) { return fmt::format("{:+.1f} %", share * 100); }

RunRow run_row(const Measurement& m) {
  RunRow row;
  row.date = short_date(m.date);
  row.kernel = printable(m.kernel);
  row.device = m.device ? printable(m.device->name) : printable(m.machine);
  if (!m.host.empty()) row.device += " at " + printable(m.host);
  row.schedule = printable(m.schedule);
  row.status = to_string(m.status);
  row.tone = tone_of(m.status);
  if (m.timing && m.timing->kernel.tflops > 0) row.tflops = fmt::format("{:.0f}", m.timing->kernel.tflops);
  if (m.timing)
    if (const auto ratio = m.timing->ratio()) row.ratio = fmt::format("{:.2f}", *ratio);
  if (m.predicted_ii > 0) row.predicted = grouped(m.predicted_ii);
  if (m.measured_ii) row.measured = grouped(whole_cycles(*m.measured_ii));
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

}  // namespace heddle::app
