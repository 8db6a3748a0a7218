// nvcc as a child process, without a shell: every argument is one of ours, in a folder of our own.
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "codegen/compile/backends.h"
#include "core/base/atomic_file.h"
#include "core/base/environment.h"
#include "core/base/process.h"
#include "core/base/text_style.h"

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
  if (std::string found = find_program("nvcc", {"/usr/local/cuda/bin"}); !found.empty()) return found;
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

constexpr std::size_t kMostLog = std::size_t{64} << 20;

/// The exit code, or -1; what it says on both streams goes into `log`. One that says more than kMostLog is ended; one that
/// can be stopped has a group of its own, so that all it started ends with it.
int run(std::vector<std::string> words, std::string& log, const std::stop_token& stop = {}) {
  std::optional<Pipe> said = make_pipe();
  if (!said) return -1;
  Process child({std::move(words),
                 {{STDIN_FILENO, -1}, {STDOUT_FILENO, said->to.get()}, {STDERR_FILENO, said->to.get()}},
                 false,
                 stop.stop_possible()});
  if (child.failure() != 0) return -1;
  said->to.close();
  listen({{&said->from, [&](std::string_view bytes) { log += bytes; }}}, [&] { return log.size() <= kMostLog && !stop.stop_requested(); });
  if (log.size() > kMostLog || stop.stop_requested()) child.send(SIGKILL);
  return child.wait().code;
}

}  // namespace

Result<std::string> nvcc_version() {
  const Result<std::string> found = find_nvcc();
  if (!found) return found.error();
  const std::string& nvcc = *found;
  std::string text;
  if (run({nvcc, "--version"}, text) != 0) return Error::environment("nvcc does not start");
  const std::size_t at = text.find(", V");
  return "nvcc" + (at == std::string::npos ? std::string() : " " + text.substr(at + 3, text.find('\n', at) - at - 3));
}

Result<Built> build_with_nvcc(const std::string& source, const std::string& arch, const std::stop_token& stop) {
  const Result<std::string> found = find_nvcc();
  if (!found) return found.error();
  const std::string& nvcc = *found;
  const Folder folder;
  if (folder.path().empty()) return no_folder();
  const std::string from = folder.path() + "/heddle.cu", to = folder.path() + "/heddle.cubin";
  if (auto written = write_file(from, source); !written.ok()) return written.error();
  Built built;
  const std::string target = fmt::format("-gencode=arch=compute_{},code={}", arch.substr(arch.find('_') + 1), arch);
  const int code = run({nvcc, "-std=c++17", "-O3", target, "-lineinfo", "-cubin", "-Xptxas", "-v", "-o", to, from}, built.log, stop);
  if (built.log.size() > kMostLog)
    return Error::environment(fmt::format("{} writes without end; it was ended after {} MiB", nvcc, kMostLog >> 20));
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
