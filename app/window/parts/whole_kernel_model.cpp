#include "app/window/parts/whole_kernel_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/prediction_state.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// Where the clock is not known there are only cycles.
std::string time_of(const KernelRun& run) { return run.microseconds > 0 ? time_text(run.microseconds) : grouped(run.cycles) + " cycles"; }

std::string clock_of(const KernelRun& run) { return run.clock.mhz > 0 ? fmt::format("{:.0f} MHz", run.clock.mhz) : ""; }

void join(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : " · ") + more;
}

std::string tiles_of(const KernelRun& run, const Machine& machine) {
  const std::int64_t at_once = std::max<std::int64_t>(1, machine.sm_count * run.ctas), waves = (run.tiles + at_once - 1) / at_once;
  return fmt::format("{} in {}", grouped(run.tiles), count_of(waves, "wave"));
}

}  // namespace

WholeKernelModel whole_kernel(const Session& session, const ScheduleEntry& entry) {
  WholeKernelModel model;
  const Content& content = session.content();
  model.why_not = PredictionState::why_not(content, entry);
  if (!model.why_not.empty()) return model;
  const auto answer = session.predictions().of(content, entry);
  model.awaited = !answer && session.predictions().able();
  if (!answer) return model;
  const KernelRun& run = answer->kernel;
  model.why_not = printable(run.fault);
  if (!run.fault.empty()) return model;
  join(model.speed, time_of(run));
  join(model.speed, speed_text(run));
  join(model.terms, fmt::format("{} per SM", count_of(run.ctas, "CTA")));
  join(model.terms, clock_of(run));
  join(model.terms, answer->trust.brief);
  const auto fact = [&](const char* label, std::string value) {
    if (!value.empty()) model.facts.push_back({label, std::move(value)});
  };
  fact("time", time_of(run));
  fact("speed", speed_text(run));
  if (run.of_peak > 0) fact("of the tensor cores' best", fmt::format("{:.1f} %", 100 * run.of_peak));
  fact("tiles", tiles_of(run, *content.machine));
  fact("iterations of a tile", grouped(run.trips));
  fact("CTAs per SM", fmt::format("{}, by {}", run.ctas, run.occupancy.limited_by));
  fact("clock", clock_of(run));
  model.trust = printable(answer->trust.text);
  return model;
}

std::string whole_kernel_speed(const Session& session, const ScheduleEntry& entry) {
  const auto answer = session.predictions().of(session.content(), entry);
  if (!answer || !answer->kernel.fault.empty()) return "";
  const std::string speed = speed_text(answer->kernel);
  return speed.empty() ? time_of(answer->kernel) : speed;
}

}  // namespace heddle::app
