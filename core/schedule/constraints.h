// What a user may demand of a schedule: named, switchable, data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/id.h"

namespace heddle {

enum class ConstraintKind {
  Pin,            ///< start(op) == low
  Range,          ///< low <= start(op) <= high
  InGroup,        ///< op is in group `low`
  NotInGroup,     ///< op is not in group `low`
  SameGroup,      ///< all ops share a group
  DifferentGroup, ///< ops are pairwise in different groups
  Before,         ///< start(ops[0]) + low <= start(ops[1])
  SameStage,      ///< all ops have the same stage
  MaxStages,      ///< at most `high` stages
  MaxWarps,       ///< at most `high` warps in the CTA
  MaxGroups,      ///< at most `high` groups, producer included
  MaxRegisters,   ///< at most `high` registers per thread in every group
  MaxSmem,        ///< at most `high` bytes of shared memory
  MaxTmem,        ///< at most `high` tensor memory columns
  MaxDepth,       ///< channel `channel` has at most `high` slots
  OneByOne,       ///< no group begins an iteration before it has issued the one before: start(b) + window(b) <= start(a) + II
                  ///< for all a, b in one group. A loop that is written without pipelining inside a group runs so.
};
const char* to_string(ConstraintKind kind);

struct UserConstraint {
  std::string name;
  bool enabled = true;
  ConstraintKind kind = ConstraintKind::Pin;
  std::vector<std::string> ops;
  std::string channel;           ///< MaxDepth only
  std::int64_t low = 0, high = 0;
  bool operator==(const UserConstraint&) const = default;
};

using Constraints = std::vector<UserConstraint>;

}  // namespace heddle
