// Programs that were measured side by side on a GPU, as a race.
#pragma once

#include "core/records/race.h"

namespace heddle::test {

/// Nine of attention on an H100 (assets/measured). Their times are all the same: who asks plants others.
Race race_of_attention();

}  // namespace heddle::test
