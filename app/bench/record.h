// What heddle bench has found out so far, kept in a file after every step (heddle.bench/1), so that a run that was cut short goes on.
#pragma once

#include <string>
#include <vector>

#include "app/bench/judge_step.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace heddle::app {

struct StepRecord {
  std::string name;
  StepVerdict verdict;
  double seconds = 0;
  std::string date;  ///< ISO 8601, UTC
};

struct BenchRecord {
  std::string machine, heddle;  ///< as it was named; the program's version
  std::vector<StepRecord> steps;
  const StepRecord* find(const std::string& name) const;
  void keep(StepRecord step);  ///< in the place of an older one
};

Json bench_schema();
std::string bench_text(const BenchRecord& record);
Result<BenchRecord> parse_bench(std::string_view text, const std::string& file);

}  // namespace heddle::app
