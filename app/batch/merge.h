// Results of shards into the one file that a run of the whole would have written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace heddle::app {

struct Merged {
  std::string text;                     ///< one line per job, in order; what is missing is left out
  std::size_t jobs = 0, of = 0;
  std::vector<Fault> missing;           ///< "jobs 3, 7, 11 are in none of the files"
  std::vector<Fault> contradictions;    ///< other results of a job, or lines of another batch: each with FILE:LINE and where the first one stands
  std::vector<Fault> repeated;          ///< the very same line once more: harmless
  bool complete() const { return missing.empty() && contradictions.empty(); }
};

/// `parts`: name and content of each file. Input error: lines that are no result lines, all of them named.
Result<Merged> merge_results(const std::vector<std::pair<std::string, std::string>>& parts);

}  // namespace heddle::app
