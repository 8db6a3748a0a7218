// What a user may demand of a schedule: named, switchable, data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

enum class ConstraintKind {
  Pin,                ///< start(op) == low
  Range,              ///< low <= start(op) <= high
  InGroup,            ///< op is in group `low`
  NotInGroup,         ///< op is not in group `low`
  SameGroup,          ///< all ops share a group
  DifferentGroup,     ///< ops are pairwise in different groups
  Before,             ///< start(ops[0]) + low <= start(ops[1])
  SameStage,          ///< all ops have the same stage
  EarlierStage,       ///< stage(ops[0]) + low <= stage(ops[1]), both of one iteration; a stage is start / II
  MaxStages,          ///< at most `high` stages
  MaxWarps,           ///< at most `high` warps in the CTA
  MaxGroups,          ///< at most `high` groups, producer included
  MaxRegisters,       ///< at most `high` registers per thread in every group
  MaxSmem,            ///< at most `high` bytes of shared memory
  MaxTmem,            ///< at most `high` tensor memory columns
  MaxDepth,           ///< channel `channel` has at most `high` slots
  OneByOne,           ///< no group begins an iteration before it has issued the one before: start(b) + window(b) <= start(a) + II
                      ///< for all a, b in one group that take issue time. A loop that is written without pipelining inside a group
                      ///< runs so; what takes none (an inner loop, which other groups issue) is not in its order.
  IIRange,            ///< low <= II <= high; a `high` of 0 is no upper end
  ClosedGroup,        ///< the group of the op hands nothing to another group and takes nothing from one: a dependence that carries a
                      ///< value or costs a hand-off has both ends in that group, or neither
  MaxWidthRegisters,  ///< the groups take at most `high` registers together, each what width_registers says of its width
  MaxStageSmem,       ///< `rings` take at most `high` bytes, each `bytes` * (1 + the stages from its writer to its last reader). Some op
                      ///< starts at 0, from where stages count.
  MaxCrossingSmem,  ///< `rings` take at most `high` bytes beside `low` that are taken anyway, each its `bytes` where a reader is in another
                    ///< group than the writer
};
inline constexpr ConstraintKind kLastConstraintKind = ConstraintKind::MaxCrossingSmem;
inline bool counts_rings(ConstraintKind kind) { return kind == ConstraintKind::MaxStageSmem || kind == ConstraintKind::MaxCrossingSmem; }
const char* to_string(ConstraintKind kind);
/// EarlierStage: what is asked for is no more than that.
inline constexpr std::int64_t kMostStagesApart = 1024;

/// Registers that a warp group of so many warps is given where its width alone decides: rounded up to 1, 2, 4, 8 ... warps, a
/// thread has 24 up to 2 warps, 152 up to 4, 232 beyond (the register split of Triton's warp specialization).
std::int64_t width_registers(int warps);

/// Tiles as the solver of a compiler counts them, by whole stages or by the groups that they cross; it need not be a channel of the
/// problem.
struct StageRing {
  std::string writer;
  std::vector<std::string> readers;
  std::int64_t bytes = 0;
  bool operator==(const StageRing&) const = default;
};

struct UserConstraint {
  std::string name;
  bool enabled = true;
  ConstraintKind kind = ConstraintKind::Pin;
  std::vector<std::string> ops;
  std::string channel;  ///< MaxDepth only
  std::int64_t low = 0, high = 0;
  std::vector<StageRing> rings{};  ///< MaxStageSmem and MaxCrossingSmem only
  bool operator==(const UserConstraint&) const = default;
};

using Constraints = std::vector<UserConstraint>;

}  // namespace heddle
