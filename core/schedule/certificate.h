// What was proved about a schedule, by whom, and who checked it. Saved with the schedule and printed into generated CUDA. Read from a
// file it is a claim: Schedule keeps the two apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/schedule/period_proof.h"

namespace heddle {

/// Five words, always shown with the number they qualify.
enum class Status { Optimal, Feasible, Infeasible, Unknown, Invalid };
const char* to_string(Status status);

/// Why no smaller II is possible.
enum class BoundReason {
  None,
  Resource,    ///< a unit (or the issue streams of all groups) is full
  Recurrence,  ///< a dependence cycle
  Refutation,  ///< the solver refuted II - 1
  Requested,   ///< the user fixed II; nothing is claimed about smaller ones
};
const char* to_string(BoundReason reason);

struct ObjectiveValue {
  std::string name;  ///< "ii", "stages", "warps", "smem", "tmem", "registers"
  std::int64_t value = 0;
  bool proved = false;
};

struct Certificate {
  Status status = Status::Unknown;
  Cycle ii = 0;
  Cycle lower_bound = 0;
  std::optional<int> bound_stages{};  ///< the bound speaks of schedules of at most so many stages; none: of all
  BoundReason reason = BoundReason::None;
  std::string explanation;  ///< one sentence: which unit, which recurrence, which refutation and up to how many stages
  std::vector<ObjectiveValue> objectives;
  std::string solver;  ///< "Z3 4.15.4"; empty for hand schedules
  std::uint64_t seed = 0;
  double seconds = 0;                   ///< wall time of the whole search
  std::string problem_hash;             ///< question_hash() of the problem and the demands that it was proved for
  bool checked = false;                 ///< the independent checker found no violation
  std::optional<PeriodProof> period{};  ///< what is known of its period with contention; none where the machine knows no contention
};

}  // namespace heddle
