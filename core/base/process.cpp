#include "core/base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "core/base/split.h"

extern char** environ;

namespace heddle {
namespace {

/// Our environment with `changes` in it. The words are theirs and ours: nothing may change while it is used.
std::vector<char*> environment_with(std::vector<std::string>& changes) {
  std::vector<char*> all;
  for (char** at = environ; *at; ++at) {
    const std::string_view word = *at;
    const std::string_view name = word.substr(0, word.find('=') + 1);
    if (std::none_of(changes.begin(), changes.end(), [&](const std::string& change) { return change.starts_with(name); }))
      all.push_back(*at);
  }
  for (std::string& change : changes) all.push_back(change.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

Process::Process(ProcessPlan plan) : own_group_(plan.own_group) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const ChildStream& stream : plan.streams) {
    if (stream.ours < 0)
      posix_spawn_file_actions_addopen(&actions, stream.number, "/dev/null", stream.number == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
    else
      posix_spawn_file_actions_adddup2(&actions, stream.ours, stream.number);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (own_group_) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (std::string& word : plan.words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::vector<char*> environment = environment_with(plan.environment);
  failure_ = (plan.on_path ? ::posix_spawnp : ::posix_spawn)(&pid_, plan.words.front().c_str(), &actions, &attributes, arguments.data(),
                                                             environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure_ != 0) pid_ = -1;
}

Process::~Process() {
  if (pid_ <= 0) return;
  send(SIGKILL);
  (void)wait();
}

void Process::send(int signal) const {
  if (pid_ > 0) (void)::kill(own_group_ ? -pid_ : pid_, signal);
}

ProcessEnd Process::wait() {
  int status = 0;
  rusage use{};
  pid_t reaped = 0;
  while ((reaped = ::wait4(pid_, &status, 0, &use)) < 0 && errno == EINTR) {
  }
  if (own_group_) send(SIGKILL);  // what it has started and left behind
  pid_ = -1;
  ProcessEnd end;
  if (reaped < 0) return end;  // somebody else has waited for it: how it ended is not known
  end.peak_kib = use.ru_maxrss;
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

std::string find_program(const std::string& name, const std::vector<std::string>& also) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> folders = split(path ? path : "", ':');
  folders.insert(folders.end(), also.begin(), also.end());
  for (const std::string& folder : folders)
    if (std::string file = folder + "/" + name; !folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  return {};
}

std::optional<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

void listen(std::vector<Ear> ears, const std::function<bool()>& go_on) {
  constexpr int kWaitMilliseconds = 20;
  char buffer[1 << 16];
  std::vector<pollfd> waiting;
  while (true) {
    std::erase_if(ears, [](const Ear& ear) { return !ear.from->valid(); });
    if (ears.empty() || !go_on()) return;
    waiting.clear();
    for (const Ear& ear : ears) waiting.push_back({ear.from->get(), POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), kWaitMilliseconds) <= 0) continue;
    for (std::size_t i = 0; i < ears.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      const ssize_t got = ::read(ears[i].from->get(), buffer, sizeof buffer);
      if (got > 0)
        ears[i].heard(std::string_view(buffer, static_cast<std::size_t>(got)));
      else if (got == 0 || errno != EINTR)
        ears[i].from->close();
    }
  }
}

}  // namespace heddle
