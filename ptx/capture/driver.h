// What the files of the driver stand-in share.
#pragma once

#include <string>

#include "ptx/capture/symbols.h"

namespace heddle::ptx::capture {

/// Whether a function is ours also where there is a real driver, because launches depend on what it is told.
bool is_intercepted(const std::string& name);

/// Of a module, a graph, a node: no other has it.
void* new_handle();

}  // namespace heddle::ptx::capture
