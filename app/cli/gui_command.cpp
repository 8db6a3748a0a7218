// Starts heddle-gui, which lies beside this program. HEDDLE_GUI in the environment names another one.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/terminal.h"
#include "core/base/process.h"

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
    terminal.complain("the window program " + program + " is not there (build the target heddle-gui, or use heddle show)");
    return kEnvironment;
  }
  std::vector<std::string> words = arguments.words;
  words.insert(words.begin(), program);
  Process child({std::move(words)});
  if (child.failure() != 0) {
    terminal.complain("the window program " + program + " cannot be started");
    return kEnvironment;
  }
  const ProcessEnd end = child.wait();
  if (end.signal == 0) return end.code;
  terminal.complain("the window program was ended by a signal");
  return kInternal;
}

}  // namespace heddle::app
