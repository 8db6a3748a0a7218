// What a compiler's modulo scheduler dumps, free of its file format: dependence graphs of loops, and, where the file has
// one, the schedule with its warp groups, buffers and barriers.
//
// The formats come from the Triton fork github.com/facebookexperimental/triton: `ddg-0.1`, `schedule_graph` 0.1 (one
// document, several variants, or the older flat form), `curated-ddg-0.2`, and problems of `joint-solver-0.1` and `-0.2`.
// Ids of ops in such files are addresses of one run of the compiler: nothing here keeps or compares them. Ops are known
// by the number of their node and by what they do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/mlir/tile_type.h"

namespace heddle::dump {

enum class Format { Ddg, ScheduleGraph, Curated, JointCycles, JointGroups };
/// "ddg-0.1", "schedule_graph 0.1" ...
const char* to_string(Format format);

/// Groups of a node that no group owns.
inline constexpr std::int64_t kUnassigned = -1;  ///< not decided
inline constexpr std::int64_t kReplicated = -2;  ///< every group computes its own copy

struct UnitTime {
  std::string unit;
  Cycle offset = 0, duration = 0;
  std::int64_t amount = 1;
};

struct DumpNode {
  std::int64_t id = 0;
  std::string name;                ///< unique in its loop, stable between runs: "tmem_load_8"
  std::string kind;                ///< as the file has it: "ttng.tmem_load"
  std::string what;                ///< for people: "tmem_load 128x64 f32"
  std::string native;              ///< the nearest kind of core/kernel/op_kind.h
  std::string unit;                ///< empty: takes no unit
  Cycle latency = 0;               ///< issue to result
  Cycle self_latency = 0;          ///< issue slots reserved
  Cycle occupancy = 0;             ///< cycles its unit is held
  bool occupancy_derived = false;  ///< not in the file, by the compiler's published rule from the types
  std::vector<UnitTime> table;     ///< a reservation table, where the file has one; replaces the two above
  int min_warps = 1;
  std::int64_t frequency = 1;
  TileType result;      ///< the tile it works on: of an mma, the accumulator
  bool scalar = false;  ///< defines no tile: each group may compute it for itself
  bool view = false;    ///< renames or allocates storage, takes no time
  bool super = false;   ///< an inner loop as one op
  int inner_loop = -1;  ///< id of that loop, -1 unknown
  Cycle inner_ii = 0, prologue_latency = 0;

