// heddle fit of race files: numbers of contention, from how long programs took against each other.
#pragma once

#include <string>

#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "core/answers/fit.h"
#include "core/machine/machine.h"

namespace heddle::app {

/// Whether this file says that it is one; one that cannot be read is none.
bool is_race(const std::string& path);

struct MachineFile {
  const std::string& text;
  const Machine& machine;
};
/// FILES are races, all of them. The exit code.
int fit_to_races(const MachineFile& file, const Arguments& arguments, const Terminal& terminal);

/// What every fit ends with: `text` is the machine's file with the fitted numbers, for --out; then the answer. The exit code.
int tell_fit(const Machine& machine, const FitAnswer& answer, const std::string& text, const Arguments& arguments,
             const Terminal& terminal);

}  // namespace heddle::app
