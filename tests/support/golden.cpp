// Reads, compares, and on request rewrites golden files.
#include "tests/support/golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/paths.h"

namespace heddle::test {

std::string golden_difference(const std::string& name, const std::string& text) {
  const std::string path = repository_path("tests/golden/" + name);
  if (const char* update = std::getenv("HEDDLE_UPDATE_GOLDENS"); update && *update) {
    std::ofstream(path, std::ios::binary) << text;
    return {};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return "missing: " + path;
  std::ostringstream whole;
  whole << file.rdbuf();
  std::istringstream expected(whole.str()), found(text);
  if (whole.str() == text) return {};
  std::string left, right;
  for (int line = 1;; ++line) {
    left.clear();
    right.clear();
    const bool more_left = static_cast<bool>(std::getline(expected, left)), more_right = static_cast<bool>(std::getline(found, right));
    if (left != right || more_left != more_right || !more_left)
      return path + ":" + std::to_string(line) + ": expected '" + left + "', found '" + right + "'";
  }
}

}  // namespace heddle::test