  // The stored schedule.
  std::optional<Cycle> cycle;
  std::optional<std::int64_t> stage, cluster;
  std::int64_t group = kUnassigned;
  std::int64_t produces = -1;          ///< buffer
  std::vector<std::int64_t> consumes;  ///< buffers
  std::int64_t position = 0;           ///< index in the file's list
};

/// What travels along an edge.
enum class Carrier {
  Scalar,    ///< an index, a flag: every group computes its own
  Register,  ///< a tile in registers: crosses groups through shared memory
  Memory,    ///< a tile in shared or tensor memory, or only an order: crosses by a barrier
};

struct DumpEdge {
  std::size_t from = 0, to = 0;  ///< indices into the loop's nodes
  Cycle latency = 0;
  int distance = 0;
  Carrier carrier = Carrier::Memory;
  std::int64_t bytes = 0;   ///< of a register tile
  bool order_only = false;  ///< known to carry no tile, only an order (a token)
  // joint-solver-0.2: what crossing costs by its objective.
  Cycle round_trip = 0, cross_issue = 0;
  std::int64_t frequency = 1, result = 0;
  std::string pointer;  ///< where in the file
};

struct DumpBuffer {
  std::int64_t id = 0;
  std::string kind;  ///< smem, tmem, register, barrier
  std::vector<std::int64_t> shape;
  std::int64_t element_bits = 0, count = 0, size_bytes = 0, total_bytes = 0;
  std::int64_t merge_group = -1, paired = -1;
  Cycle live_start = 0, live_end = 0;
  bool synthesized = false;  ///< a channel between groups that no op of the program allocates
};

struct DumpBarrier {
  std::size_t producer = 0, consumer = 0;  ///< indices into the loop's nodes
  std::int64_t producer_group = 0, consumer_group = 0, depth = 0, buffer = -1, expect_bytes = 0;
  int distance = 0;
  std::string kind;  ///< named or mbarrier
};

/// Storage that ops of the loop use but that is allocated outside.
struct Resident {
  TileType tile;
  std::vector<std::size_t> users;
  std::string what;
};

/// Ring buffers of files without types (joint-solver problems).
struct Ring {
  std::int64_t id = 0;
  std::size_t writer = 0;
  TileType::Space space = TileType::Space::Smem;
  std::int64_t bytes = 0, columns = 0;
  std::vector<std::size_t> readers;
  // joint-solver-0.2: when each of them is done with it, and the least number of slots.
  std::vector<std::pair<Cycle, int>> ends;  ///< parallel to `readers`: cycles after its start, iterations later
  std::int64_t least = 1;
};

/// Ops that belong to one group, in joint-solver-0.2.
struct Cluster {
  std::int64_t id = 0;
  int min_warps = 1;
  std::vector<std::size_t> nodes;
};

struct DumpGroup {
  std::int64_t id = 0;
  int warps = 1;
};

/// Barrier operations that joint-solver-0.2 foresees for an edge between two clusters, and plans if they are needed.
struct LoweringEvent {
  std::int64_t id = 0;
  bool of_source = true;  ///< issued by the group of the source cluster, else of the destination
  bool before = true;     ///< its anchor, else after
  int distance = 0;
  std::size_t anchor = 0;  ///< node
  Cycle duration = 0;      ///< of issue, in an iteration
};
struct LoweringTemplate {
  enum class Relation { Always, SameGroup, DifferentGroup };
  std::int64_t id = 0;
  Relation relation = Relation::Always;
  std::int64_t from_cluster = 0, to_cluster = 0;  ///< ids
  std::size_t from = 0, to = 0;                   ///< nodes
  std::vector<LoweringEvent> events;
};

/// Limits and prices of a joint-solver-0.2 problem.
struct JointLimits {
  bool moves = false;     ///< mode `joint`: cycles may move inside their stage
  std::int64_t smem = 0;  ///< bytes that count against the budget besides channels (and, if cycles move, rings)
  std::int64_t default_registers = 0, registers = 65536, slack = 0;
  std::optional<std::int64_t> most_registers;  ///< a hard cap
  std::vector<std::int64_t> width_registers;   ///< by warps of a group
};

struct DumpLoop {
  std::int64_t id = 0;
  bool outer = false;
  std::int64_t trips = 1;
  bool trips_estimated = true;
  std::optional<Cycle> stated_ii;                 ///< of the stored schedule
  std::optional<Cycle> min_ii, res_mii, rec_mii;  ///< as stored
  std::optional<Cycle> max_ii;
  std::optional<std::int64_t> max_stage;  ///< as stored
  std::optional<double> partition_cost;
  std::vector<DumpNode> nodes;
  std::vector<DumpEdge> edges;
  std::vector<DumpBuffer> buffers;
  std::vector<DumpBarrier> barriers;
  std::vector<DumpGroup> groups;
  std::vector<Resident> residents;
  std::vector<Ring> rings;
  std::vector<Cluster> clusters;
  std::vector<LoweringTemplate> lowering;
  JointLimits joint;
  std::vector<std::pair<std::int64_t, std::int64_t>> conflicts;  ///< clusters that must not share a group
  bool cycles_given = false;                                     ///< joint-solver-0.2, mode partition
  int canonical_root = -1;                                       ///< node that starts at 0
  std::string pointer;                                           ///< where in the file

  /// There are ops, every one has a cycle, and II is known.
  bool scheduled() const;
  /// Some op has been given to a group.
  bool grouped() const;
  const DumpNode* find(std::int64_t id) const;
};

struct Dump {
  Format format = Format::Ddg;
  std::string file;  ///< as the user named it
  std::string kernel;
  std::string algorithm;                                    ///< which scheduler made it, where the file says so
  std::int64_t smem_budget = 232448, tmem_budget = 262144;  ///< bytes
  int variants = 0;                                         ///< documents in a file of variants; 0: it is not one
  int variant = 0;                                          ///< the one that was read
  std::int64_t max_groups = 0;                              ///< joint-solver-0.2; 0: not said
  std::vector<DumpLoop> loops;
};

/// "#0: 31 ops, II 1325" per loop, for messages.
std::string list_loops(const Dump& dump);

}  // namespace heddle::dump
