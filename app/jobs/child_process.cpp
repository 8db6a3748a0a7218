#include "app/jobs/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/base/clock.h"
#include "core/base/process.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostChildOutput = std::size_t{64} << 20, kLongestLine = 4096;

/// Cuts what comes into lines.
class LineCutter {
 public:
  explicit LineCutter(const std::function<void(std::string_view)>& heard) : heard_(heard) {}
  void take(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t stop = std::min(bytes.find_first_of("\n\r", at), bytes.size());
      line_ += bytes.substr(at, std::min(stop - at, kLongestLine - line_.size()));
      if (stop < bytes.size()) end();
      at = stop + 1;
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

/// Standard input of a child. A text goes through a socket: one whose reader is gone raises no signal.
class ChildStdin {
 public:
  /// The errno of a file that cannot be opened, or of no socket.
  int open(ChildInput input) {
    text_ = std::move(input.text);
    if (!input.file.empty()) {
      theirs_ = Descriptor(::open(input.file.c_str(), O_RDONLY | O_CLOEXEC));
      return theirs_.valid() ? 0 : errno;
    }
    if (text_.empty()) return 0;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    theirs_ = Descriptor(ends[0]);
    ours_ = Descriptor(ends[1]);
    return 0;
  }
  int theirs() const { return theirs_.get(); }
  void started() { theirs_.close(); }
  /// As much as it takes now.
  void feed() {
    while (ours_.valid() && given_ < text_.size()) {
      const ssize_t sent = ::send(ours_.get(), text_.data() + given_, text_.size() - given_, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) return;
      given_ += static_cast<std::size_t>(sent);
    }
  }
  void close() { ours_.close(); }

 private:
  Descriptor theirs_, ours_;
  std::string text_;
  std::size_t given_ = 0;
};

}  // namespace

Result<ChildResult> run_child(std::vector<std::string> words, std::stop_token stop, const std::function<void(std::string_view)>& error_line,
                              ChildTime time, ChildInput input) {
  ChildStdin in;
  const std::string named = input.file;
  if (const int failed = in.open(std::move(input)); failed != 0)
    return Error::environment(fmt::format("{} cannot be read: {}", named.empty() ? "a socket" : named, std::strerror(failed)));
  std::optional<Pipe> out = make_pipe(), error = make_pipe();
  if (!out || !error) return Error::environment("no pipe can be made");
  const std::string program = words.front();
  Process child(
      {std::move(words), {{STDIN_FILENO, in.theirs()}, {STDOUT_FILENO, out->to.get()}, {STDERR_FILENO, error->to.get()}}, true, true});
  if (child.failure() != 0) return Error::environment(fmt::format("{} cannot be started: {}", program, std::strerror(child.failure())));
  out->to.close();
  error->to.close();
  in.started();

  ChildResult result;
  LineCutter lines(error_line);
  std::size_t heard = 0;  // on both streams
  const Clock::time_point begin = Clock::now();
  Clock::time_point last_moment = Clock::time_point::max();
  const auto go_on = [&] {
    in.feed();
    const Clock::time_point now = Clock::now();
    if (stop.stop_requested() && !result.cancelled) {
      result.cancelled = true;
      last_moment = std::min(last_moment, deadline_after(now, 1));
      child.send(SIGTERM);
    }
    if (time.seconds > 0 && !result.timed_out && !result.cancelled && now > deadline_after(begin, time.seconds)) {
      result.timed_out = true;
      last_moment = deadline_after(now, time.grace);
      child.send(SIGTERM);
    }
    if (now > last_moment) child.send(SIGKILL);
    return now <= last_moment && heard <= kMostChildOutput;
  };
  const auto hear = [&](std::string_view bytes) { return bytes.substr(0, kMostChildOutput - std::min(heard, kMostChildOutput)); };
  listen({{&out->from,
           [&](std::string_view bytes) {
             result.out += hear(bytes);
             heard += bytes.size();
           }},
          {&error->from,
           [&](std::string_view bytes) {
             lines.take(hear(bytes));
             heard += bytes.size();
           }}},
         go_on);
  if (heard > kMostChildOutput)
    return Error::environment(fmt::format("{} writes without end; it was ended after {} MiB", program, kMostChildOutput >> 20));
  lines.end();
  in.close();
  const ProcessEnd end = child.wait();
  result.code = end.code;
  result.signal = end.signal;
  result.peak_kib = end.peak_kib;
  result.last_error = lines.last();
  return result;
}

}  // namespace heddle::app
