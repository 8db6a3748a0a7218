// Any command with any content: in range or not, sensible or not. A command that is added to AllCommands is made here by
// itself, as long as its members are called what such members are called elsewhere; a change of view_commands.h has a line of its own.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "app/session/command.h"
#include "app/session/session.h"

namespace heddle::test {

using Random = std::mt19937_64;

/// 0 .. count-1, the same with every standard library.
inline std::size_t pick(Random& random, std::size_t count) { return count == 0 ? 0 : random() % count; }
inline bool chance(Random& random, unsigned one_in) { return random() % one_in == 0; }
template <class T>
const T& pick_of(Random& random, const std::vector<T>& items) {
  return items[pick(random, items.size())];
}

/// Bytes as they come from keyboards, files and enemies: words, numbers, signs of other alphabets, broken UTF-8. No slash.
std::string random_text(Random& random);
/// `paths`: files that may be read and overwritten. Never Quit.
app::Command random_command(Random& random, const app::Session& session, const std::vector<std::string>& paths);
/// One of each change of the view and of settings.
std::vector<app::Command> every_change(Random& random, const app::Session& session);
/// The name of its type, or of the function that made the change, for traces.
std::string name_of(const app::Command& command);

}  // namespace heddle::test
