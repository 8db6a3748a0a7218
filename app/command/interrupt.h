// Ctrl-C while something runs: the first asks it to stop, the second leaves at once. The end of its time asks it to stop, too.
#pragma once

#include <stop_token>

#include "core/base/deadline.h"

namespace heddle::app {

/// While it lives, SIGINT, SIGTERM and SIGHUP request a stop (SIGHUP not where the process was started to ignore it, as nohup does); a
/// second SIGINT or SIGTERM ends the process with exit code 130. A hang-up often comes twice and forces nothing. One scope at a time; in
/// those that follow in the same command a signal is not forgotten: they begin with the stop requested.
class InterruptScope {
 public:
  /// A stop is requested at the deadline, too.
  explicit InterruptScope(const Deadline& deadline = {});
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  std::stop_token token() const;
  /// True once a signal came.
  bool interrupted() const;
  /// True where the deadline requested the stop.
  bool timed_out() const;

  /// A new command begins: signals of the one before do not count.
  static void begin_command();

 private:
  struct State;
  State* state_;
};

}  // namespace heddle::app
