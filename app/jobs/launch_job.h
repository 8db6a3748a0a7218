// Launches of somebody's PTX, checked in the background: what the window shows of them.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ptx/report/check_words.h"

namespace heddle::app {

struct OpenedLaunch {
  ptx::CheckedLaunch as;
  std::shared_ptr<const std::string> text;  ///< of the PTX; null: it could not be read
};
using OpenedLaunches = std::vector<OpenedLaunch>;  ///< one or more; those that are not in order first

/// Reads and checks what was named: a launch file, a PTX with its launch beside it, or the folder of a capture. Stopped, it gives what it
/// has found, or an error.
using CheckLaunchFunction = std::function<Result<OpenedLaunches>(const std::string& path, std::stop_token stop)>;
CheckLaunchFunction built_in_launch_check();

}  // namespace heddle::app
