// Dumps on the command line and in the window: FILE, or FILE#WORDS where words, separated by commas, say what of it is meant:
// a loop by its number ("#1"), a reading ("#full", "#issue-slots"), a variant of a file of variants ("#variant2").
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/dump/dump.h"
#include "core/dump/native.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::dump {

struct DumpAddress {
  std::string path;
  std::optional<std::int64_t> loop;
  std::optional<DumpReading> reading;  ///< default: default_reading
  int variant = 0;
};

/// A file whose very name has the mark is that file. Faults: words that mean nothing here.
Result<DumpAddress> parse_address(const std::string& name);

/// The loop that is meant; a fault that lists all of them when that is not clear.
Result<const DumpLoop*> find_loop(const Dump& dump, const DumpAddress& address);

/// The stored schedule of the loop whose ops are the problem's, of the loop that is named or any.
Result<Schedule> stored_schedule(const Dump& dump, const DumpAddress& address, const Problem& problem);
/// What a solution of a joint-solver problem says, as a schedule. `text`: of the file.
Result<Schedule> joint_schedule(const std::string& path, const std::string& text, const Problem& problem);

}  // namespace heddle::dump
