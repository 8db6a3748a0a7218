#include "app/session/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/jobs/remote_host.h"
#include "app/session/command_line.h"
#include "app/session/edits.h"
#include "app/session/files.h"
#include "app/session/kernel_state.h"
#include "app/session/open_document.h"
#include "app/session/solving.h"
#include "app/session/texts.h"
#include "codegen/program/target.h"
#include "core/answers/race_table.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/formats/measurement_json.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostRuns = 500;  ///< of the history that are read

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

RunRequest RunState::request_for(std::string_view command) const {
  RunRequest request;
  request.program = tools_.program;
  request.folder = tools_.folder;
  request.words = kernel_words(content_, command);
  if (const std::string& host = settings_.run_host; !host.empty()) request.words.insert(request.words.end(), {"--on", host});
  request.of = *KernelState::subject_of(content_);
  return request;
}

void RunState::read_history() {
  if (std::exchange(asked_, true) || tools_.folder.empty()) return;
  history_.start([folder = tools_.folder](std::stop_token, const auto&) { return read_runs(folder, kMostRuns); }, wake_);
}

void RunState::add(RunPtr run) {
  std::erase_if(runs_, [&](const RunPtr& known) { return known->path == run->path; });
  runs_.insert(runs_.begin(), std::move(run));
  chosen_ = 0;
}

std::string RunState::why_no_run() const {
  if (const std::string reason = KernelState::why_no_kernel(content_); !reason.empty()) return reason;
  if (const auto refusal = codegen::refuse_machine(*content_.machine)) return printable(refusal->sentence);
  const std::string& host = settings_.run_host;
  if (host.empty() && !tools_.why_no_gpu.empty()) return tools_.why_no_gpu;
  if (std::string reason = host.empty() ? "" : why_no_host(host); !reason.empty()) return reason;
  if (tools_.program.empty()) return "the command-line program heddle, which runs kernels, is not beside this one";
  if (tools_.folder.empty()) return "there is no folder to keep measurements in";
  if (std::string reason = files_.why_no_program(content_); !reason.empty()) return reason;
  return run_.active() ? "a kernel is being run" : race_.active() ? "a race is being run" : "";
}

std::string RunState::why_no_measured() const {
  const Measurement* m = measurement();
  if (!m) return "no run is chosen";
  if (!content_.entry()) return "there is no schedule yet";
  if (!m->profile) return "the chosen run has no times of its ops: profile it";
  const RunFit fit = run_fit(content_, *m);
  return fit.same_kernel ? "" : fit.sentence;
}

std::string RunState::why_no_adoption() const {
  if (const std::string reason = why_no_measured(); !reason.empty()) return reason;
  if (!run_fit(content_, *measurement()).same_schedule) return "the chosen run is of another schedule";
  if (heddle::adopt(*content_.problem, *measurement()->profile).changes.empty()) return "every latency is as it was measured";
  return {};
}

bool RunState::pump() {
  if (view_.tab == BottomTab::Runs) read_history();
  std::optional<RunAnswer> ended;
  bool news = run_.pump();
  if (news && !run_.active()) {
    if (run_.phase() == Task<RunAnswer>::Phase::Done) ended = *run_.answer();
    if (run_.phase() == Task<RunAnswer>::Phase::Failed) ended = RunAnswer{nullptr, run_.failure()};
    if (ended && ended->run) add(ended->run);
  }
  news = pump_race() || news;
  if (history_.pump()) {
    news = true;
    if (!history_.active() && history_.answer()) {
      // What was run or opened meanwhile stays in front.
      for (const RunPtr& run : *history_.answer())
        if (std::none_of(runs_.begin(), runs_.end(), [&](const RunPtr& known) { return known->path == run->path; })) runs_.push_back(run);
    }
  }
  if (ended && !ended->run) say(LogLevel::Bad, "run: " + ended->failure);
  if (ended && ended->run) {
    const Measurement& m = ended->run->measurement;
    const RunRow row = run_row(m);
    say(m.status == RunStatus::Verified ? LogLevel::Good : LogLevel::Warning,
        fmt::format("{}: {}{}{}", row.schedule, row.status, row.tflops.empty() ? "" : fmt::format(" · {} TFLOP/s", row.tflops),
                    m.sentence.empty() ? "" : " · " + printable(m.sentence)));
    if (m.profile && why_no_measured().empty()) view_.chart_view = ChartView::A, view_.measured = true;
  }
  if (news) changed();
  return news;
}

