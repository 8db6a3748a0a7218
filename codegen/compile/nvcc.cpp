// nvcc as a child process, without a shell: every argument is one of ours, in a folder of our own.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "codegen/compile/backends.h"
#include "core/base/atomic_file.h"
#include "core/base/environment.h"
#include "core/base/text_style.h"

extern char** environ;

namespace heddle::codegen {
namespace {

namespace fs = std::filesystem;

Result<std::string> find_nvcc() {
  const Result<std::string> named = path_named_by("HEDDLE_NVCC");
  if (!named) return named;
  if (!named->empty()) {
    if (::access(named->c_str(), X_OK) == 0) return named;
    return Error::environment(fmt::format("HEDDLE_NVCC names no program that can be started: {}", *named));
  }
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) folders.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders)
    if (const std::string file = folder + "/nvcc"; ::access(file.c_str(), X_OK) == 0) return file;
  return Error::environment("nvcc is not on PATH", "install the CUDA toolkit, or name nvcc in HEDDLE_NVCC");
}

class Folder {
 public:
  Folder() {
    std::error_code error;
    const fs::path where = fs::temp_directory_path(error);
    std::string name = (where / "heddle-XXXXXX").string();
    if (!error && ::mkdtemp(name.data())) path_ = name;
  }
  ~Folder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Error no_folder() { return Error::environment("no temporary folder can be made for nvcc", "TMPDIR names a folder that can be written"); }

/// The exit code, or -1; output of both streams into `log`.
int run(std::vector<std::string> words, const std::string& log) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int started = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

Result<std::string> nvcc_version() {
  const Result<std::string> found = find_nvcc();
  if (!found) return found.error();
  const std::string& nvcc = *found;
  const Folder folder;
  if (folder.path().empty()) return no_folder();
  const std::string log = folder.path() + "/version";
  if (run({nvcc, "--version"}, log) != 0) return Error::environment("nvcc does not start");
  const auto text = read_file(log);
  const std::size_t at = text.ok() ? text->find(", V") : std::string::npos;
  return "nvcc" + (at == std::string::npos ? std::string() : " " + text->substr(at + 3, text->find('\n', at) - at - 3));
}

Result<Built> build_with_nvcc(const std::string& source) {
  const Result<std::string> found = find_nvcc();
  if (!found) return found.error();
  const std::string& nvcc = *found;
  const Folder folder;
  if (folder.path().empty()) return no_folder();
  const std::string from = folder.path() + "/heddle.cu", to = folder.path() + "/heddle.cubin", log = folder.path() + "/log";
  if (auto written = write_file(from, source); !written.ok()) return written.error();
  const int code = run({nvcc, "-std=c++17", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-cubin", "-Xptxas", "-v", "-o", to, from}, log);
  Built built;
  if (const auto text = read_file(log); text.ok()) built.log = *text;
  built.good = code == 0;
  if (built.good) {
    auto cubin = read_file(to);
    if (!cubin.ok()) return cubin.error();
    built.cubin = std::move(*cubin);
  } else if (built.log.empty()) {
    return Error::environment("nvcc does not start");
  } else if (built.log.starts_with("nvcc fatal")) {  // it has not come to look at the kernel
    return Error::environment("nvcc does not work here: " + printable(built.log.substr(0, built.log.find('\n'))));
  }
  return built;
}

}  // namespace heddle::codegen
