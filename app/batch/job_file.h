// Job files: JSON Lines, each line one job or a grid of jobs (heddle.job/1, `heddle schema job`).
//
//   {"do": "solve", "kernel": "gemm_hopper", "machine": "h100", "params": {"TILE_N": 128}, "options": {"timeout": 5}}
//   {"do": "solve", "machine": "h100", "each": {"kernel": ["gemm_hopper", "layernorm"], "options": {"max-stages": [1, 2]}}}
//
// "do" is a command that takes a kernel, its arguments are members by their names in small letters, "params" are its --param,
// and "options" its other long options without "--": true for switches, a list where an option may be given several times. A name means
// what it means on the command line, a path starts at the current folder. "each" has the shape of the job with a list (or
// {"from": 64, "to": 256, "step": 64}) where a value would stand: the line is then one job per element of the lists' cross product, in
// the order in which they are written, the last one varying fastest. Blank lines and lines that begin with # are passed over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace heddle::app {

/// Jobs of one file, grids counted out. More is a fault of the line that goes beyond.
inline constexpr std::size_t kMostJobs = 100'000;

struct Job {
  std::size_t number = 0;          ///< 1 upwards, over the whole file
  int line = 0;                    ///< of the file, 1 upwards
  std::string command;             ///< "solve"; empty for a bad line
  Json description;                ///< members of the job in one fixed order, grid resolved; an empty object for a bad line
  std::vector<std::string> words;  ///< of the command line, without the program's name
  /// Digest of the words, of the content of every file that is read, and of the versions: two jobs with one id have one result.
  std::string id;
  std::vector<Fault> faults;  ///< a bad line: "jobs.jsonl:3", JSON Pointer, what was expected
};

struct JobFile {
  std::vector<Job> jobs;
  std::string batch;                  ///< digest of all ids in order
  std::vector<Fault> faults() const;  ///< of all bad lines
};

Json job_schema();  ///< of a line
/// One job without "each"; `word` is what its command stands under: "do" in files, "ask" where it is a request (serve.h). What is wrong
/// stands in its faults, which call the text `name`.
Job parse_job(const Json& json, const std::string& name, const char* word);

/// A bad line, grid or not, becomes one job with faults; the others are not touched by it. `name` is what faults call the file.
JobFile parse_jobs(std::string_view text, const std::string& name);
/// Input error: the file cannot be read.
Result<JobFile> read_jobs(const std::string& path);

}  // namespace heddle::app
