// The launch of a PTX that is open, in place of a kernel: checked in the background, and again when asked.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/jobs/launch_job.h"
#include "app/jobs/worker.h"
#include "app/session/commands.h"
#include "app/session/open_document.h"

namespace heddle::app {

class LaunchState : SessionPart {
 public:
  LaunchState(OpenDocument& document, CheckLaunchFunction check, std::function<void()> wake)
      : SessionPart(document), check_(std::move(check)), wake_(std::move(wake)) {}

  void on(const OpenLaunch& c);
  void on(const CheckLaunch& c);
  void on(const CancelLaunch& c);
  void close_launch();
  bool pump();
  bool close(std::chrono::steady_clock::time_point until);

  /// Something is open, checked or not.
  bool open() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  bool active() const { return job_ != nullptr; }
  /// Null until there is an answer; the last one while it is worked out again.
  const std::shared_ptr<const OpenedLaunches>& answer() const { return answer_; }
  /// Why there is none.
  const std::optional<Error>& fault() const { return fault_; }
  /// Empty when it can be checked again, else why not.
  std::string why_not_again() const;

 private:
  struct Event {
    std::shared_ptr<const OpenedLaunches> answer;
    std::optional<Error> fault;
  };
  using Job = Worker<Event>;
  void begin();

  CheckLaunchFunction check_;
  std::function<void()> wake_;
  std::string path_;
  std::shared_ptr<const OpenedLaunches> answer_;
  std::optional<Error> fault_;
  std::unique_ptr<Job> job_;
  bool cancelled_ = false;  ///< the job that runs
  LeavingJobs<Job> leaving_;
};

}  // namespace heddle::app
