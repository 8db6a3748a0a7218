// What each warp role of a kernel does, step by step, before it is spelled in any language: the interpreter executes it
// on the CPU, the emitter writes it as CUDA. Every number is decided here: threads, registers, barriers, slots, copies.
//
// A block works through its tiles one after the other (persistent); per tile every role runs its sections in order: the
// kernel's prologue, the filling of the pipeline, the steady loop, the draining, the kernel's epilogue. Trip counts are
// literals, so that any number of trips can be written, also fewer than the pipeline has stages. Where tiles have different
// numbers of trips (causal masks), only the steady loop is longer or shorter, for all roles alike.
//
// Storage is of two kinds. A buffer lies in shared memory or in tensor memory and has `depth` slots; values that pass between ops go
// through it, in the words of CUTLASS guarded by a full barrier per slot (filled) and an empty one (free again). A variable lies in the
// registers of one role and has `copies`, because a value may still be read when the next iteration's is made (modulo variable expansion,
// M. Lam, "Software pipelining", PLDI 1988): either the loop is unrolled and each copy has its own name, or, where it is small and no wgmma
// touches it, each definition moves the older ones on by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/program/boxes.h"
#include "core/kernel/kernel.h"
#include "core/problem/problem.h"

namespace heddle::codegen {

/// An op of the kernel file.
struct OpRef {
  enum class List { Prologue, Body, Epilogue };
  List list = List::Body;
  std::size_t index = 0;
  bool operator==(const OpRef&) const = default;
};

/// A mbarrier per slot of a buffer. Arrivals at the empty barrier of a shared buffer come from every block of the cluster,
/// since every block writes to all of them. A tile of tensor memory that lives as long as the loop has a full barrier per value
/// whose phases are iterations, and one whose phases are tiles.
struct Barrier {
  bool full = true;  ///< else empty
  std::size_t buffer = 0;
  std::size_t value = 0;      ///< full: of the kernel's values, what has arrived
  int arrivals = 1;           ///< that end a phase: one for a TMA load, one per thread for copies of threads, one per warp otherwise
  std::int64_t tx_bytes = 0;  ///< that a TMA load brings in addition
  bool per_tile = false;      ///< a phase per tile, else per iteration
};

struct Buffer {
  std::string name;                 ///< as in the file
  std::vector<std::size_t> values;  ///< of the kernel that take turns in it
  std::int64_t slot_bytes = 0;      ///< stride from slot to slot; 0 in tensor memory
  int depth = 1;
  std::int64_t offset = 0;           ///< of slot 0 in the block's shared memory; in tensor memory its first column
  int columns = 0;                   ///< of a slot, in tensor memory (128 lanes of 32 bits each); 0: lies in shared memory
  bool per_tile = false;             ///< filled once per tile, not once per iteration
  bool shared = false;               ///< each block of a cluster loads a part of a slot for all of them; in a pair it keeps its part
  bool registers = false;            ///< hands registers over: thread t of the reader finds what thread t of the writer put
  std::optional<std::size_t> empty;  ///< barrier; absent where one role does everything

