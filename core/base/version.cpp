// The number comes from CMakeLists.txt.
#include "core/base/version.h"

namespace heddle {
const char* version() { return HEDDLE_VERSION; }
}  // namespace heddle