bool RunState::pump_race() {
  if (!race_.pump()) return false;
  if (race_.active()) return true;
  if (race_.phase() == Task<RaceOutcome>::Phase::Failed) say(LogLevel::Bad, "race: " + race_.failure());
  if (race_.phase() != Task<RaceOutcome>::Phase::Done) return true;
  const RaceOutcome& outcome = *race_.answer();
  if (!outcome.race)
    say(LogLevel::Bad, "race: " + outcome.failure);
  else if (const Racer* first = outcome.race->race.winner())
    say(outcome.race->race.settled ? LogLevel::Good : LogLevel::Warning,
        fmt::format("race: {} is the fastest · {}", printable(first->name), rounds_text(outcome.race->race)));
  else
    say(LogLevel::Warning, "race: " + rounds_text(outcome.race->race));
  return true;
}

void RunState::on(const RunKernel& c) {
  if (const std::string reason = why_no_run(); !reason.empty()) return say(LogLevel::Warning, "not run: " + reason);
  view_.tab = BottomTab::Runs;
  read_history();
  const std::string& host = settings_.run_host;
  RunRequest request = request_for(c.profile ? "profile" : "run");
  request.profile = profiling_ = c.profile;
  run_.start([request = std::move(request)](std::stop_token stop, const auto& say) { return run_kernel(request, std::move(stop), say); },
             wake_);
  say(LogLevel::Info, fmt::format("{} {}{}: {}", c.profile ? "profiling" : "running", content_.kernel->name,
                                  host.empty() ? "" : " on " + host, content_.entry()->name));
  changed();
}

void RunState::on(const StartRace&) {
  if (const std::string reason = why_no_run(); !reason.empty()) return say(LogLevel::Warning, "not raced: " + reason);
  view_.tab = BottomTab::Compare;
  const std::string& host = settings_.run_host;
  race_.start([request = request_for("race")](std::stop_token stop, const auto& say) { return race_kernel(request, std::move(stop), say); },
              wake_);
  say(LogLevel::Info, fmt::format("racing programs of {}{}", content_.kernel->name, host.empty() ? "" : " on " + host));
  changed();
}

void RunState::on(const CancelRace&) {
  if (!race_.active()) return;
  race_.cancel();
  say(LogLevel::Info, "the race was cancelled");
  changed();
}

void RunState::on(const CancelRun&) {
  if (!run_.active()) return;
  run_.cancel();
  say(LogLevel::Info, "the run was cancelled");
  changed();
}

RunPtr RunState::open(const std::string& path) {
  auto measurement = read_measurement(path);
  if (!measurement) {
    fail("Cannot open measurement " + base_name(path), measurement.error());
    return nullptr;
  }
  read_history();
  add(std::make_shared<const RunRecord>(RunRecord{path, std::move(*measurement)}));
  return runs_.front();
}

void RunState::show_opened(const std::string& path) {
  view_.tab = BottomTab::Runs;
  view_.measured = why_no_measured().empty();
  say(LogLevel::Info, "opened " + path);
  changed();
}

void RunState::on(const SelectRun& c) {
  chosen_ = c.index && *c.index < runs_.size() ? c.index : std::nullopt;
  if (view_.measured && !why_no_measured().empty()) view_.measured = false;
  changed();
}

void RunState::on(const ToggleMeasured&) {
  if (!view_.measured && !why_no_measured().empty()) return say(LogLevel::Warning, "no measured times: " + why_no_measured());
  view_.measured = !view_.measured;
  if (view_.measured) view_.chart_view = ChartView::A;
  changed();
}

void RunState::on(const AdoptMeasured&) {
  if (const std::string reason = why_no_adoption(); !reason.empty()) return say(LogLevel::Warning, "nothing adopted: " + reason);
  Changes next = content_.changes;
  const Changes measured = heddle::adopt(*content_.problem, *measurement()->profile).changes;
  for (const Change& change : measured) put(next, change);
  if (!edits_.change_numbers(std::move(next), fmt::format("adopt {}", count_of(static_cast<std::int64_t>(measured.size()),
                                                                               "measured latency", "measured latencies"))))
    return;
  view_.measured = false;   // those were of the numbers before
  solving_.solve_opened();  // a part of the same step
}

}  // namespace heddle::app
