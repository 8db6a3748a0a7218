// The ops of a kernel's prologue and epilogue beside its schedule. They run once per tile, before the loop and after it; they are no part
// of the schedule, and nothing is proved about them. Their order, warp groups and lengths are those of the simulator's program
// (cta_program.h); their places are those of the schedule's own clock, the prologue as late and the epilogue as early as what they wait for
// and the units that they use allow.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/cta_program.h"

namespace heddle {

struct EndOp {
  OpId op;  ///< of EndOps::problem
  CtaSection section = CtaSection::Prologue;
  GroupId group;
  /// Of a prologue op after cycle 0 of the first iteration, mostly negative; of an epilogue op after cycle 0 of the last one.
  Cycle start = 0;
  bool cost_known = true;  ///< false: no rule of the machine says what it costs, and it takes no time
};

struct EndLink {
  OpId from, to;  ///< one of them at least is of the prologue or the epilogue
  std::string value;
  Cycle latency = 0;
};

struct EndOps {
  Problem problem;                    ///< the loop's ops under their numbers, then prologue and epilogue
  std::vector<ScheduleGroup> groups;  ///< the schedule's, and one more where the epilogue needs more warps than the group of its input has
  std::vector<EndOp> ops;             ///< prologue, then epilogue, each in the file's order
  std::vector<EndLink> links;         ///< values that they read and define
  bool empty() const { return ops.empty(); }
};

const char* to_string(CtaSection section);  ///< "prologue", "loop", "epilogue"

/// Pre: `problem` is of the spec, or that problem with other numbers, and the schedule's sizes fit it.
EndOps end_ops(const InstanceSpec& spec, const Problem& problem, const Schedule& schedule);
/// The same where there is no schedule yet: what they cost and how they depend on each other; groups and starts mean nothing.
EndOps end_ops(const InstanceSpec& spec, const Problem& problem);

}  // namespace heddle
