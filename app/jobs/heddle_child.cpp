#include "app/jobs/heddle_child.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "core/base/text_style.h"

namespace heddle::app {

std::string heddle_beside() {
  std::error_code ignored;
  const std::string path = (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "heddle").string();
  return ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}

std::string_view without_name(std::string_view line) {
  constexpr std::string_view kName = "heddle: ";
  return line.starts_with(kName) ? line.substr(kName.size()) : line;
}

Result<ChildResult> run_heddle_child(std::vector<std::string> words, std::stop_token stop, const std::function<void(std::string)>& say) {
  return run_child(std::move(words), std::move(stop), [&](std::string_view line) { say(printable(without_name(line))); });
}

std::string ending_of(const ChildResult& child, std::string_view command) {
  if (!child.last_error.empty()) return printable(child.last_error);
  return child.signal != 0 ? fmt::format("heddle {} was ended by signal {}", command, child.signal)
                           : fmt::format("heddle {} ended with code {} and said nothing", command, child.code);
}

}  // namespace heddle::app
