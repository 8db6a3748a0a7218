// Runs of kernels on a GPU, as the window has them: the one at work, the history, and files from other machines.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/run_job.h"
#include "app/jobs/task.h"

namespace heddle::app {

class RunState {
 public:
  RunState(RunTools tools, std::function<void()> wake) : tools_(std::move(tools)), wake_(std::move(wake)) {}

  void start(const KernelSubject& subject, bool profile, std::vector<std::string> words);
  void cancel() { run_.cancel(); }
  /// Reads the folder, once.
  void read_history();
  /// Puts it in front and chooses it; one of the same path takes the old one's place.
  void add(RunPtr run);
  void choose(std::optional<std::size_t> index);
  /// Takes in what threads have done; true when anything changed. `ended`: the answer of a run that has just ended.
  bool pump(std::optional<RunAnswer>& ended);
  bool close(std::chrono::steady_clock::time_point until) { return run_.close(until) && history_.close(until); }

  const RunTools& tools() const { return tools_; }
  const std::vector<RunPtr>& runs() const { return runs_; }  ///< the newest first
  std::optional<std::size_t> chosen() const { return chosen_; }
  const Measurement* measurement() const { return chosen_ ? &runs_[*chosen_]->measurement : nullptr; }  ///< of the chosen one
  const Task<RunAnswer>& run() const { return run_; }
  bool profiling() const { return profiling_; }
  bool active() const { return run_.active() || history_.active(); }

 private:
  RunTools tools_;
  std::function<void()> wake_;
  Task<RunAnswer> run_;
  Task<std::vector<RunPtr>> history_;
  std::vector<RunPtr> runs_;
  std::optional<std::size_t> chosen_;
  bool profiling_ = false, asked_ = false;
};

}  // namespace heddle::app
