// Faults of what was asked say which part of it they are about (Fault::part); here they get the name of the option that says it.
#pragma once

#include "core/base/result.h"

namespace heddle::app {

/// The same faults in the words of a command line; none has a part any more.
Error in_options(Error error);

}  // namespace heddle::app
