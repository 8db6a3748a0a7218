// Results of shards into the one file that a run of the whole would have written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/batch/claims.h"
#include "core/base/result.h"

namespace heddle::app {

struct Merged {
  std::string text;  ///< one line per job, in order; what is missing is left out
  std::size_t jobs = 0, of = 0;
  std::vector<Fault> missing;  ///< "jobs 3, 7, 11 are in none of the files"
  std::vector<Fault>
      contradictions;            ///< other results of a job, or lines of another batch: each with FILE:LINE and where the first one stands
  std::vector<Fault> set_aside;  ///< lines that contradict themselves or their neighbours (claims.h): their jobs count as missing
  std::vector<Fault> repeated;   ///< the very same line once more: harmless
  /// No job is missing of the batch, and there is one.
  bool complete() const { return of > 0 && missing.empty() && contradictions.empty(); }
};

/// Takes lines one by one, and keeps one per job.
class Merger {
 public:
  /// `where`: FILE:LINE. False: there are so many faults that more say nothing.
  bool take(const std::string& where, std::string_view line, bool whole);
  /// Input error: lines that are no result lines, all of them named.
  Result<Merged> end();

 private:
  struct PlacedLine {
    std::string text, where;
    Claim claim;
  };
  void fault(const std::string& where, std::string message, std::string hint = {});

  Error error_;
  std::map<std::int64_t, PlacedLine> lines_;
  std::string batch_, batch_where_;
  Merged merged_;
  std::size_t more_contradictions_ = 0, more_repeated_ = 0;  ///< than are kept
};

}  // namespace heddle::app
