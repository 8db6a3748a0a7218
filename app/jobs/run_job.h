// Running a kernel on the GPU from the window: the command-line program does it, as a child, so that a kernel that hangs or faults
// never takes the window down. What it measures is kept as files, the history of runs.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/jobs/kernel_job.h"
#include "core/records/measurement.h"
#include "core/records/race.h"

namespace heddle::app {

/// A measurement and the file that it is in.
struct RunRecord {
  std::string path;
  Measurement measurement;
};
using RunPtr = std::shared_ptr<const RunRecord>;

struct RunTools {
  std::string program;     ///< heddle; empty: there is none
  std::string folder;      ///< of the history; empty: it is not kept, and nothing is run
  std::string why_no_gpu;  ///< empty: there may be one
};
/// heddle beside this program, and whether this machine has an NVIDIA device at all. No folder.
RunTools built_in_run_tools();
/// $XDG_STATE_HOME/heddle/runs, or ~/.local/state/heddle/runs; empty without a home.
std::string runs_path();

struct RunRequest {
  bool profile = false;  ///< the recording build, op by op
  std::string program, folder;
  std::vector<std::string> words;  ///< kernel, machine and what else the question says
  KernelSubject of;
};
struct RunAnswer {
  RunPtr run;
  std::string failure;  ///< one sentence; empty where there is a run
};
/// Writes the schedule beside where its measurement will be, runs `heddle run` or `heddle profile` on it, and keeps what that prints.
RunAnswer run_kernel(const RunRequest& request, std::stop_token stop, const std::function<void(std::string)>& say);

/// A race and the file that it is in.
struct RaceRecord {
  std::string path;
  Race race;
};
struct RaceOutcome {
  std::shared_ptr<const RaceRecord> race;
  std::string failure;  ///< one sentence; empty where there is a race
};
/// The same with `heddle race`; the request's schedule takes part.
RaceOutcome race_kernel(const RunRequest& request, std::stop_token stop, const std::function<void(std::string)>& say);

/// All measurements of a folder, the newest first, at most so many; files that are none are left out.
std::vector<RunPtr> read_runs(const std::string& folder, std::size_t most);

}  // namespace heddle::app
