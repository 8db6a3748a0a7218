// One variable of the environment.
#include "core/base/environment_path.h"

#include <fmt/format.h>

#include <cstdlib>

namespace heddle {

Result<std::string> path_named_by(const char* variable) {
  const char* given = std::getenv(variable);
  if (!given || !*given) return std::string();
  if (given[0] != '/') return Error::environment(fmt::format("{} names no absolute path: {}", variable, given), "it must begin with /");
  return std::string(given);
}

}  // namespace heddle
