// A launch of somebody's PTX, checked in the background: what the window shows of it.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "core/base/result.h"
#include "ptx/report/check.h"

namespace heddle::app {

struct CheckedLaunch {
  std::string file;  ///< of the PTX
  std::string text;  ///< all of it
  ptx::Checked checked;
};

/// Reads and checks what was named: a launch file, or a PTX with the launch beside it. Stopped, it gives what it has found, or an error.
using CheckLaunchFunction = std::function<Result<CheckedLaunch>(const std::string& path, std::stop_token stop)>;
CheckLaunchFunction built_in_launch_check();

/// "in order", "2 wrong, 1 doubtful", "stopped: ..." for people.
std::string in_short(const ptx::Checked& checked);

}  // namespace heddle::app
