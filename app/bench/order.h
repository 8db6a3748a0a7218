// An order that was measured before, as a schedule of today: the ops of every group in the same order, with starts for the machine's
// present costs. A file keeps its starts, and those of an older machine file need not be legal any more.
#pragma once

#include <string>

#include "core/base/result.h"

namespace heddle::app {

/// `file`: a heddle.schedule/1, or a heddle.measurement/1 that has its schedule. The text of the schedule. Faults: of the files; an order
/// that cannot run on this machine.
Result<std::string> order_on(const std::string& machine, const std::string& file);

}  // namespace heddle::app
