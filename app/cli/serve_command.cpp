// heddle serve: questions on standard input, answers on standard output, as they come.
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "app/batch/serve.h"
#include "app/command/arguments.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/jobs/heddle_child.h"

namespace heddle::app {
namespace {

/// Hands every line of standard input over until it ends, or until asked to stop. False: it cannot be read.
bool read_lines(Server& server, const std::stop_token& stop) {
  std::string held;
  bool too_long = false;  // the end of that line is still to come
  char buffer[1 << 16];
  while (!stop.stop_requested()) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, 100);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return false;
    if (count == 0) break;
    held.append(buffer, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end; (end = held.find('\n', begin)) != held.npos; begin = end + 1) {
      if (!too_long) server.take(std::string_view(held).substr(begin, end - begin));
      too_long = false;
    }
    held.erase(0, begin);
    if (held.size() <= kLongestRequest) continue;
    if (!too_long) server.take(held);
    too_long = true;
    held.clear();
  }
  if (!held.empty() && !too_long && !stop.stop_requested()) server.take(held);
  return true;
}

}  // namespace

int run_serve(const Arguments& arguments, const Terminal& terminal) {
  ServeOptions options;
  options.program = heddle_beside();
  if (options.program.empty()) return report(terminal, Error::environment("the program heddle is not beside this one"), false);
  options.at_once = static_cast<std::size_t>(arguments.integer("--jobs").value_or(std::max(1u, std::thread::hardware_concurrency())));
  options.limits.seconds = arguments.seconds("--limit").value_or(0);
  options.limits.memory_bytes = static_cast<std::uint64_t>(arguments.integer("--memory").value_or(0)) << 20;
  if (arguments.has("--no-store")) ::setenv("HEDDLE_STORE", "off", 1);
  if (::isatty(STDIN_FILENO)) terminal.note("one request a line, {\"id\": 1, \"ask\": \"solve\", ...}; Ctrl-D ends it");
  const InterruptScope interrupt;
  Server server(std::move(options), [&](const std::string& line) { terminal.out << line << "\n" << std::flush; });
  const bool read = read_lines(server, interrupt.token());
  if (interrupt.interrupted()) server.cancel_all();
  const std::stop_callback give_up(interrupt.token(), [&] { server.cancel_all(); });
  server.finish();
  if (!read) return report(terminal, Error::environment("standard input cannot be read"), false);
  return interrupt.interrupted() ? kInterrupted : kDone;
}

}  // namespace heddle::app
