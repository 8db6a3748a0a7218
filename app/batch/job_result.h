// What became of a job, as data: a status word, the command's answer, and the line that a results file has for it (heddle.result/1).
//
// A line holds nothing that depends on when, where or how fast it was made: wall times and search counters of the answer are left out, so
// that the same inputs give the same line - but for timeout and out of memory, which are about the machine. What was measured about the job
// itself goes into the journal (journal.h) only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/batch/job_file.h"
#include "app/jobs/child_process.h"
#include "core/base/json.h"

namespace heddle::app {

enum class JobStatus {
  Proved,        ///< a schedule, proved optimal
  Feasible,      ///< a schedule without that proof
  Infeasible,    ///< proved that there is none
  Done,          ///< another answer
  Negative,      ///< the answer is no: a schedule that breaks a rule, results that differ
  Unknown,       ///< nothing found, nothing proved
  Timeout,       ///< the job's time, or the solver's, was over before there was an answer; what was known by then is the answer
  OutOfMemory,   ///< the same of memory
  Crashed,       ///< a signal ended it
  Failed,        ///< the input was refused
  Unavailable,   ///< something is missing here: GPU, library, permission
  KernelFailed,  ///< the kernel did not compile or run
  BadLine,       ///< the line of the job file is broken
};
const char* to_string(JobStatus status);

/// The same inputs give it again; the others may do better with more time or memory, or elsewhere.
bool is_final(JobStatus status);

struct JobResult {
  JobStatus status = JobStatus::Failed;
  Json answer;          ///< the command's object, without times; {"text": ...} where it prints a text; null without an answer
  std::string message;  ///< the last thing it said, where there is no answer or a bad one
  double seconds = 0;   ///< wall time of the job
  std::int64_t peak_kib = 0;
};

/// Whether a line of a job's standard error tells of memory that it could not have.
bool tells_of_memory(std::string_view line, bool limited);
/// The child's end as a result. `memory_ended`: one of its lines told so.
JobResult judge(const Job& job, const ChildResult& child, bool memory_ended);

/// Takes everything out that was measured or counted while searching.
void leave_out_times(Json& json);

Json result_schema();
/// The line of a results file. Bad lines have no result.
Json result_line(const JobFile& file, const Job& job, const JobResult* result);
/// The inverse, of a journal's line; nothing if it is not one.
std::optional<JobResult> parse_result(const Json& line);

}  // namespace heddle::app
