// Names come from files and may hold anything, a path among them: all but letters, digits, '-' and '_' becomes '_'.
#include "app/cli/questions/schedule_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/scanner.h"

namespace heddle::app {

std::string numbered_file(const std::string& folder, std::string name, std::size_t number) {
  constexpr std::size_t kLongest = 100;
  if (name.size() > kLongest) name.resize(kLongest);
  for (char& c : name)
    if (!in_name(c) && c != '-') c = '_';
  return (std::filesystem::path(folder) / fmt::format("{}-{}.json", name, number)).string();
}

}  // namespace heddle::app
