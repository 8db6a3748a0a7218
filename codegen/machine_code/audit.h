// What ptxas made of the schedule: per role and steady loop, which instructions stand between the points where roles meet, what
// was moved across them, what costs time that no model counts, and how long the loops take together. Read from the machine code and its
// line table alone; nothing here was run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/emit.h"
#include "codegen/machine_code/instructions.h"
#include "codegen/machine_code/opcode.h"
#include "codegen/machine_code/quarter.h"
#include "codegen/program/program.h"
#include "codegen/program/refusal.h"
#include "core/base/json.h"
#include "core/kernel/kernel.h"
#include "core/problem/problem.h"

namespace heddle::codegen {

/// From one point of a loop to the next, in the order of the machine code.
struct Stretch {
  StepKind point =
      StepKind::Wait;  ///< Issue: an mma, TMA load or store; Wait, Arrive, Signal, Retire, AwaitWrites, TakeTurn, PassTurn, Sync
  std::optional<std::size_t> span;  ///< of the emission
  ClassCounts counts;               ///< from the point, itself included, to the next one
  bool operator==(const Stretch&) const = default;
};

/// Between taking the turn and the first wgmma.
struct TurnGap {
  OpRef op;  ///< of that wgmma
  int instructions = 0;
  Cycle issue = 0;  ///< cycles
  bool operator==(const TurnGap&) const = default;
};

/// Work of an op that runs on the other side of a point than in the text.
struct Moved {
  OpRef op;
  int of = 0;            ///< instructions of work that the op has in the loop
  int down = 0;          ///< run behind a point that follows it in the text
  int up = 0;            ///< run before a point that it follows
  std::size_t past = 0;  ///< span of the point that most of them crossed
  bool operator==(const Moved&) const = default;
};

/// A wait until no wgmma is in flight.
struct Drain {
  OpRef op;         ///< waited for
  Cycle issue = 0;  ///< cycles of instructions until the next wgmma, also across the loop's end
  bool operator==(const Drain&) const = default;
};

/// Mmas of one op with other work between them.
struct Interrupted {
  OpRef op;
  Cycle gap = 0;    ///< issue cycles between two of its mmas, the longest
  Cycle wgmma = 0;  ///< that one of them keeps the tensor core busy
  bool operator==(const Interrupted&) const = default;
};

/// An access to tensor memory, a tcgen05.mma or its signal, or what guards them, that runs before a step which the text has before it.
struct Reordered {
  struct Point {
    StepKind kind = StepKind::Wait;
    OpRef op;
    int line = 0;
    bool operator==(const Point&) const = default;
  };
  Point late, early;  ///< `early` has overtaken `late`
  bool operator==(const Reordered&) const = default;
};

/// How long a role's loop takes beside those of the other roles (codegen/machine_code/quarter.h): cycles of an iteration.
struct LoopTime {
  struct Wait {
    StepKind point = StepKind::Retire;  ///< or TakeTurn
    std::optional<std::size_t> span;    ///< of the emission
    Cycle cycles = 0;
    bool operator==(const Wait&) const = default;
  };
  Cycle iteration = 0;
  Cycle turn = 0;           ///< between taking turns and passing them
  Cycle held = 0;           ///< at wgmmas until they are accepted
  std::vector<Wait> waits;  ///< for mmas and turns, in the order of execution; none of no cycles
  bool operator==(const LoopTime&) const = default;
};

/// The steady loop of one role; counts are of one pass.
struct RoleLoopAudit {
  std::size_t role = 0;
  int iterations = 1;  ///< of the kernel's loop in one pass
  bool inner = false;  ///< it has loops of its own (of mmas that are not unrolled), whose instructions are counted once
  ClassCounts counts;
  std::vector<Stretch> stretches;
  std::vector<TurnGap> turns;
  std::vector<Moved> moved;
  std::vector<Drain> drains;
  std::vector<Interrupted> interrupted;
  std::vector<Reordered> reordered;
  std::optional<LoopTime> time;  ///< of warp groups in kernels for sm_90a with wgmmas and without loops inside
  bool operator==(const RoleLoopAudit&) const = default;
};

/// Where an op's work begins in a role's loop: of the schedule, and of the machine code.
struct OpCodePlace {
  std::size_t span = 0;
  Cycle issue = 0;       ///< cycles of instructions before its first one in the loop
  int instructions = 0;  ///< of its span in the loop
};

struct MachineAudit {
  bool lines = false;                ///< false: the code has no line table, and there is nothing below
  std::vector<RoleLoopAudit> loops;  ///< roles without a loop are left out
  std::vector<OpCodePlace> places;   ///< of spans in loops, in the order of the code
  int unknown = 0;                   ///< instructions of timed loops that were taken for simple ones

  /// Of the kernel as compiled: the slowest role's. Predicted.
  std::optional<Cycle> iteration() const;
};

/// Pre: `code` is compiled from `emission`'s text, which is `program`'s. Any code gives an answer.
MachineAudit audit(const std::vector<MachineInstruction>& code, const Problem& problem, const Program& program, const Emission& emission);

/// Thresholds above which the kernel is not what was scheduled: what kernels kept to once their text was mended (docs/code_generator.md).
inline constexpr Cycle kMostTurnGap = 30;         ///< issue cycles
inline constexpr int kMostUniform = 16;           ///< uniform instructions per pass, and
inline constexpr int kMostUniformPerProduct = 5;  ///< per wgmma in addition
inline constexpr int kMostGap = 2;                ///< between two wgmmas of an op, as long as so many of them

/// Rules turn_gap, gpu_fence, uniform_chain (of wgmmas), broken_batch, tensor_order: what is above its threshold, as sentences.
std::vector<Refusal> judge(const MachineAudit& audit, const Kernel& kernel, const Program& program);

/// Lines for people, per role.
std::string audit_text(const MachineAudit& audit, const Kernel& kernel, const Program& program, const Emission& emission);
/// [{role, iterations, instructions, issue, counts, stretches, turns, drains, interrupted, reordered, moved, time}]; null without a line
/// table.
Json audit_json(const MachineAudit& audit, const Kernel& kernel, const Program& program, const Emission& emission);
/// Of that, in a document with these definitions.
Json machine_code_schema(Json& definitions);

}  // namespace heddle::codegen
