// Sentences of core as the window shows them: core writes plain text for terminals and files.
#pragma once

#include <string>
#include <string_view>

namespace heddle::app {

/// "2048 cycles: QK0 -> PV0" becomes "2 048 cycles: QK0 → PV0". Digits inside names ("load_2048", "v1.1024") stay.
std::string pretty(std::string_view text);

}  // namespace heddle::app
