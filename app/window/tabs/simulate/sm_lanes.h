// Which place of which SM runs which tile, and when: a lane per place, where tiles have different lengths.
#pragma once

#include "core/simulate/kernel_run.h"

namespace heddle::app {

/// As wide as there is room. Nothing where the run kept no lanes: tiles are alike, or too many.
void draw_sm_lanes(const KernelRun& run, std::int64_t sms);

}  // namespace heddle::app
