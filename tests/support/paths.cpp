// Paths into the repository.
#include "tests/support/paths.h"

namespace heddle::test {
std::string repository_path(const std::string& relative) { return std::string(HEDDLE_SOURCE_DIR) + "/" + relative; }
}  // namespace heddle::test
