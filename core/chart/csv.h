// Tables as CSV (RFC 4180): a header line, units in the column names, CRLF line ends, quotes where needed.
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/end_ops.h"

namespace heddle {

/// One line: quotes where needed, CRLF at the end. Control characters become blanks, and a text that a spreadsheet would take for a formula
/// (it begins with = @ + - and is no number) gets an apostrophe in front.
std::string csv_record(const std::vector<std::string>& fields);

/// The op table. Without a schedule the schedule's columns are empty. `ends`: prologue and epilogue follow, without what only a schedule
/// says; null: they are left out.
std::string op_csv(const Problem& problem, const Schedule* schedule, const EndOps* ends = nullptr);

}  // namespace heddle
