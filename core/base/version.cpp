// The number is the project's version in CMakeLists.txt.
#include "core/base/version.h"

namespace heddle {
const char* version() { return HEDDLE_VERSION; }
}  // namespace heddle
