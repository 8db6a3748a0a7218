// Does the steps of heddle bench one after the other, each in a process of its own that may be ended, and writes down what each has shown
// as soon as it has ended.
//
//   FOLDER/bench.json        verdicts (heddle.bench/1)
//   FOLDER/report.txt        the same for people, with the table of speeds
//   FOLDER/NAME.json, .log   what a step measured (heddle.measurement/1), and what it said
//   FOLDER/schedules/        what the kernels are made of
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/bench/record.h"

namespace heddle::app {

struct BenchOptions {
  std::string machine{};  ///< shipped name or file
  std::string folder{};
  std::string program{};    ///< heddle
  std::string schedules{};  ///< a folder with SUBJECT.json, solved before; empty: none
  double minutes = 0;       ///< for all steps together; 0: as many as they need
  /// Seconds for comparing the machine code of other orders, for each step that finds a schedule; none: as compile has it.
  std::optional<double> judge_seconds{};
  bool again = false;  ///< also what is known from an earlier run
};

struct BenchHearer {
  std::function<void(const BenchStep& step)> begins;
  std::function<void(std::string_view line)> says;  ///< what a step says while it runs
  std::function<void(const BenchStep& step, const StepRecord& record, bool known_before)> ended;
};

/// That it is the first to say whether there is a GPU: without one it is Unavailable, and no other step need be tried.
bool shows_gpu(const BenchStep& step);

/// Ends early when it is asked to stop, and where there is no GPU (the last record is then of outcome Unavailable). Input errors: a file of
/// an earlier run that is none or of another machine; environment errors: files that cannot be written, a child that cannot be started.
Result<BenchRecord> run_bench(const BenchOptions& options, const std::vector<BenchStep>& steps, std::stop_token stop,
                              const BenchHearer& hearer);

}  // namespace heddle::app
