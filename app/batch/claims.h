// What the lines of results and journals claim of solved problems, and what in the lines themselves speaks against it. A file proves
// nothing: a claim that contradicts itself or its neighbours is not believed, whoever wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace heddle::app {

struct Claim {
  std::string where;                      ///< for sentences about other claims: "job 3"
  std::string against_itself;             ///< a sentence; empty: it agrees with itself
  std::uint64_t question = 0;             ///< digest of batch, problem and demands: equal ones have one answer; 0: not known
  std::optional<std::int64_t> ii, bound;  ///< of the schedule; proved, as it says
  bool optimal = false, infeasible = false;
};

/// `line`: of heddle.result/1, or of a journal.
Claim claim_of(const Json& line);

/// Why each claim is not to be believed, in the same order; an empty sentence where nothing speaks against it. Of two answers to one
/// question that exclude each other the refuted one falls, and both where each says that it is proved.
std::vector<std::string> refutations(const std::vector<Claim>& claims);

}  // namespace heddle::app
