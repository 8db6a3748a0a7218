// A dumped loop as a kernel, a machine and a schedule of Heddle's own, so that everything that works on those works on dumps.
//
// Two readings of the same graph:
//   issue-slots  the compiler's own. A unit is reserved for the op's issue slots; no groups, hand-offs, buffers: what its
//                modulo scheduler looks at. Occupancies count only in sum, as in its lower bound.
//   full         Heddle's. A unit is held for the op's occupancy; ops take issue time in their group; what crosses groups costs
//                a hand-off (the compiler's own constants); tiles live in rings with credits. Nodes that only rename storage
//                are left out (core/dump/views.h).
// Register use is not part of either: a dump does not say which values share registers.
#pragma once

#include <optional>
#include <string_view>

#include "core/dump/dump.h"
#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::dump {

enum class DumpReading { Full, IssueSlots };
/// Files that come without occupancies, types and groups are read as their own solver reads them.
DumpReading default_reading(Format format);
const char* to_string(DumpReading reading);  ///< "full", "issue-slots"
std::optional<DumpReading> parse_reading(std::string_view word);

/// Cycles, from the compiler's partition cost model: a register tile that crosses groups costs a round trip through shared
/// memory of 150 cycles and 16 per KiB, anything else that crosses a barrier of 60.
inline constexpr Cycle kCrossRegister = 150, kCrossBytesPerCycle = 64, kCrossBarrier = 60;
Cycle crossing_cost(const DumpEdge& edge);

Kernel to_kernel(const Dump& dump, const DumpLoop& loop, DumpReading reading);
Machine to_machine(const Dump& dump, const DumpLoop& loop, DumpReading reading);

/// Whether a problem of either reading was made from this loop.
bool has_ops_of(const DumpLoop& loop, const Problem& problem);

/// The stored schedule against the problem of either reading, as it is stored, legal or not. Ops that the file gives to no
/// group, or to all, take the group of what reads them. Depths that the file does not say are the least that suffice.
/// Nothing when the loop is not scheduled or its ops are others.
std::optional<Schedule> to_schedule(const Dump& dump, const DumpLoop& loop, const Problem& problem);

/// What a joint-solver problem demands. 0.1: its range of II, and its budget of shared memory, counted by stages. 0.2: its II, and of
/// groups that clusters stay whole, that results of products and conflicting clusters cross, and that register tiles which are
/// carried do not; in its mode `partition` the cycles are given. Empty for other formats.
Constraints problem_rules(const Dump& dump, const DumpLoop& loop, const Problem& problem);

/// What the compiler's emitter demands beyond the graph: what reads the result of a matrix product into registers is in another
/// warp group than the product (its barrier handshake bears no skew inside a group of several warps), and every group runs one
/// iteration after the other, because it writes no pipeline inside a group (facebookexperimental/triton, DESIGN_emitter_pipeline.md):
/// II is then what the program sustains (core/dump/program_period.h); the group that holds an inner loop has no channel with another
/// group, because the two loops count their iterations by one variable; and groups have the registers of their width,
/// `registers_beside` being taken by others. Full reading.
Constraints emitter_rules(const DumpLoop& loop, const Problem& problem, std::int64_t registers_beside = 0);

/// Registers of the groups that the file has for loops around this one and inside it: they are there at the same time.
std::int64_t registers_beside(const Dump& dump, const DumpLoop& loop);

/// The group of every node, as above, in the file's numbers; kUnassigned where no group can be told.
std::vector<std::int64_t> groups_of_nodes(const DumpLoop& loop);

/// Whether a tile loaded from global memory lives in the storage that this op fills.
bool is_load(const DumpNode& node);

/// Every op that reads the storage of `node`, itself or through views, with the iterations between.
std::vector<std::pair<std::size_t, int>> readers_through_views(const DumpLoop& loop, std::size_t node);

}  // namespace heddle::dump
