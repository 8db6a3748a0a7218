// The command line's side of a question: progress on standard error and Ctrl-C while it is worked on, then the answer and the exit code.
#pragma once

#include <string>

#include "app/ask/ending.h"
#include "app/ask/listener.h"
#include "app/cli/solving.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"

namespace heddle::app {

void show(ProgressLine& line, const News& news);

/// question(stop token, listener), heard on the terminal; Ctrl-C ends it with what is known.
template <class AnyAnswer, class Question>
auto asked(const Terminal& terminal, const Question& question) {
  const InterruptScope interrupt;
  ProgressLine line(terminal);
  return question(interrupt.token(),
                  Listener<AnyAnswer>{[&](const News& news, const AnyAnswer*) { show(line, news); }, listener_for(line), terminal.style});
}

/// Json for --json, Headline for --quiet.
Telling telling(const Terminal& terminal, bool json, bool all = false);

/// Prints what is told of an answer, complains of what went wrong, and returns the exit code.
int tell(const Terminal& terminal, bool json, const std::string& text, const Ended& end);

}  // namespace heddle::app
