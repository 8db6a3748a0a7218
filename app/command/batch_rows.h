// The rows of the command table about many jobs at once: batch, merge, store.
#pragma once

#include <vector>

#include "app/command/command_table.h"

namespace heddle::app {

std::vector<CommandSpec> batch_rows();

}  // namespace heddle::app
