// Ctrl-C while something runs: the first asks it to stop, the second leaves at once.
#pragma once

#include <stop_token>

namespace heddle::app {

/// While it lives, SIGINT and SIGTERM request a stop; a second one ends the process with exit code 130. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  std::stop_token token() const;
  /// True once a signal came.
  bool interrupted() const;

 private:
  struct State;
  State* state_;
};

}  // namespace heddle::app
