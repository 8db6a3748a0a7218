// A question of the window and what has come of it. Answers stay until the same topic is asked again: after an undo the
// answer to the question that came back is still there.
#pragma once

#include <memory>
#include <string>

#include "app/jobs/ask_options.h"
#include "app/jobs/question.h"
#include "app/session/document.h"

namespace heddle::app {

struct QuestionState {
  enum class Phase {
    None,     ///< never asked
    Waiting,  ///< until another question is answered
    Running,
    Stopping,
    Done
  };
  Phase phase = Phase::None;
  AskOptions options;
  // What it was asked about.
  std::uint64_t document = 0;
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<const Problem> problem;
  Constraints constraints;
  EntryPtr entry;  ///< that was shown
  std::string doing;
  double seconds = 0;
  std::string failure;  ///< an internal error; empty when all is well
  AnyAnswer answer;     ///< partial while it runs

  bool active() const { return phase == Phase::Waiting || phase == Phase::Running || phase == Phase::Stopping; }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&answer);
  }
};

/// True when the answer is one to the question as it stands now: same problem, same constraints, and where the answer is
/// about a schedule, that one is shown.
bool up_to_date(const QuestionState& asked, Topic topic, const Content& content);

}  // namespace heddle::app
