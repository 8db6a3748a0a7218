// A batch as a Slurm job array over shards of its job file, and a job that merges when they have ended. No scheduler of our own.
//
// Nothing that a user names is ever read as shell or as #SBATCH text: options travel as words of sbatch's command line, and in the
// scripts every word is quoted. A shard that runs again (requeue, a lost node, a second submission) goes on from its journal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace heddle::app {

struct SlurmOptions {
  std::string program;        ///< heddle, on every node
  std::string folder;         ///< current folder of the jobs
  std::string jobs, results;  ///< job file and results file
  std::size_t shards = 1;
  std::size_t at_once = 1;               ///< jobs at a time in a shard, and CPUs per task
  std::vector<std::string> batch_words;  ///< passed on to `heddle batch`: limits and the like
  std::string partition, time, memory;   ///< of sbatch; empty: its default
  std::vector<std::string> more;         ///< further words for sbatch, for both jobs
};

/// "RESULTS.shards": scripts, shard results, journals and Slurm's output.
std::string shards_folder(const std::string& results);
/// "RESULTS.shards/2-of-8.jsonl"
std::string shard_results(const SlurmOptions& options, std::size_t index);

struct SlurmPlan {
  std::string array_script, merge_script;  ///< texts of sh
  std::string array_path, merge_path;      ///< where they are written
  std::vector<std::string> array_words;    ///< of sbatch
  /// The same for the merging job, which starts when the array has ended, however that was.
  std::vector<std::string> merge_words(const std::string& array_job) const;

  std::vector<std::string> merge_options;  ///< merge_words without the dependency and the script
};

/// `wanted`: the shards to run, 1 upwards, ascending. Pre: not empty.
SlurmPlan plan_slurm(const SlurmOptions& options, const std::vector<std::size_t>& wanted);

/// What --dry-run prints: the scripts and the commands, as a shell script that would do the same.
std::string plan_text(const SlurmPlan& plan);

/// Runs $PATH's sbatch with the words and answers the job's number. Environment errors: there is no sbatch; it refuses (what it says).
Result<std::string> sbatch(const std::vector<std::string>& words);

/// Whether Slurm still has the job waiting or running. False where it cannot be asked.
bool slurm_knows(const std::string& job);

}  // namespace heddle::app
