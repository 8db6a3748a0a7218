// Where the repository's own data lies, for tests.
#pragma once

#include <string>

namespace heddle::test {
/// Absolute path of a file given relative to the repository root.
std::string repository_path(const std::string& relative);
}  // namespace heddle::test
