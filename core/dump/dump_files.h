// Dumps on the command line and in the window: FILE, or FILE#WORDS where words, separated by commas, say what of it is meant:
// a loop by its number ("#1"), a reading ("#full", "#issue-slots"), a variant of a file of variants ("#variant2").
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/dump/dump.h"
#include "core/dump/native.h"
#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/schedule/schedule.h"

namespace heddle::dump {

struct Address {
  std::string path;
  std::optional<std::int64_t> loop;
  std::optional<Reading> reading;  ///< default: default_reading
  int variant = 0;
};

/// A file whose very name has the mark is that file. Faults: words that mean nothing here.
Result<Address> parse_address(const std::string& name);

/// Whether the name leads to a readable file that holds a dump. Reads it.
bool is_dump(const std::string& name);
/// ... with a schedule in the loop that is meant.
bool has_schedule(const std::string& name);

Result<Dump> read_dump(const Address& address);

/// The loop that is meant; a fault that lists all of them when that is not clear.
Result<const Loop*> find_loop(const Dump& dump, const Address& address);

Result<Kernel> read_dump_kernel(const std::string& name);
Result<Machine> read_dump_machine(const std::string& name);

/// problem_rules of the loop that is meant, and its emitter_rules if asked for.
Result<Constraints> read_dump_rules(const std::string& name, const Problem& problem, bool emitter);

/// Whether the file is one that read_dump_schedule reads: a dump, or a solution of a joint-solver problem.
bool holds_dump_schedule(const std::string& name);
/// The stored schedule of the loop whose ops are the problem's.
Result<Schedule> read_dump_schedule(const std::string& name, const Problem& problem);

}  // namespace heddle::dump
