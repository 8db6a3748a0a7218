// Work on a thread of its own.
//
//   Running --cancel()--> Stopping --work done--> Finished
//      '----------------------work done-------------^
//
// Who owns what, for every job of the window (solves, questions, kernels, runs, sweeps, layouts):
//  1. The thread owns what it uses: values that were moved in, and shared ones that do not change (shared_ptr<const T>). Nothing in the
//     work refers to a session, a document, a panel or whoever asked: those may be gone before it ends.
//  2. What it says goes into a channel that thread and worker own together. Whoever owns the worker takes it out, on his own thread,
//     between two frames; `wake` only says that there is something, and what it touches outlives the worker.
//  3. Whoever asks keeps what he asked about beside the worker, and compares before he uses an answer: one about a problem that is
//     not open any more is dropped. He does not rely on every command to have cancelled the job.
//  4. A job that is given up goes into LeavingJobs: its answer is ignored, and it is joined once it has ended. Destroying a worker
//     joins its thread, so whatever owns workers is destroyed before what their `wake` touches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/hand_over.h"

namespace heddle::app {

enum class WorkState { Running, Stopping, Finished };

template <class Event>
class Worker {
 public:
  using Push = std::function<void(Event)>;
  /// What it returns is the last event.
  using Work = std::function<Event(std::stop_token, const Push&)>;

  /// Starts at once. `failed` makes the last event of an exception's text. `wake` is called from the worker after every
  /// event; it must be safe to call from any thread, and may be empty.
  Worker(Work work, std::function<Event(std::string)> failed, std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
    shared_->wake = std::move(wake);
    // The thread owns what it uses, so that it may outlive this object when the program has to leave without it.
    thread_ = std::jthread([shared = shared_, work = std::move(work), failed = std::move(failed)](std::stop_token stop) {
      hand_over_point();
      try {
        shared->push(work(stop, [&](Event event) { shared->push(std::move(event), false); }), true);
      } catch (const std::exception& e) {
        shared->push(failed(e.what()), true);
      } catch (...) {
        shared->push(failed("unknown exception"), true);
      }
    });
  }
  /// Asks to stop and waits for the work to end.
  ~Worker() {
    hand_over_point();
    thread_.request_stop();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Asks the work to stop; returns at once.
  void cancel() {
    if (cancelled_) return;
    cancelled_ = true;
    hand_over_point();
    thread_.request_stop();
  }

  WorkState state() const {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->finished) return WorkState::Finished;
    return cancelled_ ? WorkState::Stopping : WorkState::Running;
  }

  /// Events since the last call, in order. Never waits for the work.
  std::vector<Event> drain() {
    hand_over_point();
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->events, {});
  }

  /// Waits for the work to end, at most so long; true when it has.
  bool wait(std::chrono::milliseconds limit) const {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, limit, [&] { return shared_->finished; });
  }
  /// The same until then.
  bool wait_until(std::chrono::steady_clock::time_point until) const {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_until(lock, until, [&] { return shared_->finished; });
  }

  /// Since the start; stands still when finished.
  double seconds() const {
    const std::lock_guard lock(shared_->mutex);
    const auto end = shared_->finished ? shared_->ended : Clock::now();
    return std::chrono::duration<double>(end - shared_->started).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Event> events;
    bool finished = false;
    const Clock::time_point started = Clock::now();
    Clock::time_point ended{};
    std::function<void()> wake;

    void push(Event event, bool last) {
      hand_over_point();
      {
        const std::lock_guard lock(mutex);
        events.push_back(std::move(event));
        if (last) {
          finished = true;
          ended = Clock::now();
        }
      }
      hand_over_point();
      if (last) changed.notify_all();
      if (wake) wake();
    }
  };

  std::shared_ptr<Shared> shared_;
  bool cancelled_ = false;
  std::jthread thread_;  // last: joined before anything else of this goes
};

/// Jobs that were given up, until they have ended.
template <class Job>
class LeavingJobs {
 public:
  /// Asks it to stop; returns at once. Nothing happens without a job.
  void take(std::unique_ptr<Job> job) {
    if (!job) return;
    job->cancel();
    jobs_.push_back(std::move(job));
  }
  /// Joins those that have ended. Call now and then.
  void sweep() {
    std::erase_if(jobs_, [](const auto& job) { return job->state() == WorkState::Finished; });
  }
  /// Waits for all of them, until then at most; true when they have ended.
  bool wait_until(std::chrono::steady_clock::time_point until) {
    for (const auto& job : jobs_)
      if (!job->wait_until(until)) return false;
    jobs_.clear();
    return true;
  }

 private:
  std::vector<std::unique_ptr<Job>> jobs_;
};

}  // namespace heddle::app
