#include "core/base/environment.h"

#include <fmt/format.h>

#include <cstdlib>

namespace heddle {

namespace {

struct UserFolderFacts {
  const char* variable;
  const char* at_home;
};

UserFolderFacts user_folder_facts(UserFolder folder) {
  switch (folder) {
    case UserFolder::Config: return {"XDG_CONFIG_HOME", "/.config"};
    case UserFolder::State: return {"XDG_STATE_HOME", "/.local/state"};
    case UserFolder::Cache: break;
  }
  return {"XDG_CACHE_HOME", "/.cache"};
}

}  // namespace

std::string user_path(UserFolder folder, const std::string& name) {
  const auto [variable, at_home] = user_folder_facts(folder);
  if (const char* chosen = std::getenv(variable); chosen && *chosen) return std::string(chosen) + "/heddle/" + name;
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + at_home + "/heddle/" + name;
  return {};
}

Result<std::string> path_named_by(const char* variable) {
  const char* given = std::getenv(variable);
  if (!given || !*given) return std::string();
  if (given[0] != '/') return Error::environment(fmt::format("{} names no absolute path: {}", variable, given), "it must begin with /");
  return std::string(given);
}

}  // namespace heddle
