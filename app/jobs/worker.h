// Work on a thread of its own. Only values cross: what the work needs is moved in, events come out through a channel that
// the window drains once per frame, and a callback wakes the window when there is something to drain.
//
//   Running --cancel()--> Stopping --work done--> Finished
//      '----------------------work done-------------^
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
  Worker(Work work, std::function<Event(std::string)> failed, std::function<void()> wake)
      : shared_(std::make_shared<Shared>()) {
    shared_->wake = std::move(wake);
    // The thread owns what it uses, so that it may outlive this object when the program has to leave without it.
    thread_ = std::jthread([shared = shared_, work = std::move(work), failed = std::move(failed)](std::stop_token stop) {
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
  ~Worker() { thread_.request_stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Asks the work to stop; returns at once.
  void cancel() {
    if (cancelled_) return;
    cancelled_ = true;
    cancelled_at_ = Clock::now();
    thread_.request_stop();
  }

  WorkState state() const {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->finished) return WorkState::Finished;
    return cancelled_ ? WorkState::Stopping : WorkState::Running;
  }

  /// Events since the last call, in order. Never waits for the work.
  std::vector<Event> drain() {
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->events, {});
  }

  /// Waits for the work to end, at most so long; true when it has.
  bool wait(std::chrono::milliseconds limit) const {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, limit, [&] { return shared_->finished; });
  }

  /// Since the start; stands still when finished.
  double seconds() const {
    const std::lock_guard lock(shared_->mutex);
    const auto end = shared_->finished ? shared_->ended : Clock::now();
    return std::chrono::duration<double>(end - shared_->started).count();
  }

  /// Since cancel(); 0 when it was not called.
  double seconds_since_cancel() const {
    return cancelled_ ? std::chrono::duration<double>(Clock::now() - cancelled_at_).count() : 0;
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

  std::shared_ptr<Shared> shared_;
  Clock::time_point cancelled_at_{};
  bool cancelled_ = false;
  std::jthread thread_;
};

}  // namespace heddle::app
