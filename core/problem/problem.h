// The resolved scheduling problem: a kernel's loop body on a machine, every cost a plain integer.
//
// Decide for every op a start s = stage * II + slot and a warp group, and for every channel a depth, such that the families
// below hold. This page is the definition; the encoders (solver/) and the checker (core/check) each implement it on their own.
//
//   dependence   s(to) + distance*II >= s(from) + latency, plus handoff when the two ops are in different groups
//   unit         at every slot modulo II the amounts in use on a unit stay within its capacity; the sum of the greater of
//                duration and in_sum, times amount, over an iteration stays within capacity * II
//   issue        inside one group no two issue windows [s, s+window) overlap modulo II: a group is one in-order stream
//   blocking     an op that waits (an incoming edge is marked `waits`, or comes from another group) never starts strictly
//                inside another op's issue window on its group; implied by `issue` unless its own window is 0
//   variable     with variable-latency ops present, group 0 is the producer: it holds exactly the variable-latency ops
//   warps        a group has as many warps as its widest op (a multiple of 4 if any of its ops is aligned); their sum fits
//                the CTA
//   registers    see RegisterUse below
//   memory       sum over channels of depth * size, plus residents, fits shared memory; the same for tensor memory columns,
//                where the total is rounded up to a power of two (at least 32) because that is how it is allocated
//   depth        a channel holds as many slots as copies are alive at once, between its writer's start and the end of the
//                last read
//   credit       a slot is refilled only after its last reader released it:
//                s(writer) + depth*II >= s(reader) + distance*II + release, plus `signal` when reader and writer are in
//                different groups
//   layout       where it is known how values lie and in which instructions they move (Problem::layouts): an access to shared memory
//                takes as many cycles of the port as its lanes want different words of one bank, phase by phase, and ops that are
//                priced so reserve them; memory has one place for each element; operands of wgmma and boxes of TMA lie in panels
//   user         core/schedule/constraints.h
//
// RegisterUse. A register value lives in the group of its producer from the producer's start until, for its last reader in
// the same group, s(reader) + distance*II + hold (Edge::hold: 0 for synchronous and in-place readers, whose output may take
// over the registers; the latency for an asynchronous reader, which reads until it retires). Half-open: dead at that very
// cycle. Every value lives at least one cycle, read or not. The use of group g at the start of one of
// its ops y = sum over register values x produced in g of registers(x) * (copies of x alive at s(y), y's own output
// included) + registers of y's register inputs that come from other groups + resident_registers + register_overhead.
// It must not exceed the group's budget: a multiple of the granule, at most registers_per_thread; the sum over groups of
// budget * threads fits the register file. A group in which no op touches registers needs only producer_registers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/kernel/kernel.h"
#include "core/layout/choices.h"
#include "core/machine/contention.h"
#include "core/machine/latency_spread.h"
#include "core/machine/machine.h"

namespace heddle {

struct LayoutPlan;  // core/layout/plan.h

struct UnitUse {
  UnitId unit;
  Cycle offset = 0;    ///< after the op's start
  Cycle duration = 0;  ///< cycles reserved; 0 reserves nothing
  std::int64_t amount = 1;
  Cycle in_sum = 0;  ///< cycles that the unit needs for it in sum, wherever they fall; counts where it is more than `duration`

