// Predictions against published measurements, as the window has them: the validation at work, its answer, and what the prediction of the
// chosen row is made of.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/validator.h"
#include "app/jobs/task.h"
#include "app/session/commands.h"
#include "app/session/edits.h"
#include "core/answers/validation.h"
#include "core/base/result.h"
#include "core/simulate/time_parts.h"

namespace heddle::app {

/// What is validated; tests put small files in.
struct TruthTools {
  std::vector<std::string> files;     ///< of measurements; none: the shipped one
  std::optional<std::string> ground;  ///< what to validate them on; none: the shipped one
};

struct TruthAnswer {
  std::vector<Fault> faults;  ///< why nothing was validated
  Validation validation;
  std::vector<std::shared_ptr<const RowModel>> models;  ///< of each row; null where nothing stands for it
};
TruthAnswer validate_published(const TruthTools& tools, std::stop_token stop, const std::function<void(std::string)>& say);

class TruthState : Opener {
 public:
  TruthState(Edits& edits, TruthTools tools, std::function<void()> wake)
      : Opener(edits), tools_(std::move(tools)), wake_(std::move(wake)) {}

  void on(const Validate& c);
  void on(const CancelValidation& c);
  void on(const SelectPublished& c);
  void on(const OpenPublished& c);
  /// Takes in what threads have done; true when anything changed.
  bool pump();
  bool close(std::chrono::steady_clock::time_point until) { return task_.close(until) && parts_.close(until); }

  /// Empty when a validation can be started, else why not.
  std::string why_no_validation() const;
  const TruthTools& tools() const { return tools_; }
  const Task<TruthAnswer>& task() const { return task_; }
  /// Null before there is one, and where files were wrong.
  const TruthAnswer* answer() const { return task_.answer() && task_.answer()->faults.empty() ? task_.answer().get() : nullptr; }
  const std::vector<Fault>& faults() const;
  std::optional<std::size_t> chosen() const { return chosen_; }  ///< a row of the answer
  /// Of the chosen row; null while they are worked out. Empty where it has none.
  const std::vector<TimePart>* parts() const;
  bool active() const { return task_.active() || parts_.active(); }

 private:
  struct Parts {
    std::size_t row = 0;
    std::vector<TimePart> parts;
  };
  /// Anew; the earlier answer stays until the next one is there.
  void start();
  /// Works out what the row's prediction is made of, unless that is known.
  void choose(std::optional<std::size_t> row);

  TruthTools tools_;
  std::function<void()> wake_;
  Task<TruthAnswer> task_;
  Task<Parts> parts_;
  std::map<std::size_t, std::vector<TimePart>> known_;  ///< of the answer's rows
  std::optional<std::size_t> chosen_;
};

}  // namespace heddle::app
