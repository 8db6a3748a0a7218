// Schedule files as contenders for a scoreboard: those that ship with a kernel, and those that a user names.
#pragma once

#include <string>
#include <vector>

#include "core/answers/scoreboard.h"
#include "core/base/result.h"

namespace heddle {

class Source;

/// A schedule under a name, with what its note says of it.
Contender contender_of(Schedule schedule, std::string name, ContenderKind kind = ContenderKind::File);

/// The shipped schedules of the problem's kernel. One for a loop of other costs (other tiles, another machine) says so instead
/// of a schedule: its starts would mean nothing here.
std::vector<Contender> shelf_contenders(const Problem& problem);

/// A name or a path. What cannot be read at all is an error; other parameters and machines are warnings. `known`: a source
/// that may be of the same text.
Result<Contender> file_contender(const std::string& name_or_path, const Problem& problem, std::vector<Fault>* warnings = nullptr,
                                 const Source* known = nullptr);

}  // namespace heddle
