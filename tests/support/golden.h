// Golden files: expected texts under tests/golden, compared byte by byte. After an intended change regenerate them with
// HEDDLE_UPDATE_GOLDENS=1 ./test.sh (or the one test program) and review the diff.
#pragma once

#include <string>

namespace heddle::test {
/// Empty when `text` is what tests/golden/NAME holds; else where they differ first. Updating always answers empty.
std::string golden_difference(const std::string& name, const std::string& text);
}  // namespace heddle::test
