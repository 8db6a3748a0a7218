// Work survives a crash: what is not saved is written, shortly after every change, into a file of this process's own. A clean
// exit removes it; what a process that is gone has left is offered to the next window.
//
// The name of a file says whose it is: HOST.BOOT.PID.START.N.heddle.json. A process is gone when this host runs none of that
// number that began then; files of other hosts, which may share the folder, are left alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/result.h"

namespace heddle::app {

/// $XDG_STATE_HOME/heddle/autosave, or ~/.local/state/heddle/autosave; empty without a home.
std::string autosave_path();

/// Work that a process left behind.
struct Recovery {
  std::string path, kernel, machine;
  std::size_t schedules = 0, notes = 0, constraints = 0;
  std::int64_t written = 0;  ///< seconds since 1970
};
/// "attention_forward_hopper on h100, 3 schedules, 1 note"
std::string describe(const Recovery& recovery);
/// "14:02" of today, else with the day; local time.
std::string time_of(const Recovery& recovery, std::int64_t now);

/// Everything in the folder that dead processes have left, the newest first. What cannot be read is renamed to
/// NAME.unreadable, and said in `trouble`.
std::vector<Recovery> find_recoveries(const std::string& folder, std::vector<std::string>& trouble);

class Autosave {
 public:
  static constexpr double kSeconds = 0.5;  ///< between two writes; what a crash can lose

  explicit Autosave(std::string folder);
  /// Waits for a write that has begun.
  ~Autosave();

  /// Call often. When `revision` is new, and the last write is kSeconds ago, `text` is made and what it makes is written by
  /// another thread; nothing unsaved: the file goes. `text` is a function that makes a function, so that only what needs the
  /// present state happens here.
  void keep(double now, std::uint64_t revision, bool unsaved, const std::function<std::function<std::string()>()>& text);
  /// Takes the file of a dead process over: it is this one's from now on. False when it is gone.
  bool take_over(const std::string& path);
  /// A sentence, when writing has begun to fail since the last call.
  std::optional<std::string> take_trouble();
  /// Until everything handed over is written.
  void wait();
  /// Clean exit: the file goes.
  void discard();
  const std::string& file() const { return file_; }

 private:
  void work(std::stop_token stop);

  std::string folder_, file_;
  std::uint64_t seen_ = 0;
  double last_ = -1e9;
  bool kept_ = false;  ///< there is a file, or there will be

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<std::string()> next_;  ///< to be written; empty with `pending_`: remove the file
  bool pending_ = false, busy_ = false, failing_ = false;
  std::optional<std::string> trouble_;
  std::jthread thread_;
};

}  // namespace heddle::app