  bool tensor() const { return columns > 0; }
};

struct Variable {
  std::string name;       ///< of the value it is named after
  std::size_t value = 0;  ///< the same, of the kernel's values
  int registers = 0;      ///< per thread and copy
  int copies = 1;
  bool moves = false;  ///< copy k holds what was defined k definitions ago; else iteration j is in copy j mod copies
};

/// Place::iteration of what there is once per tile.
inline constexpr std::int64_t kPerTile = -1000;

/// Where a step finds or leaves a value.
struct Place {
  enum class Kind { None, Variable, Buffer };
  Kind kind = Kind::None;
  std::size_t index = 0;       ///< of the role's variables or the program's buffers
  int copy = 0;                ///< Variable: as it is before the step
  std::size_t cursor = 0;      ///< Buffer: of the role, says the slot
  std::size_t value = 0;       ///< of the kernel: what is expected there
  std::int64_t iteration = 0;  ///< of that value, as Step::iteration; -1: what the prologue made; kPerTile
};

/// Slot and phase of a role's next access to buffers of one depth.
struct RingCursor {
  int depth = 1;
  int lag = 0;  ///< windows behind the newest iteration
  bool per_tile = false;
};

enum class StepKind {
  Wait,         ///< until the barrier's phase is over: full for readers, empty (one phase ahead) for writers
  Issue,        ///< starts an asynchronous op: load (by TMA, or by copies of the role's threads), mma (wgmma or tcgen05.mma), TMA store
  Commit,       ///< closes the group of what was issued since the last one (wgmma, TMA store)
  Retire,       ///< until at most `keep` of the role's groups are in flight
  Compute,      ///< an op of the role's own threads
  Put,          ///< registers into a hand-over buffer
  Sync,         ///< all warps of the role meet; what they wrote to shared memory is visible to TMA and mmas
  Arrive,       ///< on a barrier
  Signal,       ///< arrives on a barrier, once, when all tcgen05.mma that the role has issued are complete (tcgen05.commit)
  AwaitReads,   ///< until what the role's threads load from tensor memory is in their registers (tcgen05.wait::ld)
  AwaitWrites,  ///< until what the role's threads store is in tensor memory (tcgen05.wait::st)
  FenceBefore,  ///< the role's accesses to tensor memory so far come before its next Sync or Arrive (fence::before_thread_sync)
  FenceAfter,   ///< the role's next accesses come after its last Wait or Sync (tcgen05.fence::after_thread_sync)
  TakeTurn,     ///< until the role may issue wgmmas: the roles before it have issued theirs
  PassTurn,     ///< to role `barrier`
  Advance       ///< the cursor goes to the next slot
};

/// Columns of a tile: the `number`th of `count` equal pieces. Steps on pieces of registers hold one piece at a time.
struct Piece {
  int number = 0, count = 1;
  bool operator==(const Piece&) const = default;
};

enum class Engine { None, Load, Mma, Store };  ///< who completes an Issue; also whose groups Commit and Retire are about

struct Step {
  StepKind kind = StepKind::Compute;
  OpRef op;  ///< whose step it is
  Engine engine = Engine::None;
  std::int64_t iteration = 0;  ///< in a loop, of its first pass
  std::vector<Place> inputs;
  Place output;
  Piece piece;                        ///< of a result on its way through shared or tensor memory: what the step reads or writes of it
  std::size_t barrier = 0;            ///< Wait, Arrive, Signal, Issue of a load
  std::size_t cursor = 0;             ///< Wait, Arrive, Signal, Advance, Issue of a load
  bool ahead = false;                 ///< Wait: for the phase before the cursor's, as who fills a slot does: free at first
  bool copies = false;                ///< Issue of a load: every thread copies a part (cp.async) and arrives when its part is there
  bool fence = false;                 ///< Wait: what threads have copied is behind it for mmas and TMA too (fence.proxy.async)
  int count = 1;                      ///< Arrive, Issue of copies: arrivals of the whole role
  int keep = 0;                       ///< Retire
  bool packed = false;                ///< Issue: the tile is one of a packed tensor, whose blocks are rows of their own
  int round_to = 1;                   ///< Issue of a load: its first coordinate is rounded down to a multiple of this (boxes.h)
  int stage = 0;                      ///< of the schedule
  Cycle slot = -1;                    ///< of the schedule; -1: not in it
  int skip_first = 0, skip_last = 0;  ///< in a loop: not in so many of its first and last passes
  bool only_last = false;             ///< in a loop: in its last pass only
};

struct Section {
  enum class Part { Begin, Fill, Steady, Drain, End };
  Part part = Part::Begin;
  bool loop = false;
  std::int64_t times = 1;  ///< passes
  int unroll = 1;          ///< iterations per pass
  std::int64_t first = 0;  ///< window of the first pass: iteration = window - stage
  std::vector<Step> steps;
  bool after = false;  ///< comes after the loop: iterations are those of a tile with all trips, else counted from the end
};

struct Role {
  std::string name;
  GroupId group;
  int first_thread = 0;         ///< roles of one warp may share a warpgroup, the first of them begins it
  int warps = 1;                ///< that work; the rest of the last warpgroup is idle
  int warpgroups = 1;           ///< 0: shares that of the role before
  int registers = 0;            ///< setmaxnreg: multiple of 8 in [24, 256]; 0: as launched
  int peak_registers = 0;       ///< live values at the worst step, fixed overhead included
  int scheduled_registers = 0;  ///< that the schedule counts with; 0: none are decided
  int stages = 1;               ///< of the loop after its cut
  int cuts = 1;                 ///< that differ in copies, stages or registers; BuildOptions::cuts chooses
  std::vector<Variable> variables;
  std::vector<RingCursor> cursors;
  std::vector<Section> sections;  ///< of one tile
  /// Of shared memory, for its ops that bring a tile to other warps in another layout (OpPlan::scratch_bytes), one after the other: where
  /// it begins, and as much as the largest of them needs.
  std::int64_t scratch_offset = 0, scratch_bytes = 0;
};

/// Where the schedule has the wgmmas of roles with other work in between one after the other on the tensor core, a named
/// barrier per role keeps them in that order (the ping-pong of FlashAttention-3, J. Shah et al., 2024, arXiv 2407.08608).
/// No data depends on it.
struct OrderBarriers {
  std::vector<std::size_t> roles;   ///< that take turns
  std::size_t first = 0, last = 0;  ///< in a tile; where they differ, `last` passes the turn once before its first tile
};

/// What a block allocates of tensor memory, and which role's first warp gives it back after every role's last access.
struct TensorMemory {
  int columns = 0;  ///< a power of two, 32 to 512
  std::optional<std::size_t> freed_by;
};

struct Program {
  std::string kernel;
  std::string arch;  ///< that it is written for: "sm_90a", "sm_100a"
  Scope params;
  int stages = 1;          ///< of the schedule
  std::int64_t trips = 1;  ///< of the longest tile; with sizes at run time: of the tile that sections are written down for
  bool varies =
      false;  ///< tiles (with clusters: those of one) have trips of their own: least_trips, trips, and what lies trip_step apart between
  std::int64_t least_trips = 1;  ///< with one pass of every role's loop
  std::int64_t trip_step = 1;
  /// Of the kernel's parameters, those that are no literals but an argument of the text (run_time_sizes.h): `params` has what they are now.
  /// Trips vary, of any number that is a multiple of trip_step, least_trips or more.
  std::vector<std::string> sizes = {};
  int cluster = 1;  ///< blocks that work on neighbouring tiles, in step, and share buffers' loads
  /// The first block of a cluster issues one mma for both (tcgen05 with cta_group::2): each has its own rows of A and of the result and
  /// half of B's columns. Barriers that a role with mmas waits at are the first block's, with arrivals of both; what it signals arrives
  /// in both.
  bool pair = false;
  std::size_t cluster_dim = 0;  ///< of the grid: along it the tiles of a cluster's blocks are neighbours
  int threads = 0;              ///< of the block
  int entry_registers = 0;      ///< per thread at launch
  int register_overhead = 0;    ///< per thread, for addresses and loop control, on top of live values
  std::int64_t smem_bytes = 0;
  std::int64_t barrier_offset = 0;     ///< in shared memory; barrier b's slots begin at barrier_address()
  std::optional<TensorMemory> tensor;  ///< absent: none is used
  std::vector<Buffer> buffers;
  std::vector<Barrier> barriers;
  std::vector<Role> roles;
  std::optional<OrderBarriers> turns;

