// Reading what a compiler's scheduler dumps (core/dump/dump.h): which format it is, and everything in it that scheduling
// needs. Unknown members are skipped; an export keeps them because it patches the text.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/dump/dump.h"

namespace heddle::dump {

/// Whether this is one of the formats that parse_dump reads. Damaged JSON counts when it says so of itself.
bool is_dump_text(std::string_view text);

/// All faults at once, each with its JSON Pointer. `variant` picks a document of a file of variants.
Result<Dump> parse_dump(std::string_view text, const std::string& file, int variant = 0);

/// A solution of a joint-solver problem: II, cycles by node id, groups by cluster id where it has them.
struct JointSolution {
  Cycle ii = 0;
  std::vector<std::pair<std::int64_t, Cycle>> cycles;
  std::vector<std::pair<std::int64_t, std::int64_t>> groups;  ///< cluster, group
  std::vector<std::pair<std::int64_t, std::int64_t>> depths;  ///< buffer, slots
};
bool is_joint_solution_text(std::string_view text);
/// A fault when the solver found none.
Result<JointSolution> parse_joint_solution(std::string_view text, const std::string& file);

}  // namespace heddle::dump
