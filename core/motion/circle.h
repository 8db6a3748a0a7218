// A program as the rule of motion runs it (core/motion/motion.h): for every warp group a circle of steps, repeated without end.
//
// It follows from a loop program (core/timing/program.h): the order of each group's ops, their stages, the depths of the rings, and which
// mmas share a turn. Starts are no decision any more. In turn j of its circle an op of stage s works on iteration j - s.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/timing/program.h"

namespace heddle::motion {

/// Time of the rule: 1/256 of a cycle.
using Ticks = std::int64_t;
inline constexpr Ticks kCycle = 256;

enum class CircleStepKind {
  Arithmetic,  ///< `work`
  Issue,       ///< `count` mma instructions of `each` ticks
  Copy,        ///< starts a copy: the group is held for `held`, its units are busy one after the other, the result comes `latency` later
  Await,       ///< until `op` of `distance` iterations before has ended, and `extra` more
  Take,        ///< until it is the turn of `turn`
  Pass,        ///< from `turn` to the next
};

struct CircleStep {
  CircleStepKind kind = CircleStepKind::Arithmetic;
  OpId op;        ///< whose step it is; Await: what is waited for; Take, Pass: none
  int stage = 0;  ///< the step works on iteration j - stage; Await: the waiting op's
  WarpWork work;  ///< Arithmetic
  // Issue
  int count = 0;
  Ticks each = 0;
  bool registers = false;          ///< its first operand is read from registers
  bool first = true, last = true;  ///< holds the first, the last part of its op; of arithmetic too: an op may be run in two steps
  // Copy
  Ticks held = 0;  ///< its group, from its begin; of an Issue at least so long
  Ticks latency = 0;
  // Await
  int distance = 0;
  Ticks extra = 0;
  Ticks ready = 0;       ///< holds the group so long even if there is nothing to wait for: a look at an mbarrier
  bool credit = false;   ///< for a slot that is to be filled again; `channel` says of which ring
  bool crosses = false;  ///< for another group
  ChannelId channel;
  std::size_t turn = 0;
  bool operator==(const CircleStep&) const = default;
};

struct GroupCircles {
  std::vector<std::vector<CircleStep>> groups;
  /// Per turn its group, in the order in which turns follow each other; empty: none are kept.
  std::vector<std::size_t> turns;
  bool operator==(const GroupCircles&) const = default;
};

/// As the text has it. A circle begins with the group's mma that has the first turn, else with its first mma, else with its first op. Waits
/// stand before the first reader of what another group or an asynchronous op makes, before a ring's slot is filled again, and before a
/// write to registers that an mma in flight still reads. An mma whose result nothing in the loop waits for is awaited when the next one of
/// its op has been issued. Pre: every op of `program` once; depths as many as channels.
GroupCircles circles_of(const Problem& problem, const timing::LoopProgram& program);

/// One of them. It follows from its group's stream, the turns that this takes and passes, the depths, and which group the other ops are in;
/// the order of the others' ops does not show.
std::vector<CircleStep> circle_of(const Problem& problem, const timing::LoopProgram& program, std::size_t group);

/// Which turns there are, and the ops that begin and end them.
struct TurnMarks {
  std::vector<std::size_t> groups;                        ///< of each turn
  std::vector<std::optional<std::size_t>> takes, passes;  ///< per op
};
TurnMarks turn_marks(const Problem& problem, const timing::LoopProgram& program);

/// The program that a schedule stands for: its streams by slot, its depths, its kept turns (core/analysis/turns.h), the first one first.
timing::LoopProgram program_of(const Problem& problem, const Schedule& schedule);

/// "wait QK0 · max0 · issue PV0 ..." per group, for people and tests.
std::vector<std::string> circle_text(const Problem& problem, const GroupCircles& circles);

}  // namespace heddle::motion
