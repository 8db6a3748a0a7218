// How a question ended, in the same few words for all of them, and in which form its answer is told.
#pragma once

#include <string>
#include <vector>

#include "core/base/text_style.h"
#include "core/schedule/outcome.h"

namespace heddle::app {

struct Subject;  // app/ask/subject.h
template <class Answer>
struct Listener;  // app/ask/listener.h

enum class Ending {
  Done,
  Negative,  ///< there is none, proved
  NoProof,   ///< its time ended before all was found or proved
  Interrupted,
  InvalidInput,
  Internal
};

struct Ended {
  Ended(Ending how, std::vector<std::string> said = {}) : ending(how), complaints(std::move(said)) {}

  Ending ending;
  std::vector<std::string> complaints;  ///< what is to be said beside the answer: the program or the question is at fault
};

int exit_code(const Ended& ended);

/// Of a search for a schedule. `require_optimal`: one that is not proved is not enough.
Ended ended(const SolveOutcome& outcome, bool require_optimal = false);

/// In which form an answer is told; not every one has a headline.
struct Telling {
  enum class Form { Json, Headline, Text };
  Form form = Form::Text;
  TextStyle style{};
  bool all = false;  ///< as text: also what has no effect

  bool json() const { return form == Form::Json; }
  bool brief() const { return form == Form::Headline; }
};

}  // namespace heddle::app
