// What the simulator says of whole kernels, as `heddle simulate` does without options: of every schedule in the list, one after another in
// the background, and kept; with all details, of the shown one while they are looked at.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/jobs/task.h"
#include "app/session/document.h"
#include "app/session/open_document.h"
#include "core/answers/simulation.h"

namespace heddle::app {

struct PredictionSubject {
  Instance instance;
  EntryPtr entry;
  bool edited = false;   ///< the machine is not that of its file
  bool details = false;  ///< the loop alone, and what the time is made of, too
};
using PredictFunction = std::function<SimulationAnswer(const PredictionSubject&, std::stop_token)>;
PredictFunction built_in_prediction();

class PredictionState : SessionPart {
 public:
  PredictionState(OpenDocument& document, PredictFunction predict, std::function<void()> wake)
      : SessionPart(document), predict_(std::move(predict)), wake_(std::move(wake)) {}

  /// Takes in what the thread has done, and begins with what is missing; true when anything changed.
  bool pump();
  bool close(std::chrono::steady_clock::time_point until) { return task_.close(until); }
  bool active() const { return task_.active(); }
  /// There is somebody who predicts.
  bool able() const { return predict_ != nullptr; }

  /// Null: not known yet, or nothing can be said: of dumps, illegal schedules, and those that are still being solved.
  std::shared_ptr<const SimulationAnswer> of(const Content& content, const ScheduleEntry& entry) const {
    return find(content, entry, false);
  }
  std::shared_ptr<const SimulationAnswer> details(const Content& content, const ScheduleEntry& entry) const {
    return find(content, entry, true);
  }
  /// Why nothing can be said, as a sentence; empty: it can.
  static std::string why_not(const Content& content, const ScheduleEntry& entry);

 private:
  struct Known {
    std::shared_ptr<const Problem> problem;
    Schedule schedule;
    std::shared_ptr<const SimulationAnswer> answer;
    bool details = false;
  };
  /// True when anything changed.
  bool take();
  /// Starts the next prediction that is missing, that of the shown schedule first. A running one that is no longer needed is stopped.
  /// `details`: with the details of the shown schedule.
  void follow(const Content& content, bool details);
  std::shared_ptr<const SimulationAnswer> find(const Content& content, const ScheduleEntry& entry, bool details) const;
  std::optional<PredictionSubject> next(const Content& content, bool details) const;
  bool wanted(const Content& content, bool details) const;

  PredictFunction predict_;
  std::function<void()> wake_;
  std::optional<PredictionSubject> subject_;  ///< what is being worked on, or was last
  Task<SimulationAnswer> task_;
  std::vector<Known> known_;  ///< newest last
};

}  // namespace heddle::app
