// How a program that a test started has ended.
#pragma once

#include <sys/wait.h>

namespace heddle::test {

/// As a shell says it, of what std::system() or waitpid() gave: the exit code, or 128 and the signal that ended it.
inline int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace heddle::test
