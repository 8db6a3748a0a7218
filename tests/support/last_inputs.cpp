// A ring of lines in static memory, and handlers that only call what a signal handler may call.
#include "tests/support/last_inputs.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace heddle::test {
namespace {

struct Line {
  char text[240];
  std::size_t length;
};

Line heading;
Line lines[kInputsKept];
std::atomic<std::size_t> count{0};  ///< since begin_inputs()
std::atomic<bool> printed{false};

void put(Line& line, std::string_view text) {
  line.length = std::min(text.size(), sizeof line.text);
  std::memcpy(line.text, text.data(), line.length);
}

/// Oldest first.
template <class Show>
void each_line(Show show) {
  const std::size_t end = count.load();
  for (std::size_t i = end > kInputsKept ? end - kInputsKept : 0; i < end; ++i) show(lines[i % kInputsKept]);
}

void write_all(const char* text, std::size_t length) {
  while (length > 0) {
    const ssize_t done = ::write(STDERR_FILENO, text, length);
    if (done <= 0) return;
    text += done;
    length -= static_cast<std::size_t>(done);
  }
}

void print() {
  if (count.load() == 0 || printed.exchange(true)) return;
  const auto say = [](std::string_view text) { write_all(text.data(), text.size()); };
  say("\n");
  write_all(heading.text, heading.length);
  say(": the last inputs were\n");
  each_line([&](const Line& line) {
    say("  ");
    write_all(line.text, line.length);
    say("\n");
  });
}

void handle(int signal) {
  print();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void begin_inputs(std::string_view what) {
  count = 0;
  put(heading, what);
}

void remember_input(std::string_view what) {
  const std::size_t at = count.load();
  put(lines[at % kInputsKept], what);
  count = at + 1;
}

std::string last_inputs() {
  std::string text;
  each_line([&](const Line& line) { text.append(line.text, line.length) += '\n'; });
  return text;
}

void print_inputs_when_dying() {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK;
  const auto on = [&](int signal) { (void)::sigaction(signal, &action, nullptr); };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // The sanitizer keeps its handlers, which say far more; it calls this when all is said. Only an abort it leaves alone.
  __sanitizer_set_death_callback(print);
#else
  alignas(16) static char own_stack[1 << 16];  // a stack that ran over has no room for a handler
  stack_t stack{};
  stack.ss_sp = own_stack;
  stack.ss_size = sizeof own_stack;
  (void)::sigaltstack(&stack, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) on(signal);
#endif
  on(SIGABRT);
}

}  // namespace heddle::test
