// One solve in the background. Only values cross the thread: a request goes in, events come out through a channel that
// the window drains once per frame, and a callback wakes the window when there is something to drain.
//
//   Running --cancel()--> Stopping --worker done--> Finished
//      '-----------------------worker done------------^
//
// The solve function is given, so that tests use a fake one and a build without a solver has none.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/schedule/outcome.h"
#include "solver/solve.h"

namespace heddle::app {

using SolveFunction =
    std::function<SolveOutcome(const solver::SolveRequest&, std::stop_token, const solver::SolveListener&)>;

/// The real solver, or an empty function in a build without one.
SolveFunction built_in_solver();
/// Its name and version ("Z3 4.15.4"); why there is none in a build without one.
std::string built_in_solver_name();

/// The worker failed inside; nothing is known about the problem.
struct JobFailure {
  std::string message;
};
/// The last event of a job is a SolveOutcome or a JobFailure.
using JobEvent = std::variant<solver::SolveEvent, SolveOutcome, JobFailure>;

class SolveJob {
 public:
  enum class State { Running, Stopping, Finished };

  /// Starts at once. `wake` is called from the worker after every event; it must be safe to call from any thread.
  SolveJob(SolveFunction solve, solver::SolveRequest request, std::function<void()> wake);
  /// Asks to stop and waits for the worker.
  ~SolveJob();
  SolveJob(const SolveJob&) = delete;
  SolveJob& operator=(const SolveJob&) = delete;

  /// Asks the worker to stop; returns at once.
  void cancel();
  State state() const;
  /// Events since the last call, in order. Never waits for the worker's work.
  std::vector<JobEvent> drain();
  /// Waits for the worker, at most so long; true when it is done.
  bool wait(std::chrono::milliseconds limit) const;
  /// Since the start; stands still when finished.
  double seconds() const;
  /// Since cancel(); 0 when it was not called.
  double seconds_since_cancel() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::chrono::steady_clock::time_point cancelled_at_{};
  bool cancelled_ = false;
  std::jthread worker_;
};

}  // namespace heddle::app
