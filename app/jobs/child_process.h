// A program as a child: started without a shell, its lines of standard error heard as they come, ended when it is not wanted any more.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heddle::app {

struct ChildResult {
  int code = -1;           ///< of its exit; -1: a signal ended it
  int signal = 0;          ///< that ended it
  std::string out;         ///< all of its standard output
  std::string last_error;  ///< the last line of its standard error that says something
  bool cancelled = false;
  bool timed_out = false;     ///< ended because its time was up
  std::int64_t peak_kib = 0;  ///< of its memory in use
};

/// Time is up after `seconds` (0: never); then it gets SIGTERM to say what it knows, and SIGKILL when `grace` is over too.
struct ChildTime {
  double seconds = 0, grace = 2;
};

/// What it reads from standard input: a file, or a text behind which nothing ends until the child does, so that who hears the end of its
/// input knows that we are gone; nothing where both are empty.
struct ChildInput {
  std::string file{}, text{};
};

/// Starts words[0], looked for on PATH where it is no path, with the others as its arguments and waits for its end. When it is to stop, the
/// child and what it has started get SIGTERM, and SIGKILL a second later. Environment errors: it cannot be started, or writes without end.
Result<ChildResult> run_child(std::vector<std::string> words, std::stop_token stop,
                              const std::function<void(std::string_view line)>& error_line, ChildTime time = {}, ChildInput input = {});

}  // namespace heddle::app
