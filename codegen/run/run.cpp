// The parent's side: the plan through a file in memory, lines back through a pipe.
#include "codegen/run/run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "codegen/run/child.h"
#include "core/base/text_style.h"
#include "core/formats/measurement_json.h"

extern char** environ;

namespace heddle::codegen {
namespace {

constexpr int kPollMilliseconds = 50;
constexpr std::size_t kLongestOutput = std::size_t{64} << 20;
constexpr std::size_t kErrorsShown = 300;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return ::lseek(fd, 0, SEEK_SET) == 0;
}

int nibble(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

std::vector<std::uint8_t> from_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) bytes.push_back(static_cast<std::uint8_t>(nibble(text[i]) << 4 | (nibble(text[i + 1]) & 15)));
  return bytes;
}

/// What the child has said so far.
struct Story {
  RunResult result;
  bool ended = false;
  std::string doing = "starting";

  void hear(std::string_view line, const RunOptions& options) {
    if (line == "E") ended = true;
    if (line.size() < 2) return;
    const std::string_view rest = line.substr(2);
    if (line[0] == 'N') {
      doing = printable(rest);
      if (options.note) options.note(doing);
    } else if (line[0] == 'M') {
      if (auto found = parse_measurement(rest, "child"); found.ok()) result.found = std::move(*found);
    } else if (line[0] == 'R') {
      const std::size_t space = rest.find(' ');
      if (space != std::string_view::npos) result.records[std::string(rest.substr(0, space))] = from_hex(rest.substr(space + 1));
    }
  }
};

/// The last words of a child that died.
std::string last_line(std::string_view errors) {
  while (!errors.empty() && errors.back() == '\n') errors.remove_suffix(1);
  errors = errors.substr(errors.rfind('\n') + 1);
  return printable(errors.substr(0, kErrorsShown));
}

std::string file_text(int fd) {
  std::string text(4096, '\0');
  const off_t size = ::lseek(fd, 0, SEEK_END);
  const ssize_t count = ::pread(fd, text.data(), text.size(), size > 4096 ? size - 4096 : 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

}  // namespace

Result<RunResult> run_plan(const RunPlan& plan, const RunOptions& options) {
  const auto trouble = [](const char* what) { return Error::environment(fmt::format("no process can be started for the kernel: {} ({})", what, std::strerror(errno))); };
  const Descriptor request(::memfd_create("heddle-plan", MFD_CLOEXEC)), errors(::memfd_create("heddle-errors", MFD_CLOEXEC));
  if (request.get() < 0 || errors.get() < 0 || !write_all(request.get(), plan_bytes(plan))) return trouble("memory for the plan");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return trouble("pipe");
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request.get(), STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, to.get(), kChildDescriptor);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // Ctrl-C is the parent's to handle
  std::string program = options.program, command = kChildCommand;
  char* arguments[] = {program.data(), command.data(), nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return errno = failed, trouble(program.c_str());
  to.close();

  Story story;
  story.result.found.kernel = plan.kernel;
  story.result.found.machine = plan.machine;
  std::string heard;
  bool hung = false;
  using Clock = std::chrono::steady_clock;
  auto alive = Clock::now();
  while (true) {
    pollfd ready{from.get(), POLLIN, 0};
    const int count = ::poll(&ready, 1, kPollMilliseconds);
    if (count > 0) {
      char piece[1 << 16];
      const ssize_t got = ::read(from.get(), piece, sizeof piece);
      if (got == 0) break;
      if (got > 0) {
        alive = Clock::now();
        heard.append(piece, static_cast<std::size_t>(got));
        std::size_t at = 0;
        for (std::size_t end; (end = heard.find('\n', at)) != std::string::npos; at = end + 1) story.hear(std::string_view(heard).substr(at, end - at), options);
        heard.erase(0, at);
        if (heard.size() > kLongestOutput) heard.clear();
      }
    }
    hung = std::chrono::duration<double>(Clock::now() - alive).count() > options.limit_seconds;
    story.result.cancelled = options.stop.stop_requested();
    if (hung || story.result.cancelled || story.ended) break;
  }
  if (hung || story.result.cancelled || story.ended) ::kill(child, SIGKILL);  // one that has said everything may still hang in the driver
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}

  Measurement& found = story.result.found;
  if (story.ended || story.result.cancelled) return std::move(story.result);
  const std::string words = last_line(file_text(errors.get()));
  if (hung) {
    found.status = RunStatus::TimedOut;
    found.sentence = fmt::format("killed after {:g} s without a sign of life while {}: the kernel does not end", options.limit_seconds, story.doing);
  } else {
    found.status = RunStatus::Faulted;
    const std::string how = WIFSIGNALED(status) ? fmt::format("died of signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
                                                : fmt::format("ended with code {}", WEXITSTATUS(status));
    found.sentence = fmt::format("the process that ran the kernel {} while {}{}", how, story.doing, words.empty() ? "" : ": " + words);
  }
  return std::move(story.result);
}

}  // namespace heddle::codegen
