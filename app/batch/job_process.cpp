// Limits are set by the child itself, so that they hold from its first instruction of ours on and nothing runs between fork and exec.
#include "app/batch/job_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "app/command/exit_code.h"

namespace heddle::app {
namespace {

constexpr std::size_t kProbe = std::size_t{4} << 20;  // bytes that a process with memory left can have

[[noreturn]] void end_for_lack_of_memory() {
  constexpr std::string_view said = "heddle: out of memory\n";
  (void)!::write(STDERR_FILENO, said.data(), said.size());
  ::_exit(kEnvironment);
}

/// Libraries that do not look at what malloc answers crash where memory ends; whether that is why, one more request tells.
extern "C" void heddle_on_crash(int signal) {
  if (::mmap(nullptr, kProbe, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) end_for_lack_of_memory();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void tell_lack_of_memory() {
  std::set_new_handler(end_for_lack_of_memory);
  static char stack[1 << 16];
  stack_t place{};
  place.ss_sp = stack;
  place.ss_size = sizeof stack;
  (void)::sigaltstack(&place, nullptr);
  struct sigaction action {};
  action.sa_handler = heddle_on_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) (void)::sigaction(signal, &action, nullptr);
}

}  // namespace

Result<ChildResult> run_job_process(const std::string& program, const std::vector<std::string>& words, const JobLimits& limits,
                                    std::stop_token stop, const std::function<void(std::string_view)>& said) {
  std::vector<std::string> line{program, kJobWord, fmt::format("{}", limits.memory_bytes), fmt::format("{}", ::getpid())};
  line.insert(line.end(), words.begin(), words.end());
  // A solver that ran into the limit and went on says so in its log only.
  if (limits.memory_bytes > 0) line.insert(line.begin() + 5, "--verbose");
  return run_child(std::move(line), std::move(stop), said, {limits.seconds, 2});
}

int enter_job(int argc, char** argv) {
  if (argc < 4 || std::string_view(argv[1]) != kJobWord) return 0;
  const auto bytes = static_cast<rlim_t>(std::strtoull(argv[2], nullptr, 10));
  const rlimit no_core{0, 0}, memory{bytes, bytes};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  if (bytes > 0) {
    (void)::setrlimit(RLIMIT_DATA, &memory);
    tell_lack_of_memory();
  }
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A parent that went before that call will send no signal any more.
  if (::getppid() != static_cast<pid_t>(std::strtol(argv[3], nullptr, 10))) ::_exit(130);
  return 3;
}

}  // namespace heddle::app
