// The session's log: what was opened, solved, found and refused, with the time since the start.
#pragma once

#include <string>
#include <vector>

namespace heddle::app {

enum class LogLevel { Info, Good, Warning, Bad, Detail };

struct LogEntry {
  double seconds = 0;  ///< since the session began
  LogLevel level = LogLevel::Info;
  std::string text;
};

using Log = std::vector<LogEntry>;

}  // namespace heddle::app
