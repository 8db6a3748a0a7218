// The other schedule of a command that looks at two, and how the two are aligned.
#pragma once

#include <optional>
#include <string>

#include "app/cli/inputs.h"
#include "app/command/terminal.h"
#include "core/analysis/difference.h"

namespace heddle::app {

/// "start", "most" or an op's name; an op of that name wins over the two words.
Result<Alignment> alignment_of(const Problem& problem, const std::string& word);

/// B, by its name or file, its claim judged like A's. A project means its own B; nothing where it has none.
Result<std::optional<Schedule>> read_second(const std::string& name, const CommandInputs& inputs, const Terminal& terminal);

}  // namespace heddle::app
