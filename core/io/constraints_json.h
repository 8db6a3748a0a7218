// Constraint files: heddle.constraints/1, what a user demands of a schedule.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"

namespace heddle {

/// Read against the problem they are for, so that misspelt ops and channels are faults with a guess. A constraint
/// without a name gets one that says what it demands ("pin S at 128").
Result<Constraints> read_constraints(const std::string& path, const Problem& problem,
                                     std::vector<Fault>* warnings = nullptr);
Result<Constraints> parse_constraints(std::string_view text, const std::string& file_name, const Problem& problem,
                                      std::vector<Fault>* warnings = nullptr);

std::string constraints_text(const Constraints& constraints);

/// "pin S at 128", "S and O in one group", "at most 3 stages".
std::string describe(const UserConstraint& constraint);

}  // namespace heddle
