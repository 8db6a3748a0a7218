// Runs of kernels on a GPU, as the window has them: the one at work, the history, and files from other machines; and the last race.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/run_job.h"
#include "app/jobs/task.h"
#include "app/session/commands.h"
#include "app/session/edits.h"
#include "app/session/tone.h"
#include "core/records/measurement.h"

namespace heddle::app {

/// How a measured run and the shown schedule belong together.
struct RunFit {
  bool same_kernel = false;    ///< kernel and parameters
  bool same_schedule = false;  ///< measured of just this program of just this problem
  std::string sentence;        ///< "measured of what is shown", or what is different
};
RunFit run_fit(const Content& content, const Measurement& measurement);

/// A line of the history.
struct RunRow {
  std::string date;  ///< "2026-11-21 14:02"
  std::string kernel, device, schedule, status;
  Tone tone = Tone::Neutral;
  std::string tflops, ratio, predicted, measured, residual;  ///< empty where there is none
  std::size_t index = 0;                                     ///< in the history that it stands in
};
RunRow run_row(const Measurement& measurement);

/// "+3.5 %", "-0.2 %"
std::string percent_text(double share);

/// To the next whole cycle, within what a chart can show.
Cycle whole_cycles(double cycles);

class RunState : Opener {
 public:
  RunState(Edits& edits, RunTools tools, std::function<void()> wake) : Opener(edits), tools_(std::move(tools)), wake_(std::move(wake)) {}

  void on(const RunKernel& c);
  void on(const CancelRun& c);
  void on(const StartRace& c);
  void on(const CancelRace& c);
  void on(const SelectRun& c);
  void on(const ToggleMeasured& c);
  void on(const AdoptMeasured& c);
  /// A measurement's file becomes the run that is chosen; null: it is none, which is said.
  RunPtr open(const std::string& path);
  void show_opened(const std::string& path);
  /// Takes in what threads have done; true when anything changed.
  bool pump();
  bool close(std::chrono::steady_clock::time_point until) { return run_.close(until) && race_.close(until) && history_.close(until); }

  /// Empty when the shown schedule's kernel can be run here, or raced, else why not.
  std::string why_no_run() const;
  /// Empty when the chosen run's times can be laid over the chart, else why not; the same for adopting its latencies.
  std::string why_no_measured() const;
  std::string why_no_adoption() const;
  const RunTools& tools() const { return tools_; }
  const std::vector<RunPtr>& runs() const { return runs_; }  ///< the newest first
  std::optional<std::size_t> chosen() const { return chosen_; }
  const Measurement* measurement() const { return chosen_ ? &runs_[*chosen_]->measurement : nullptr; }  ///< of the chosen one
  const Task<RunAnswer>& run() const { return run_; }
  bool profiling() const { return profiling_; }
  const Task<RaceOutcome>& race() const { return race_; }
  bool active() const { return run_.active() || race_.active() || history_.active(); }

 private:
  /// The shown schedule, for a child of this command.
  RunRequest request_for(std::string_view command) const;
  bool pump_race();
  /// Reads the folder, once.
  void read_history();
  /// Puts it in front and chooses it; one of the same path takes the old one's place.
  void add(RunPtr run);

  RunTools tools_;
  std::function<void()> wake_;
  Task<RunAnswer> run_;
  Task<RaceOutcome> race_;
  Task<std::vector<RunPtr>> history_;
  std::vector<RunPtr> runs_;
  std::optional<std::size_t> chosen_;
  bool profiling_ = false, asked_ = false;
};

}  // namespace heddle::app
