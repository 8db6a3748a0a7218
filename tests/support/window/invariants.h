// What must hold of a session after any sequence of commands.
#pragma once

#include <string>
#include <vector>

#include "app/session/session.h"

namespace heddle::test {

/// One sentence per broken rule; empty when all is well. Judges every schedule anew.
std::vector<std::string> broken_invariants(const app::Session& session);

/// Everything that undo brings back, as text, so that two moments can be compared.
std::string fingerprint(const app::Content& content);

/// From the newest state: undoes all there is, checks the invariants at every step, does all of it again, and compares: undo has to return
/// to where the stack begins and redo to the newest state. One sentence per broken rule. Pre: nothing runs.
std::vector<std::string> walk_undo(app::Session& session);

}  // namespace heddle::test
