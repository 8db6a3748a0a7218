#include "app/command/called.h"

#include <cctype>
#include <cstdlib>

#include "app/command/arguments.h"
#include "app/command/command_table.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

constexpr std::string_view kName = "heddle", kWindow = "-gui";

std::string& called() {
  static std::string name(kName);
  return name;
}

/// Of a word or a path, that goes on before or behind a place.
bool goes_on(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  const char c = text[at];
  if (c == '.') return at + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[at + 1]));
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '/';
}

/// Bytes of "heddle COMMAND" at this place; 0: there is none.
std::size_t command_at(std::string_view text, std::size_t at) {
  if (at > 0 && (goes_on(text, at - 1) || text[at - 1] == '.')) return 0;
  const std::size_t begin = at + kName.size() + 1;
  std::size_t end = begin;
  while (end < text.size() && std::islower(static_cast<unsigned char>(text[end]))) ++end;
  return !goes_on(text, end) && find_command(text.substr(begin, end - begin)) ? end - at : 0;
}

}  // namespace

void called_as(const char* first_word) {
  const char* named = std::getenv("HEDDLE_CALLED");
  if (named && *named) {
    called() = printable(named);
  } else if (std::string_view word = first_word ? first_word : ""; !word.empty()) {
    if (word.ends_with(kWindow)) word.remove_suffix(kWindow.size());  // the program beside the window
    called() = printable(shell_word(word));
  }
  ::setenv("HEDDLE_CALLED", called().c_str(), 1);
}

const std::string& program_called() { return called(); }

std::string as_called(std::string_view text) {
  if (called() == kName) return std::string(text);
  std::string said;
  for (std::size_t at = 0;;) {
    const std::size_t next = text.find("heddle ", at);
    said += text.substr(at, next - at);
    if (next == std::string_view::npos) return said;
    const bool command = command_at(text, next) > 0;
    said += command ? called() : std::string(kName);
    at = next + kName.size();
  }
}

}  // namespace heddle::app
