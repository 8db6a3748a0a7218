// Readings of contention for people: in the answer of heddle calibrate --contention and in the report of heddle bench.
#pragma once

#include <string>
#include <vector>

#include "core/records/contention_reading.h"

namespace heddle {

/// A row per reading: what was measured, beside the file's number, its range and the verdict. Empty without readings.
std::string contention_table(const std::vector<ContentionReading>& readings);

/// "5 of 6 inside of the file's ranges; below: special_interval 8141 (8400 to 10400)"
std::string contention_headline(const std::vector<ContentionReading>& readings);

}  // namespace heddle
