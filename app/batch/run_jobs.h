// Runs the jobs of a file, several at a time, each in a process of its own; what was finished before is not done again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "app/batch/job_file.h"
#include "app/batch/job_process.h"
#include "app/batch/job_result.h"
#include "app/batch/journal.h"

namespace heddle::app {

/// One part of N: every N-th job, from the I-th on. The whole file is 1/1.
struct Shard {
  std::size_t index = 1, count = 1;
  bool holds(const Job& job) const { return (job.number - 1) % count == index - 1; }
};
/// "2/8"; input error otherwise.
Result<Shard> parse_shard(const std::string& text);

struct BatchOptions {
  std::string program;  ///< heddle
  std::size_t at_once = 1;
  JobLimits limits;
  bool retry = false;  ///< do again what is_final() does not call final
};

struct BatchProgress {
  std::size_t total = 0, done = 0, running = 0;
  std::size_t failed = 0;    ///< of the done ones: anything but proved, feasible, infeasible, done, negative
  std::size_t known = 0;     ///< of the done ones: finished before this run
  double seconds_left = -1;  ///< estimated from the jobs of this run; negative: not known yet
};
struct BatchListener {
  std::function<void(const BatchProgress&)> progress;
  std::function<void(const Job&, const JobResult&)> finished;  ///< of each job that was run now
  std::function<void(const Fault&)> warning;                   ///< lines of the journal that are not believed, each once
};

/// Results by id.
using JobResults = std::map<std::string, JobResult>;

struct BatchEnd {
  JobResults results;    ///< of every job of the shard, unless it was stopped
  bool stopped = false;  ///< asked to; what was running then is not finished
};

/// What is run, and the file that keeps what is finished.
struct BatchWork {
  const JobFile& file;
  const Shard& shard;
  const std::string& journal;
};

/// Bad lines are passed over: their result is their faults. `stop` ends it: running jobs are killed and count as not done. Jobs with the
/// same id are run once. A job killed from outside (somebody's kill, a node going down) is run again, twice at most. Listeners are called
/// by one thread at a time. Environment errors: the journal cannot be written; jobs that run are then given up.
Result<BatchEnd> run_jobs(const BatchWork& work, const BatchOptions& options, std::stop_token stop, const BatchListener& listener);

/// The results file of a shard: one line per job, in order. Pre: the batch was not stopped.
std::string results_text(const JobFile& file, const Shard& shard, const JobResults& results);

}  // namespace heddle::app
