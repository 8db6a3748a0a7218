// posix_spawn, two pipes, poll.
#include "app/jobs/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

extern char** environ;

namespace heddle::app {
namespace {

constexpr std::size_t kMostChildOutput = std::size_t{64} << 20;

class PipeEnd {
 public:
  explicit PipeEnd(int fd = -1) : fd_(fd) {}
  ~PipeEnd() { reset(); }
  PipeEnd(const PipeEnd&) = delete;
  PipeEnd& operator=(const PipeEnd&) = delete;
  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

/// A child in a process group of its own. What is left of it when this goes is killed.
class ChildGroup {
 public:
  explicit ChildGroup(pid_t pid) : pid_(pid) {}
  ~ChildGroup() {
    if (pid_ <= 0) return;
    end(SIGKILL);
    (void)wait();
  }
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;
  void end(int signal) const { (void)::kill(-pid_, signal); }
  int wait(std::int64_t* peak_kib = nullptr) {
    int status = 0;
    rusage use{};
    while (::wait4(pid_, &status, 0, &use) < 0 && errno == EINTR) {
    }
    if (peak_kib) *peak_kib = use.ru_maxrss;
    end(SIGKILL);  // what it has started and left behind
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

/// Cuts what comes into lines.
class LineCutter {
 public:
  explicit LineCutter(const std::function<void(std::string_view)>& heard) : heard_(heard) {}
  void take(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n' || c == '\r')
        end();
      else if (line_.size() < 4096)
        line_ += c;
    }
  }
  void end() {
    if (line_.find_first_not_of(' ') != std::string::npos) {
      last_ = line_;
      if (heard_) heard_(line_);
    }
    line_.clear();
  }
  const std::string& last() const { return last_; }

 private:
  const std::function<void(std::string_view)>& heard_;
  std::string line_, last_;
};

}  // namespace

Result<ChildResult> run_child(std::vector<std::string> words, std::stop_token stop, const std::function<void(std::string_view)>& error_line,
                              ChildTime time) {
  int out_ends[2], error_ends[2];
  if (::pipe2(out_ends, O_CLOEXEC) != 0) return Error::environment("no pipe can be made");
  PipeEnd out(out_ends[0]), out_write(out_ends[1]);
  if (::pipe2(error_ends, O_CLOEXEC) != 0) return Error::environment("no pipe can be made");
  PipeEnd error(error_ends[0]), error_write(error_ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out_write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error_write.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, words.front().c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return Error::environment(fmt::format("{} cannot be started: {}", words.front(), std::strerror(failed)));
  ChildGroup child(pid);
  out_write.reset();
  error_write.reset();

  ChildResult result;
  LineCutter lines(error_line);
  using Clock = std::chrono::steady_clock;
  const auto after = [](Clock::time_point from, double seconds) {
    return from + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  const Clock::time_point begin = Clock::now();
  Clock::time_point last_moment = Clock::time_point::max();
  char buffer[16384];
  while (out.get() >= 0 || error.get() >= 0) {
    const Clock::time_point now = Clock::now();
    if (stop.stop_requested() && !result.cancelled) {
      result.cancelled = true;
      last_moment = std::min(last_moment, after(now, 1));
      child.end(SIGTERM);
    }
    if (time.seconds > 0 && !result.timed_out && !result.cancelled && now > after(begin, time.seconds)) {
      result.timed_out = true;
      last_moment = after(now, time.grace);
      child.end(SIGTERM);
    }
    if (now > last_moment) {
      child.end(SIGKILL);
      break;
    }
    pollfd waiting[2] = {{out.get(), POLLIN, 0}, {error.get(), POLLIN, 0}};
    if (::poll(waiting, 2, 20) <= 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (waiting[i].revents == 0) continue;
      PipeEnd& from = i == 0 ? out : error;
      const ssize_t got = ::read(from.get(), buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        from.reset();
        continue;
      }
      const std::string_view bytes(buffer, static_cast<std::size_t>(got));
      if (i == 0)
        result.out += bytes;
      else
        lines.take(bytes);
    }
    if (result.out.size() > kMostChildOutput) return Error::environment(words.front() + " writes without end");
  }
  lines.end();
  const int status = child.wait(&result.peak_kib);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.last_error = lines.last();
  return result;
}

}  // namespace heddle::app
