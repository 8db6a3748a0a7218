// Options of heddle batch, merge and store.
#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"

namespace heddle::app {

std::vector<CommandSpec> batch_rows() {
  using namespace spec;
  return {
      {"batch",
       "run the jobs of a file, several at a time, here or as a Slurm array; killed at any moment and started again, it goes on",
       {"heddle batch jobs.jsonl", "heddle batch jobs.jsonl --jobs 4 --limit 30 --memory 2000 --out results.jsonl",
        "heddle batch jobs.jsonl --shard 2/8 --out part-2.jsonl",
        "heddle batch jobs.jsonl --slurm --shards 16 --partition cpu --time 1:00:00"},
       {{"JOBS", "job file: JSON Lines, each a job or a grid of jobs (heddle schema job)", PositionalType::Name, true, {}}},
       {file("--out", "-o", "where results go, a line per job in the order of the jobs (default JOBS.results.jsonl); - is standard output"),
        integer("--jobs", "N", 1, 1024, "jobs at a time, each a process (default: one per processor; with --slurm 1 per shard)"),
        {"--limit",
         "",
         "S",
         "seconds for each job (default: none); then it is to say what it has, and is killed",
         ValueType::Seconds,
         {},
         0,
         kMostSeconds,
         false},
        integer("--memory", "MIB", 32, kMost >> 40, "memory for each job (default: no limit)"),
        toggle("--strict", "run nothing if a line of the job file is broken (default: its result says so)"),
        toggle("--retry", "do again what timed out, crashed, ran out of memory, found nothing, or missed something on its machine"),
        toggle("--fresh", "forget what was finished before"),
        kNoStore,
        {"--shard",
         "",
         "I/N",
         "only the I-th of N parts: jobs I, I+N, I+2N ...; heddle merge puts the results together",
         ValueType::Name,
         {},
         0,
         0,
         false},
        toggle("--slurm", "submit the shards as a Slurm job array, and a job that merges their results"),
        integer("--shards", "N", 1, 10'000, "with --slurm: how many (default: 32, or as many as there are jobs)"),
        {"--partition", "", "NAME", "with --slurm: sbatch's --partition", ValueType::Name, {}, 0, 0, false},
        {"--time", "", "TIME", "with --slurm: sbatch's --time for each shard", ValueType::Name, {}, 0, 0, false},
        {"--mem", "", "SIZE", "with --slurm: sbatch's --mem for each shard", ValueType::Name, {}, 0, 0, false},
        {"--sbatch",
         "",
         "OPTION",
         "with --slurm: a further option of sbatch, --sbatch=--account=mine; may be given several times",
         ValueType::Name,
         {},
         0,
         0,
         true},
        toggle("--dry-run", "with --slurm: print what would be submitted, as a shell script")},
       run_batch},
      {"merge",
       "put the results of shards together; missing, repeated and contradicting lines are named; exit 0 complete, 4 not",
       {"heddle merge part-*.jsonl --out results.jsonl"},
       {{"FILES", "results files of heddle batch --shard", PositionalType::Files, true, {}}},
       {file("--out", "-o", "where to write; - is standard output (the default)"),
        toggle("--partial", "write what there is, though jobs are missing")},
       run_merge},
      {"store",
       "answers kept from earlier searches: how many, which, or none any more (folder: HEDDLE_STORE, off for none)",
       {"heddle store", "heddle store list", "heddle store clear"},
       {{"WHAT", "size (the default), list or clear", PositionalType::Choice, false, {"size", "list", "clear"}}},
       {kJson},
       run_store},
  };
}

}  // namespace heddle::app
