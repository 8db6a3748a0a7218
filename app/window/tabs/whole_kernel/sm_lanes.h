// Which place of which SM runs which tile, and when: a lane per place, for every way to hand out tiles of different lengths.
#pragma once

#include "core/simulate/balance_study.h"

namespace heddle::app {

/// As wide as there is room, all on one scale of time.
void draw_sm_lanes(const BalanceStudy& study, std::int64_t sms);

}  // namespace heddle::app
