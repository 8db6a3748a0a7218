// Histories and results as `heddle tune` and `heddle batch` write them, for tests: of the toy, with schedules that are its own.
#pragma once

#include <string>

#include "core/problem/problem.h"

namespace heddle::test {

/// A run of a tuner: what it searches, with values in cycles and a bound of 100.
std::string tuning_run(const std::string& kernel = "toy_fig1", const std::string& machine = "toy");
/// One evaluation. `more` is put in as it is: "\"stages\":2,\"why\":\"...\"".
std::string tuning_evaluation(int number, const std::string& config, const std::string& status, double value, const std::string& more = {});
std::string tuning_end(const std::string& reason, bool proved);
/// Of the toy: the run, an optimal point with its schedule (II 2), a feasible one (II 3), one refused, one pruned, the end.
std::string toy_history(const Problem& toy);
/// So many evaluations of a space with four parameters, for size.
std::string long_history(int count);

/// A line of `heddle batch`'s results, and the same line as the journal has it.
std::string batch_line(int job, int of, const std::string& status, const std::string& more = {},
                       const std::string& batch = "00000000000000aa");
std::string journal_line(const std::string& line);

}  // namespace heddle::test