  bool blackwell() const { return arch.starts_with("sm_10"); }
};

const TileOp& op_of(const Kernel& kernel, OpRef ref);
/// Of a value in its slot of tensor memory, counted from the slot's first column; that of the storage it shares, added up.
struct TensorColumns {
  int first = 0, count = 0;
};
TensorColumns columns_of(const Kernel& kernel, const Scope& params, std::size_t value);
/// To a multiple of how many numbers the first coordinate of a value's load is rounded down, so that its readers find it behind others: the
/// step's round_to; 1 of what is not loaded.
int rounded_load(const Program& program, std::size_t value);
/// Trips of a tile for which `wanted` are enough. With sizes at run time there may be more of them than the program's own.
std::int64_t rounded_trips(const Program& program, std::int64_t wanted);
/// Of slot 0; the others follow at 8 bytes each.
std::int64_t barrier_address(const Program& program, std::size_t barrier);
/// The role has steps that start mmas.
bool issues_products(const Role& role);
/// Live registers of a role at its worst step, without any fixed overhead.
int live_registers(const Program& program, const Role& role);
const char* to_string(StepKind kind);
const char* to_string(Section::Part part);

/// Calls visit(section, step, iteration) for every step of one tile of a role, in order. `fewer` trips than the longest
/// tile's are a multiple of the program's trip_step; negative with sizes at run time.
template <class Visit>
void for_each_step(const Role& role, Visit visit, std::int64_t fewer = 0) {
  for (const Section& section : role.sections) {
    const std::int64_t times = section.loop ? section.times - fewer / section.unroll : section.times;
    for (std::int64_t pass = 0; pass < times; ++pass)
      for (const Step& step : section.steps)
        if (pass >= step.skip_first && pass < times - step.skip_last && (!step.only_last || pass + 1 == times))
          visit(section, step, section.after ? -fewer : pass * section.unroll);
  }
}

}  // namespace heddle::codegen
