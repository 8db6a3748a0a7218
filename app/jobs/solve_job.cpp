// The worker's side of a solve job and its channel.
#include "app/jobs/solve_job.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace heddle::app {

using Clock = std::chrono::steady_clock;

struct SolveJob::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<JobEvent> events;
  bool finished = false;
  const Clock::time_point started = Clock::now();
  Clock::time_point ended{};
  std::function<void()> wake;

  void push(JobEvent event, bool last) {
    {
      const std::lock_guard lock(mutex);
      events.push_back(std::move(event));
      if (last) {
        finished = true;
        ended = Clock::now();
      }
    }
    if (last) changed.notify_all();
    if (wake) wake();
  }
};

SolveFunction built_in_solver() {
#ifdef HEDDLE_HAS_SOLVER
  return [](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listener) {
    return solver::solve(request, std::move(stop), listener);
  };
#else
  return {};
#endif
}

std::string built_in_solver_name() {
#ifdef HEDDLE_HAS_SOLVER
  return solver::solver_version();
#else
  return "this build has no solver (configure with -DHEDDLE_SOLVER=ON)";
#endif
}

SolveJob::SolveJob(SolveFunction solve, solver::SolveRequest request, std::function<void()> wake)
    : shared_(std::make_shared<Shared>()) {
  shared_->wake = std::move(wake);
  // The worker owns what it uses, so that it may outlive this object when the program has to leave without it.
  worker_ =
      std::jthread([shared = shared_, solve = std::move(solve), request = std::move(request)](std::stop_token stop) {
        try {
          SolveOutcome outcome =
              solve(request, stop, [&](const solver::SolveEvent& event) { shared->push(event, false); });
          shared->push(std::move(outcome), true);
        } catch (const std::exception& e) {
          shared->push(JobFailure{e.what()}, true);
        } catch (...) {
          shared->push(JobFailure{"unknown exception"}, true);
        }
      });
}

SolveJob::~SolveJob() { worker_.request_stop(); }

void SolveJob::cancel() {
  if (cancelled_) return;
  cancelled_ = true;
  cancelled_at_ = Clock::now();
  worker_.request_stop();
}

SolveJob::State SolveJob::state() const {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->finished) return State::Finished;
  return cancelled_ ? State::Stopping : State::Running;
}

std::vector<JobEvent> SolveJob::drain() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->events, {});
}

bool SolveJob::wait(std::chrono::milliseconds limit) const {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, limit, [&] { return shared_->finished; });
}

double SolveJob::seconds() const {
  const std::lock_guard lock(shared_->mutex);
  const auto end = shared_->finished ? shared_->ended : Clock::now();
  return std::chrono::duration<double>(end - shared_->started).count();
}

double SolveJob::seconds_since_cancel() const {
  return cancelled_ ? std::chrono::duration<double>(Clock::now() - cancelled_at_).count() : 0;
}

}  // namespace heddle::app
