#include "app/bench/report.h"

#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "core/answers/contention_table.h"
#include "core/formats/measurement_json.h"

namespace heddle::app {
namespace {

std::string speed(double tflops) { return tflops > 0 ? fmt::format("{:.1f}", tflops) : std::string(); }

/// "0.95", cold and sustained of what both were measured for.
std::string part(std::optional<double> ratio) { return ratio ? fmt::format("{:.3f}", *ratio) : std::string(); }

std::string table_of_speeds(const std::vector<BenchStep>& steps, const std::string& folder, std::string& device) {
  std::vector<std::vector<std::string>> rows;
  for (const BenchStep& step : steps) {
    if (step.kind != BenchStepKind::Speed && step.kind != BenchStepKind::Compare) continue;
    const auto read = read_measurement((std::filesystem::path(folder) / (step.name + ".json")).string());
    if (!read.ok() || !read->timing || read->timing->kernel.median_us <= 0) continue;
    const Measurement& m = *read;
    const Timing& t = *m.timing;
    if (m.device && device.empty()) device = fmt::format("{}, driver {}", m.device->name, m.device->driver);
    std::vector<std::string> row{step.name, fmt::format("{:.1f}", t.kernel.median_us), speed(t.kernel.tflops),
                                 speed(t.kernel.sustained_tflops)};
    const TimedLibrary* library = nullptr;
    for (const TimedLibrary& l : t.libraries)
      if (t.ratio(l.times)) library = &l;
    if (library)
      row.insert(row.end(), {library->times.name, speed(library->times.tflops), speed(library->times.sustained_tflops),
                             part(t.ratio(library->times)), part(t.sustained_ratio(library->times))});
    else
      row.insert(row.end(), 5, "");
    row.push_back(m.measured_ii ? fmt::format("{:.0f}", *m.measured_ii) : "");
    row.push_back(std::to_string(m.predicted_ii));
    row.push_back(m.device && m.device->clock_mhz > 0 ? fmt::format("{:.0f}", m.device->clock_mhz) : "");
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return {};
  return text_table({{"measured", false},
                     {"us", true},
                     {"TFLOP/s", true},
                     {"sustained", true},
                     {"library", false},
                     {"TFLOP/s", true},
                     {"sustained", true},
                     {"of it", true},
                     {"sustained", true},
                     {"cycles/trip", true},
                     {"II", true},
                     {"MHz", true}},
                    rows);
}

}  // namespace

std::string step_text(const StepRecord& record) {
  std::string text = fmt::format("{:<12} {}: {}", to_string(record.verdict.outcome), record.name, printable(record.verdict.finding));
  if (!record.verdict.next.empty()) text += fmt::format("\n{:<12} next: {}", "", printable(record.verdict.next));
  return text;
}

std::string bench_report(const BenchRecord& record, const std::vector<BenchStep>& steps, const std::string& folder,
                         const TextStyle& style) {
  std::string device;
  const std::string speeds = table_of_speeds(steps, folder, device);
  std::vector<std::string> facts{"heddle bench " + record.machine};
  if (!device.empty()) facts.push_back(device);
  std::string text = join_facts(facts, style) + "\n";
  if (!speeds.empty()) text += "\n" + speeds;
  std::vector<ContentionReading> readings;
  for (const BenchStep& step : steps)
    if (const StepRecord* found = record.find(step.name))
      readings.insert(readings.end(), found->verdict.readings.begin(), found->verdict.readings.end());
  if (!readings.empty()) text += "\nnumbers of contention, measured and in the machine file\n" + contention_table(readings);
  std::string open;
  std::map<StepOutcome, int> counts;
  for (const BenchStep& step : steps) {
    const StepRecord* found = record.find(step.name);
    if (!found) continue;
    ++counts[found->verdict.outcome];
    const bool concluded = step.kind == BenchStepKind::FollowUp;  // what it has shown stands with its check
    if (!concluded && (is_bad(found->verdict.outcome) || !found->verdict.next.empty())) open += step_text(*found) + "\n";
  }
  if (!open.empty()) text += "\nto look at\n" + open;
  std::vector<std::string> sums;
  for (const auto& [outcome, count] : counts) sums.push_back(fmt::format("{} {}", count, to_string(outcome)));
  text += "\n" + join_facts(sums, style) + "\n";
  return text;
}

}  // namespace heddle::app
