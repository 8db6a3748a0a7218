// What long work is doing, as one line on standard error, redrawn ten times a second; only on a terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/command/terminal.h"

namespace heddle::app {

/// Safe to call from any thread.
class ProgressLine {
 public:
  explicit ProgressLine(const Terminal& terminal);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// What the line says from now on; the time since the start is added.
  void show(std::vector<std::string> facts);
  /// A line of its own, with -v.
  void say(const std::string& line);
  /// A line of its own unless --quiet: a part of the answer that is known already.
  void announce(const std::string& line);

 private:
  void tick(const std::stop_token& stop);
  void clear();

  const Terminal& terminal_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // guards all below
  std::condition_variable_any wake_;
  std::vector<std::string> facts_;
  bool shown_ = false;
  std::jthread ticker_;  // last: it uses the others
};

}  // namespace heddle::app
