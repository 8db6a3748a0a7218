// One piece of background work as the session keeps it: what it says while it runs, and what came of it last. An earlier
// answer stays until the next one is there, so that it can be shown as the old one meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/jobs/worker.h"

namespace heddle::app {

template <class T>
class Task {
 public:
  enum class Phase { None, Running, Done, Cancelled, Failed };
  using Answer = std::shared_ptr<const T>;
  using Say = std::function<void(std::string)>;
  using Work = std::function<T(std::stop_token, const Say&)>;

  /// Starts at once; what ran is cancelled.
  void start(Work work, std::function<void()> wake) {
    cancel();
    phase_ = Phase::Running;
    doing_.clear();
    failure_.clear();
    seconds_ = 0;
    job_ = std::make_unique<Job>(
        [work = std::move(work)](std::stop_token stop, const typename Job::Push& push) {
          return Event(Answer(std::make_shared<const T>(work(std::move(stop), [&](std::string doing) { push(Doing{std::move(doing)}); }))));
        },
        [](std::string why) { return Event(Failure{std::move(why)}); }, std::move(wake));
  }

  /// At once, whatever the work is in the middle of: its thread is left to end by itself, and its answer is ignored.
  void cancel() {
    if (!job_) return;
    leaving_.take(std::move(job_));
    if (phase_ == Phase::Running) phase_ = Phase::Cancelled;
  }

  /// As if the work had come to this; nothing may be at work.
  void replace(Answer answer) { answer_ = std::move(answer); }

  /// Takes in what has come; true when anything changed.
  bool pump() {
    leaving_.sweep();
    if (!job_) return false;
    const bool ended = job_->state() == WorkState::Finished;
    std::vector<Event> events = job_->drain();
    seconds_ = job_->seconds();
    for (Event& event : events) {
      if (auto* doing = std::get_if<Doing>(&event)) doing_ = std::move(doing->text);
      if (auto* answer = std::get_if<Answer>(&event)) answer_ = std::move(*answer), phase_ = Phase::Done;
      if (auto* failure = std::get_if<Failure>(&event)) failure_ = std::move(failure->text), phase_ = Phase::Failed;
    }
    if (ended && phase_ != Phase::Running) job_.reset();
    return !events.empty();
  }

  /// Cancels everything and waits for it to end, until then at most; true when it has.
  bool close(std::chrono::steady_clock::time_point until) {
    cancel();
    return leaving_.wait_until(until);
  }

  bool active() const { return phase_ == Phase::Running; }
  Phase phase() const { return phase_; }
  const std::string& doing() const { return doing_; }
  const std::string& failure() const { return failure_; }  ///< an internal error
  double seconds() const { return seconds_; }
  const Answer& answer() const { return answer_; }

 private:
  struct Doing {
    std::string text;
  };
  struct Failure {
    std::string text;
  };
  using Event = std::variant<Doing, Answer, Failure>;
  using Job = Worker<Event>;

  Phase phase_ = Phase::None;
  std::string doing_, failure_;
  double seconds_ = 0;
  Answer answer_;
  std::unique_ptr<Job> job_;
  LeavingJobs<Job> leaving_;
};

}  // namespace heddle::app
