// A program as a child process, started without a shell: where its streams lead, who hears what it says, how it ends. The one place for
// interrupted calls, process groups and children that nothing waits for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/open_file.h"

namespace heddle {

/// What one of the child's descriptors is.
struct ChildStream {
  int number = 0;  ///< in the child: 0, 1, 2, or a number that it knows
  int ours = -1;   ///< the descriptor of ours that it gets; -1: /dev/null
};

struct ProcessPlan {
  std::vector<std::string> words{};    ///< the program, and its arguments
  std::vector<ChildStream> streams{};  ///< 0 to 2 are ours where they are not listed
  bool on_path = false;                ///< the program is looked for on PATH
  /// In a group of its own, with what it starts: Ctrl-C at the terminal is then ours alone to handle, and all of them end together.
  bool own_group = false;
  std::vector<std::string> environment{};  ///< NAME=VALUE, instead of what this process has under the name
};

struct ProcessEnd {
  int code = -1;              ///< of its exit; -1: a signal ended it
  int signal = 0;             ///< that ended it
  std::int64_t peak_kib = 0;  ///< of its memory in use
};

class Process {
 public:
  explicit Process(ProcessPlan plan);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  ///< kills it, if it was not waited for

  /// The errno of a program that could not be started; 0 when it runs.
  int failure() const { return failure_; }
  /// Sends a signal to it, or to its group.
  void send(int signal) const;
  /// Until it has ended. What is left of a group of its own is killed then. Pre: it was started, and is waited for once.
  ProcessEnd wait();

 private:
  pid_t pid_ = -1;
  int failure_ = 0;
  bool own_group_ = false;
};

/// The first of PATH's folders, then of `also`, that has a program of this name which can be started, with the name; empty: none has.
std::string find_program(const std::string& name, const std::vector<std::string>& also = {});

/// The two ends of a pipe; neither is inherited unless a ChildStream names it. Nothing when there are no descriptors left, with errno.
struct Pipe {
  Descriptor from, to;
};
std::optional<Pipe> make_pipe();

/// One pipe that is listened to. It is closed at its end.
struct Ear {
  Descriptor* from = nullptr;
  std::function<void(std::string_view bytes)> heard;
};

/// Hears all of them until each has come to its end, or until `go_on` says no, which is asked before every wait; a wait is 20 ms at most.
void listen(std::vector<Ear> ears, const std::function<bool()>& go_on);

}  // namespace heddle
