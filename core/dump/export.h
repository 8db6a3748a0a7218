// Giving a compiler its dump back with another schedule in it.
//
// A schedule_graph is patched in its own text: cycles, stages, clusters, groups, buffers and barriers of one loop are replaced
// where they differ, everything else stays byte for byte. What the emitter of that project reads is the order of ops by stage,
// cluster and cycle, groups with their widths, buffer counts, and barriers; all of these are written consistently.
// `partition_cost` stays: it is the compiler's opinion of its own partition.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/dump/dump.h"
#include "core/problem/problem.h"
#include "core/schedule/outcome.h"
#include "core/schedule/schedule.h"

namespace heddle::dump {

/// `text` is that of the dump. Pre: the problem was made from loop number `loop` (an index). Ops that the problem leaves out
/// (core/dump/views.h) start as soon as they can, beside what they name.
Result<std::string> export_schedule_graph(std::string_view text, const Dump& dump, std::size_t loop, const Problem& problem,
                                          const Schedule& schedule);

/// A file of variants, best first, in the form that the compiler's own top-N dump has.
Result<std::string> export_variants(std::string_view text, const Dump& dump, std::size_t loop, const Problem& problem,
                                    const std::vector<Schedule>& schedules);

/// The answer to a joint-solver problem. For 0.1: cycles and ring depths by that format's rules. For 0.2: groups of clusters, depths,
/// and the plan of barrier operations. Both with the format's objective, and with a word that nothing minimized it. A fault when the
/// schedule breaks a rule of the format (memory, the groups that it demands).
Result<std::string> export_joint_solution(const Dump& dump, const Problem& problem, const Schedule& schedule);

/// The answer where there is no schedule: infeasible with `proven_unsat`, or inconclusive. Pre: outcome.schedule is empty.
Result<std::string> export_joint_failure(const Dump& dump, const SolveOutcome& outcome);

}  // namespace heddle::dump
