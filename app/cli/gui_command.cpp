// Starts heddle-gui, which lies beside this program. HEDDLE_GUI in the environment names another one.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "app/cli/arguments.h"
#include "app/cli/cli.h"
#include "app/cli/commands.h"
#include "app/cli/terminal.h"

extern char** environ;

namespace heddle::app {
namespace {

std::filesystem::path window_program() {
  if (const char* named = std::getenv("HEDDLE_GUI"); named && *named) return named;
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "heddle-gui";
}

}  // namespace

int run_gui(const Arguments& arguments, const Terminal& terminal) {
  const std::string program = window_program().string();
  if (access(program.c_str(), X_OK) != 0) {
    terminal.complain("the window program " + program +
                      " is not there (build the target heddle-gui, or use heddle show)");
    return kEnvironment;
  }
  std::vector<std::string> words = arguments.all("FILES");
  words.insert(words.begin(), program);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, program.c_str(), nullptr, nullptr, argv.data(), environ) != 0) {
    terminal.complain("the window program " + program + " cannot be started");
    return kEnvironment;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  terminal.complain("the window program was ended by a signal");
  return kInternal;
}

}  // namespace heddle::app