  Cycle work() const { return duration > in_sum ? duration : in_sum; }
};

/// What an op is to the warp of one quarter of an SM, in 1/256 (core/motion/motion.h); all 0 for what is no arithmetic. Where several warps
/// of its group share a quarter it is that of all of them.
struct WarpWork {
  std::int64_t alone = 0;     ///< 1/256 cycles with nothing beside it
  std::int64_t exposed = 0;   ///< of these so many hide under nothing, not even under special functions of its own warp
  std::int64_t reads = 0;     ///< register operands that are read
  std::int64_t specials = 0;  ///< special functions
  std::int64_t issue = 0;     ///< instructions
  bool operator==(const WarpWork&) const = default;
};

struct Op {
  std::string name;
  std::string kind;
  std::vector<UnitUse> uses;
  Cycle latency = 0;  ///< issue until the result is usable
  /// Where that is not always the same. Schedules are made for `latency` alone; simulation and bracket (core/analysis/bracket.h) look at
  /// it.
  LatencySpread spread;
  Cycle window = 0;  ///< cycles the issuing warps are busy
  int warps = 1;
  bool aligned = false;
  bool asynchronous = false;
  bool variable_latency = false;
  std::string rule;             ///< of the machine, for what the graph does not give itself; may be empty
  WarpWork work;                ///< of arithmetic
  int instructions = 0;         ///< mma instructions that it is made of, one after the other on the tensor core; 0: it is no mma
  bool from_registers = false;  ///< of an mma: its first operand is read from registers
};

/// A tile value defined in the loop body.
struct Value {
  std::string name;
  Space space = Space::Register;
  OpId producer;
  std::int64_t bytes = 0;  ///< size of the tile
  int registers = 0;       ///< per thread, for register values
};

struct Edge {
  OpId from, to;
  ValueId value;  ///< invalid for pure order edges
  /// Issue of `from` until `to` may issue. Usually the producer's latency; between asynchronous products onto the same
  /// accumulator only the time their unit is busy, because the unit runs them in order (the rest is in `handoff`).
  Cycle latency = 0;
  int distance = 0;
  Cycle handoff = 0;   ///< added when from and to are in different groups
  bool waits = false;  ///< `to` waits on a barrier for an asynchronous `from` even inside one group
  Cycle hold = 0;      ///< how long after its start `to` still needs a register value
};

/// Who must be done before a slot of a channel is refilled.
struct Reader {
  OpId op;
  int distance = 0;   ///< reads what the writer wrote this many iterations ago
  Cycle release = 0;  ///< cycles after the reader's start
  Cycle signal = 0;   ///< added when reader and writer are in different groups; 0 when hardware tells the writer
};

/// A ring buffer in shared or tensor memory. Values that alias each other are one channel: its writer is the first op that
/// fills a slot, its readers are those of all of them.
struct Channel {
  std::string name;           ///< the name of its first value
  Space space = Space::Smem;  ///< Smem or Tmem
  std::int64_t size = 0;      ///< bytes or columns per slot
  std::vector<ValueId> values;
  OpId writer;
  std::vector<Reader> readers;
  /// A register value: the channel exists (depth >= 1) only if some reader is in another group, and only such readers
  /// count. Otherwise its depth is 0.
  bool only_if_crossing = false;
  int max_depth = 8;
};

struct Problem {
  std::string kernel, machine;       ///< names, for certificates
  std::string arch;                  ///< the machine's, for who writes kernels: "sm_90a"; empty for toys
  std::string clock_note;            ///< e.g. "1 cycle = 0.55 ns at 1830 MHz"; may be empty
  Scope params;                      ///< resolved parameter values
  std::vector<std::string> changes;  ///< in force, in words (core/problem/changes.h)
  std::vector<Unit> units;
  Limits limits;
  std::vector<Op> ops;
  std::vector<Value> values;
  std::vector<Edge> edges;
  std::vector<Channel> channels;
  std::int64_t resident_smem = 0;  ///< bytes of loop-invariant tiles, and of those that pass through shared memory to other warps
  std::int64_t resident_columns = 0;
  int resident_registers = 0;  ///< per thread of every group that touches registers
  int max_groups = 3;          ///< producer included
  Contention contention;       ///< the machine's
  Cycle barrier_wait = 0;      ///< a wait on an mbarrier that is ready holds its group so long (StreamCosts::wait)
  /// How values lie and in which instructions they move: what the costs of moving them follow from. Null: nothing is known of it.
  std::shared_ptr<const LayoutPlan> layouts;

  const Op& op(OpId id) const { return ops[id.index()]; }
  const Value& value(ValueId id) const { return values[id.index()]; }
  const Edge& edge(EdgeId id) const { return edges[id.index()]; }
  const Unit& unit(UnitId id) const { return units[id.index()]; }
  const Channel& channel(ChannelId id) const { return channels[id.index()]; }

  OpId find_op(std::string_view name) const;  ///< invalid when absent
  bool has_producer_group() const;            ///< some op has variable latency
};

/// Layouts and instructions that it was resolved with, where they are not the defaults.
const LayoutChoices& choices_of(const Problem& problem);

/// The machine's name as people read it, marked where numbers of the problem were changed: "h100 · 1 change".
std::string machine_title(const Problem& problem);

/// Stable hexadecimal digest of everything that decides which schedules are legal.
std::string problem_hash(const Problem& problem);

// Comparing two problems of one shape by their numbers: what is proved about one then holds for the other.

/// Every number that only ever forbids is at least as large in `a`, every number that only ever permits at most as large, and
/// all else is the same. Then every schedule of `a` is one of `b` (warps, ring depths and register budgets fitted), so the
/// least II of `b` is at most that of `a`. False means that this comparison cannot tell.
bool at_least_as_strict(const Problem& a, const Problem& b);

// A problem spelled out: what names and keeps answers. problem_hash() (problem.h) digests the legal part of the same text.

/// Everything that an answer about the problem may depend on or mention: what decides which schedules are legal, then names,
/// parameters and changes. Two problems have one text only if they are the same.
std::string problem_text(const Problem& problem);

}  // namespace heddle
