#include "app/session/open_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

constexpr int kSoonMilliseconds = 500;

bool can_run(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && ::access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

std::vector<std::string> editor_words(const std::string& editor, const std::string& file, int line) {
  std::istringstream in(editor);
  std::string program;
  in >> program;
  const std::string name = fs::path(program).filename().string(), at = line > 0 ? fmt::format("{}:{}", file, line) : file;
  const std::string plus = fmt::format("+{}", std::max(line, 1));
  if (name == "code" || name == "codium" || name == "code-insiders") return {program, "-g", at};
  if (name == "subl" || name == "zed") return {program, at};
  if (name == "gedit" || name == "gvim" || name == "emacs") return {program, plus, file};
  if (name == "kate") return {program, "-l", std::to_string(std::max(line, 1)), file};
  return {"xdg-open", file};
}

Result<Ok> open_place(const std::string& file, int line) {
  const char* visual = std::getenv("VISUAL");
  const std::vector<std::string> words = editor_words(visual ? visual : "", fs::absolute(file).string(), line);
  if (!can_run(words.front()))
    return Error::input(words.front() + " is not installed, so no editor opens", "set VISUAL, to code for example");
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::input("no process can be started for an editor");
  const pid_t child = ::fork();
  if (child == 0) {
    // Started twice removed, so that this program need not wait for the editor to end; who waits for it says how it ended.
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    const pid_t editor = ::fork();
    if (editor == 0) {
      ::execvp(arguments.front(), arguments.data());
      ::_exit(127);
    }
    int status = 0;
    const bool failed = editor < 0 || ::waitpid(editor, &status, 0) != editor || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    const char word = failed ? 'n' : 'y';
    if (::write(ends[1], &word, 1) < 0) ::_exit(1);
    ::_exit(0);
  }
  ::close(ends[1]);
  int ignored = 0;
  if (child > 0) ::waitpid(child, &ignored, 0);
  // An editor that shows something stays, or was told and ends well; one that cannot says so at once.
  pollfd heard{ends[0], POLLIN, 0};
  char word = child < 0 ? 'n' : 'y';
  if (child > 0 && ::poll(&heard, 1, kSoonMilliseconds) > 0 && ::read(ends[0], &word, 1) != 1) word = 'n';
  ::close(ends[0]);
  if (word == 'n') return Error::input(words.front() + " could not show it", "set VISUAL, to code for example");
  return Ok{};
}

}  // namespace heddle::app
