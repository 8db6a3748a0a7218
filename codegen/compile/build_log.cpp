// NVRTC and nvcc write "FILE(LINE): error: text"; ptxas writes "ptxas warning : (C7510) text" and, about PTX, "ptxas FILE, line N; ...".
#include "codegen/compile/build_log.h"

#include <array>
#include <optional>
#include <utility>

#include "core/base/scanner.h"
#include "core/base/text_style.h"

namespace heddle::codegen {
namespace {

using Level = BuildMessage::Level;

constexpr std::array<std::pair<std::string_view, Level>, 6> kLevels{{{"fatal error", Level::Error},
                                                                     {"catastrophic error", Level::Error},
                                                                     {"error", Level::Error},
                                                                     {"warning", Level::Warning},
                                                                     {"remark", Level::Info},
                                                                     {"info", Level::Info}}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\r')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// "warning #177-D: text" or "warning : (C7510) text": level, code and text.
std::optional<BuildMessage> message(std::string_view rest) {
  rest = trimmed(rest);
  for (const auto& [word, level] : kLevels) {
    if (!rest.starts_with(word)) continue;
    rest = trimmed(rest.substr(word.size()));
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    BuildMessage found;
    found.level = level;
    found.code = printable(trimmed(rest.substr(0, colon)));
    std::string_view text = trimmed(rest.substr(colon + 1));
    if (text.starts_with('('))
      if (const std::size_t close = text.find(')'); close != std::string_view::npos && close <= 8) {
        found.code = printable(text.substr(1, close - 1));
        text = trimmed(text.substr(close + 1));
      }
    found.text = printable(text);
    return found;
  }
  return std::nullopt;
}

std::optional<BuildMessage> message_of(std::string_view line) {
  if (line.starts_with("ptxas")) {
    std::string_view rest = line.substr(5);
    // Lines of PTX have no line of the source.
    if (const std::size_t semicolon = rest.find(';'); semicolon != std::string_view::npos && rest.find(", line ") < semicolon)
      rest = rest.substr(semicolon + 1);
    return message(rest);
  }
  const std::size_t open = line.find('('), close = line.find("): ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const auto number = read_number<int>(line.substr(open + 1, close - open - 1));
  if (!number || *number < 1) return std::nullopt;
  auto found = message(line.substr(close + 3));
  if (found) found->line = *number;
  return found;
}

/// Carets under a column, and counts at the end of a log.
bool is_decoration(std::string_view line) {
  line = trimmed(line);
  return line.empty() || line.find_first_not_of("^~ ") == std::string_view::npos ||
         line.find(" detected in the compilation of ") != std::string_view::npos;
}

}  // namespace

std::vector<BuildMessage> parse_build_log(std::string_view log) {
  std::vector<BuildMessage> messages;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (auto found = message_of(line)) {
      messages.push_back(std::move(*found));
      continue;
    }
    // "ptxas         .     0 bytes stack frame": goes on about what is above.
    if (line.starts_with("ptxas")) line = trimmed(line.substr(5));
    if (line.starts_with('.')) line.remove_prefix(1);
    if (!is_decoration(line) && !messages.empty())
      messages.back().text += (messages.back().text.empty() ? "" : " · ") + printable(trimmed(line));
  }
  return messages;
}

}  // namespace heddle::codegen
