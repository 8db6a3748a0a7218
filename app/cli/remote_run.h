// heddle run, profile and calibrate --on HOST: what is asked and solved here is run there, and its answer is this program's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "core/records/measurement.h"

namespace heddle::app {

/// What a run without a GPU says last, here; where a host has none, that is said instead.
inline constexpr std::string_view kWithoutGpu =
    "without a GPU a kernel can still be compiled and interpreted: heddle compile, heddle interpret";

/// The measurement that `command` (run or profile) makes on the host of --on. Without one the exit code is in `code`, and the reason has
/// been printed, with --json as an object too.
std::optional<Measurement> measured_on_host(const std::string& command, const Arguments& arguments, const Terminal& terminal, int& code);

/// heddle calibrate there, of this machine file; `path` gets what it makes. The exit code.
int calibrate_on_host(const std::string& machine, const std::string& path, const Arguments& arguments, const Terminal& terminal);

}  // namespace heddle::app
