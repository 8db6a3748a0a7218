// One job is one child: this program again, in a process group of its own, with limits that hold before it has allocated anything.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/jobs/child_process.h"

namespace heddle::app {

/// First word of a job's command line; heddle JOB_WORD BYTES PARENT WORDS... is heddle WORDS... under limits.
inline constexpr const char* kJobWord = "--as-job";

struct JobLimits {
  double seconds = 0;              ///< of wall time; 0: none
  std::uint64_t memory_bytes = 0;  ///< of private writable memory (RLIMIT_DATA; address space that is only reserved costs nothing); 0: none
};

/// Runs `program` with the words, the command first, and waits. It dies with this process, however that ends. `said`: lines of its standard
/// error.
Result<ChildResult> run_job_process(const std::string& program, const std::vector<std::string>& words, const JobLimits& limits,
                                    std::stop_token stop, const std::function<void(std::string_view)>& said);

/// The child's part, called first thing in main(): takes kJobWord and its two values off and sets the limits. The number of words
/// taken, 0 when this is no job; a job whose parent is gone ends here.
int enter_job(int argc, char** argv);

}  // namespace heddle::app
