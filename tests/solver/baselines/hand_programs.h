// The hand schedules that ship under kernels/schedules/, as programs: the order of ops per warp group, ring depths,
// turns on the tensor cores. Their starts are computed (core/timing/program.h), so this table is the source and
// the files are made from it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::test {

struct HandProgram {
  std::string kernel, name;  ///< kernels/schedules/<kernel>/<name>.json
  std::string title, machine;
  Scope params;                                     ///< overrides
  std::vector<std::string> streams;                 ///< per group, the producer first; "PV0@1" works one iteration behind
  std::vector<std::pair<std::string, int>> depths;  ///< of rings by the name of a value; others have one slot
  std::vector<std::string> turns;                   ///< ops in the order in which barriers let them onto the units they share
  std::string note;                                 ///< source, and what was simplified
  std::vector<std::string> violations;              ///< families that the checker is expected to name; empty: the schedule is legal
};

const std::vector<HandProgram>& hand_programs();

Problem problem_of(const HandProgram& hand);
Schedule schedule_of(const HandProgram& hand, const Problem& problem);

}  // namespace heddle::test
