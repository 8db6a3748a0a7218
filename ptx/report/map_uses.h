// How a run used its tensor maps, for whoever looks for sizes worth a look (ptx/launch/sizes.h).
#pragma once

#include <vector>

#include "ptx/launch/sizes.h"
#include "ptx/report/spell.h"

namespace heddle::ptx {

/// One for each map and direction, of the first CTA.
std::vector<MapUse> map_uses(const RunNames& names);

}  // namespace heddle::ptx
