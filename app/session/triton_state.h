// The three schedules of the open Triton kernel, as far as they are worked out: in the background, without being asked, and kept, so that
// the way back to a loop or a machine costs nothing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/jobs/triton_job.h"
#include "app/jobs/worker.h"
#include "app/session/document.h"

namespace heddle::app {

class TritonState {
 public:
  struct Known {
    TritonQuestion of;
    std::shared_ptr<const triton::Comparison> comparison;  ///< null: nothing has come yet
    std::vector<Fault> faults;                             ///< why there is none
    bool running = false, ended = false, cancelled = false;
    double seconds = 0;
  };

  TritonState(TritonTools tools, std::function<void()> wake) : tools_(std::move(tools)), wake_(std::move(wake)) {}

  /// Begins with what is open, unless that is known or was cancelled, and gives up what is not open any more.
  void follow(const Content& content);
  /// Takes in what the thread has done; true when anything changed.
  bool pump();
  /// What has come stays; it is not begun again by itself.
  void cancel();
  /// Anew.
  void start(const Content& content);
  bool close(std::chrono::steady_clock::time_point until);
  bool active() const { return job_ != nullptr; }

  /// Null: nothing is known of what is open.
  const Known* of(const Content& content) const;
  const TritonTools& tools() const { return tools_; }

 private:
  struct Event {
    std::shared_ptr<const triton::Comparison> comparison;
    std::vector<Fault> faults;
    bool last = false;
  };
  using Job = Worker<Event>;

  static std::optional<TritonQuestion> question_of(const Content& content);
  Known* find(const TritonQuestion& question);
  void begin(const TritonQuestion& question);
  void leave(bool cancelled);

  TritonTools tools_;
  std::function<void()> wake_;
  std::vector<Known> known_;             ///< newest last
  std::optional<TritonQuestion> asked_;  ///< what the job works on
  std::unique_ptr<Job> job_;
  LeavingJobs<Job> leaving_;
};

}  // namespace heddle::app
