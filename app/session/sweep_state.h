// The sweep that is open: its file as far as it has grown, and a tuning run that this window has started as a child.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/batch/sweep_follow.h"
#include "app/batch/sweep_table.h"
#include "app/jobs/child_process.h"
#include "app/jobs/task.h"
#include "app/session/commands.h"
#include "app/session/edits.h"

namespace heddle::app {

/// What runs sweeps.
struct SweepTools {
  std::string program;  ///< heddle; empty: there is none
  std::string folder;   ///< of histories that the window begins; empty: none are begun
};
/// heddle beside this program. No folder.
SweepTools built_in_sweep_tools();
/// $XDG_STATE_HOME/heddle/sweeps, or ~/.local/state/heddle/sweeps; empty without a home.
std::string sweeps_path();

struct SweepRunEnd {
  std::string failure;  ///< one sentence; empty: it ended as it should
  bool cancelled = false;
};

class Texts;

class SweepState : Opener {
 public:
  SweepState(Edits& edits, Texts& texts, SweepTools tools, std::function<void()> wake)
      : Opener(edits), texts_(texts), tools_(std::move(tools)), wake_(std::move(wake)) {}

  void on(const OpenSweep& c);
  void on(const CloseSweep& c);
  void on(const StartTune& c);
  void on(const CancelTune& c);
  void on(const OpenPoint& c);
  /// Takes in what threads have done; true when anything changed.
  bool pump();
  bool close(std::chrono::steady_clock::time_point until);

  /// Empty when what is open can be tuned, or the open history be continued, else why not.
  std::string why_no_tune() const;
  std::string why_no_more() const;
  const SweepTools& tools() const { return tools_; }
  const std::optional<SweepFile>& file() const { return file_; }
  const SweepTable& table() const { return table_; }
  const std::vector<Fault>& faults() const { return faults_; }
  const Task<SweepRunEnd>& run() const { return run_; }
  bool running() const { return run_.active(); }
  bool half() const { return half_; }  ///< the last line is being written
  bool missing() const { return missing_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  /// Follows it from now on.
  void open(SweepFile file);
  void shut();
  /// Runs heddle with these words; it writes the file that is then followed.
  void start(std::vector<std::string> words, SweepFile file);
  /// Kernel, machine, parameters and layouts of a point, those that are open where they are the same; without a problem.
  Result<Content> content_of(const SweepPointSource& source) const;
  /// With what the file says of it; none: it found none.
  Result<std::optional<Schedule>> schedule_of(const SweepPoint& point, const SweepPointSource& source, const Problem& problem) const;
  /// A point as it is opened: what is known of it step by step.
  struct OpenedPoint {
    SweepPointSource source;
    Content content;
    bool same = false;  ///< its problem is the one that is open
    std::shared_ptr<const Problem> problem;
    std::optional<Schedule> schedule;
    Constraints demands;
  };
  Result<OpenedPoint> read_point(const SweepPoint& point) const;
  /// Problem, schedule and demands of it.
  Result<Ok> make_problem_of(OpenedPoint& opened, const SweepPoint& point) const;
  /// False: there is no schedule to show.
  bool put_in_force(OpenedPoint& opened, bool demanded, const std::string& what);
  void add_row(const OpenedPoint& opened, AdoptSchedule row);
  /// What was swept, where it is here.
  void open_subject(const SweepFile& file);
  /// Takes in what the file has grown by; true when it has.
  bool follow();

  Texts& texts_;
  SweepTools tools_;
  std::function<void()> wake_;
  std::optional<SweepFile> file_;
  std::unique_ptr<SweepFollower> follower_;
  LeavingJobs<SweepFollower> leaving_;
  Task<SweepRunEnd> run_;
  SweepTable table_;
  std::vector<Fault> faults_;
  std::uint64_t bytes_ = 0;
  bool half_ = false, missing_ = false;
};

}  // namespace heddle::app
