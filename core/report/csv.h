// Tables as CSV (RFC 4180): a header line, units in the column names, CRLF line ends, quotes where needed.
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// One line: quotes where needed, CRLF at the end.
std::string csv_record(const std::vector<std::string>& fields);

/// The op table. Without a schedule the schedule's columns are empty.
std::string op_csv(const Problem& problem, const Schedule* schedule);

}  // namespace heddle
