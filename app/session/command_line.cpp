// Words of a command line, quoted where a shell would take them apart.
#include "app/session/command_line.h"

#include <fmt/format.h>

namespace heddle::app {
namespace {

std::string quoted(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+:,%@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_line(const Session& session, std::string_view subcommand, const std::vector<std::string>& extra) {
  const Content& content = session.content();
  if (!content.kernel || !content.machine) return {};
  std::string line = fmt::format("heddle {} {} {}", subcommand, quoted(content.kernel->name), quoted(content.machine->name));
  for (const auto& [name, value] : content.overrides) line += " --param " + quoted(fmt::format("{}={}", name, value));
  for (const Change& change : content.changes)
    if (change.enabled) line += " --set " + quoted(describe(change));
  for (const std::string& word : extra) line += " " + quoted(word);
  return line;
}

}  // namespace heddle::app
