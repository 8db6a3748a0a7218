#include "app/bench/contention_step.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/answers/contention_table.h"
#include "core/formats/contention_readings_json.h"
#include "core/formats/measurement_json.h"
#include "core/formats/schedule_json.h"
#include "core/instance/instance.h"
#include "core/library/library.h"
#include "core/motion/motion.h"
#include "core/motion/period_parts.h"

namespace heddle::app {
namespace {

constexpr double kSame = 0.005;  ///< measured cycles that differ by less say nothing about an order

const ContentionReading* period_of(const StepVerdict* verdict) {
  if (verdict)
    for (const ContentionReading& reading : verdict->readings)
      if (reading.number == "period") return &reading;
  return nullptr;
}

/// "1.9 % fewer cycles than b, 1.0 % fewer by the rule"
std::string compared(double measured, double ruled, const std::string& beside) {
  const auto part = [](double ratio) { return fmt::format("{:.1f} % {}", 100 * std::abs(ratio - 1), ratio < 1 ? "fewer" : "more"); };
  return fmt::format("{} cycles than {}, {} by the rule", part(measured), beside, part(ruled));
}

}  // namespace

std::optional<ContentionReading> period_reading(const Measurement& measured, const std::string& machine) {
  if (!measured.measured_ii || measured.schedule_text.empty()) return std::nullopt;
  const auto kernel = load_kernel(measured.kernel);
  const auto device = load_machine(machine);
  const auto head = parse_schedule_head(measured.schedule_text, {});
  if (!kernel || !device || !head || !device->contention.known) return std::nullopt;
  InstanceSpec spec = spec_of(*kernel, *device);
  spec.params = measured.params;
  spec.choices = head->layouts;
  const auto problem = make_problem(spec);
  if (!problem) return std::nullopt;
  const auto schedule = parse_schedule(measured.schedule_text, {}, *problem);
  if (!schedule) return std::nullopt;
  ContentionReading reading;
  reading.number = "period";
  reading.of = fmt::format("an iteration of {}", schedule->name.empty() ? measured.kernel : schedule->name);
  reading.unit = "cycles";
  reading.measured = *measured.measured_ii;
  reading.value = motion::motion_of(*problem, *schedule).period.cycles();
  reading.least = reading.most = reading.value;
  for (const motion::PeriodAtEnds& ends : motion::period_at_ends(*problem, *schedule))
    for (const double cycles : {ends.at_least, ends.at_most})
      if (cycles > 0) reading.least = std::min(reading.least, cycles), reading.most = std::max(reading.most, cycles);
  if (reading.value <= 0) return std::nullopt;
  judge(reading);
  return reading;
}

StepVerdict judge_contention(const BenchStep& step, StepVerdict verdict, const std::string& file, const std::string& machine,
                             const StepVerdict* beside) {
  if (step.subject.empty()) {
    if (auto read = read_contention_file(file); read.ok()) verdict.readings = std::move(read->readings);
  } else if (const auto measured = read_measurement(file); measured.ok()) {
    if (auto reading = period_reading(*measured, machine)) {
      reading->experiment = step.name;
      verdict.readings.push_back(*std::move(reading));
    }
  }
  verdict.next.clear();
  if (verdict.readings.empty()) return verdict;
  verdict.outcome = StepOutcome::Good;
  verdict.finding = contention_headline(verdict.readings);
  if (const ContentionReading* own = period_of(&verdict)) {
    verdict.finding = fmt::format("{:.0f} cycles an iteration, {:.0f} by the rule of motion ({:.0f} to {:.0f}): {}", own->measured,
                                  own->value, own->least, own->most, to_string(own->verdict));
    if (const ContentionReading* other = period_of(beside)) {
      const double measured = own->measured / other->measured, ruled = own->value / other->value;
      verdict.finding += "; " + compared(measured, ruled, step.beside);
      if (std::abs(measured - 1) > kSame && std::abs(ruled - 1) > kSame && (measured < 1) != (ruled < 1))
        verdict.next = "the rule has these two orders the wrong way round";
    }
  }
  const bool outside = std::any_of(verdict.readings.begin(), verdict.readings.end(), [](const ContentionReading& r) {
    return r.verdict == ReadingVerdict::Below || r.verdict == ReadingVerdict::Above;
  });
  if (outside && verdict.next.empty())
    verdict.next = "outside of what the machine file states: docs/figures.md says what each reading decides";
  return verdict;
}

}  // namespace heddle::app
