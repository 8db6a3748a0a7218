// One cluster that runs a kernel: its warps, whose lanes part and meet, memory, barriers, units, and time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "ptx/judge/barriers.h"
#include "ptx/judge/clock.h"
#include "ptx/judge/finding.h"
#include "ptx/judge/shadow.h"
#include "ptx/launch/launch.h"
#include "ptx/run/costs.h"
#include "ptx/run/lanes.h"
#include "ptx/run/memory.h"
#include "ptx/run/trace.h"
#include "ptx/text/module.h"

namespace heddle::ptx {

class ClusterRun;
struct RunInside;  // ptx/run keeps its own there

/// Lanes of a warp that are at one place. A warp begins as one; a branch on which lanes part makes two, whose parent goes on where they
/// meet.
struct WarpFragment {
  FragmentId id = -1;
  int warp = 0;
  LaneMask mask = kAllLanes;
  int pc = 0;
  int stop = 0;  ///< where it meets its sisters; code.size(): nowhere
  FragmentId parent = -1;
  int children = 0;
  Time time = 0;
  enum class State : std::uint8_t { Ready, Waiting, Parted, Done } state = State::Ready;
  /// What it waits for, for the report of a hang.
  struct Awaits {
    enum class What : std::uint8_t {
      Nothing,
      Mbarrier,
      Named,
      Cluster,
      Registers,
      Product,
      Children,
      Lanes,
      TensorColumns
    } what = What::Nothing;
    std::uint64_t address = 0;  ///< or the named barrier's id
    bool parity = false;
    std::int64_t amount = 0;  ///< threads, registers, columns
    int pc = -1;
    Time since = 0;
  } awaits;
  /// The try_wait that failed here last: the second failure at one place, of one phase, sleeps until the barrier turns.
  struct Tried {
    int pc = -1;
    std::uint64_t address = 0;
    bool parity = false;
    int times = 0;
  } tried;
};

/// In Warp::in_flight: the register is the result of a tcgen05.ld (not of a product).
constexpr std::uint32_t kLoadInFlight = 0x80000000u;

/// State that belongs to one kind of unit (ptx/units): each derives its own.
struct UnitState {
  virtual ~UnitState() = default;
};

struct Warp {
  int index = 0;               ///< in the cluster
  int cta = 0;                 ///< rank in the cluster
  int in_cta = 0;              ///< its number in the CTA
  LaneMask lanes = kAllLanes;  ///< threads that exist
  LaneMask live = kAllLanes;   ///< of those, the ones that have not exited
  Component component = 0;
  Epoch epoch = 1;  ///< its own step, which a release ends
  KnownClocks known;
  std::int64_t registers = 0;      ///< per thread (setmaxnreg)
  bool registers_said = false;     ///< by a setmaxnreg; before it the number is a guess at what ptxas takes
  std::vector<LaneValues> values;  ///< by slot of a needed register
  std::unique_ptr<UnitState> products, stores, copies, tensor;
  /// Registers of work in flight (products, tcgen05.ld): touching one before its wait is a finding of ptx/run. By RegisterId: the sequence
  /// number, 0: none. What a unit's action touches, its unit judges.
  std::vector<std::uint32_t> in_flight;
  int in_flight_count = 0;
  std::uint32_t said_load = 0;  ///< of in_flight: the load of which it was said last that nothing waited for it
  std::int64_t instructions = 0;

  Epoch cluster_phase = 0;  ///< of the cluster's barrier, in which it arrived last
  bool in_cluster_phase = false;
  bool fenced_memory = false;      ///< a fence or membar came: its relaxed stores and atomics release
  KnownClocks fenced;              ///< what its last fence gives away with relaxed arrivals behind it
  std::vector<int> touched_since;  ///< instructions (or first ones of runs) that touched registers since the last wgmma.fence

  /// What a release gives away; the warp's next step begins. `known.seen` holds the warp's own step, too (from the beginning: raise it to 1
  /// when the warp is made), so that a warp knows what it did itself.
  KnownClocks release() {
    known.seen.raise(component, epoch);
    KnownClocks given = known;
    known.seen.raise(component, ++epoch);
    return given;
  }
  /// fence.proxy.async: what the warp knows becomes visible to the async proxy; its next step begins.
  void fence_proxy() {
    known.seen.raise(component, epoch);
    known.async.join(known.seen);
    known.seen.raise(component, ++epoch);
  }
};

/// How an instruction ended.
enum class ActionEnd : std::uint8_t {
  Go,     ///< on to the next one
  Again,  ///< the fragment waits; woken, it does this instruction again
  Wait,   ///< the fragment waits; woken, it goes on behind this instruction
};

/// What carries out an instruction. `lanes` of the fragment do (its mask, less those whose guard is false).
using Action = ActionEnd (*)(ClusterRun&, WarpFragment&, const PtxInstruction&, LaneMask lanes);

/// Actions of ptx/units by opcode and words; nullptr: none of theirs.
Action unit_action(const PtxInstruction& instruction);
/// Called once, when the last lane of a warp has exited: what its copies and stores leave behind.
void unit_exit(ClusterRun& run, Warp& warp);
/// The warp uses what a tcgen05.ld brings without having waited for it, which is found elsewhere: the load is over, as ptxas sees to it.
void unit_load_used(ClusterRun& run, Warp& warp, Epoch load);
/// Called once at the end of a run that neither hangs nor was stopped: tensor memory that was never freed.
void unit_end(ClusterRun& run);

struct ClusterOptions {
  std::int64_t limit = 20'000'000;  ///< warp instructions
  bool trace = true;
  std::array<std::uint32_t, 3> first_cta{0, 0, 0};  ///< the cluster's first CTA in the grid
  /// Which way a branch on unknown data goes: nullopt: not said. Called with the pc.
  std::function<std::optional<bool>(int)> branch;
  bool tries = false;  ///< what `branch` says is tried and not known: a hang behind it may hang on data, as behind a guess
  std::stop_token stop;
};

/// A branch on data that nobody knows.
struct DataBranch {
  int pc = -1;
  Origin origin = -1;
  std::int64_t times = 0, taken = 0;
  bool guessed = false;  ///< nobody said which way
  std::set<int> warps;   ///< who came there
};

class ClusterRun {
 public:
  /// All references outlive the machine.
  ClusterRun(const PtxModule& module, const PtxFunction& function, const Launch& launch, const Costs& costs, ClusterOptions options);
  ~ClusterRun();

  /// Runs to the end, to a hang (a finding), to the limit, or to what it cannot know (stopped()).
  void run();

  const PtxModule& module;
  const PtxFunction& function;
  const Launch& launch;
  const Costs& costs;
  Components components;
  Findings findings;
  Barriers barriers;
  std::vector<Shadow> shadows;  ///< by CTA
  std::vector<Bytes> shared;    ///< by CTA
  GlobalMemory global;
  Trace trace;                       ///< the first kMostEvents
  std::int64_t events_left_out = 0;  ///< those behind them
  std::vector<Warp> warps;
  std::vector<DataBranch> data_branches;
  std::vector<std::uint32_t> executed;                                ///< by pc: how often, by warps
  std::unique_ptr<UnitState> copy_unit, product_unit, tensor_memory;  ///< of the cluster; each unit makes its own when first asked
  std::int64_t canceled = 0;                                          ///< answers of clusterlaunchcontrol.try_cancel so far

  // what actions use
  LaneValues value(const WarpFragment& fragment, const PtxOperand& operand) const;  ///< Address: base + offset
  void assign(WarpFragment& fragment, const PtxOperand& operand, const LaneValues& value, LaneMask lanes);
  /// A value that all `lanes` must have and know (a count, a parity, a descriptor); else the machine stops, saying `what` is unknown and
  /// the load it came from, or that lanes differ.
  std::optional<std::uint64_t> one_value(const WarpFragment& fragment, const PtxOperand& operand, LaneMask lanes, const PtxInstruction& at,
                                         const char* what);
  /// In which space an access lies: by the mnemonic's word, else by the address.
  AddressSpace space(const PtxInstruction& instruction, std::uint64_t address) const;
  const TensorMap* map_at(std::uint64_t generic_address, int* index = nullptr) const;
  Warp& warp_of(const WarpFragment& fragment) { return warps[static_cast<std::size_t>(fragment.warp)]; }
  int pc_of(const PtxInstruction& instruction) const { return static_cast<int>(&instruction - function.code.data()); }
  Barriers::By by(const WarpFragment& fragment, const PtxInstruction& instruction) const;
  int cluster_size() const { return cluster_size_; }
  int warps_per_cta() const { return warps_per_cta_; }
  int threads_per_cta() const { return threads_per_cta_; }
  /// Bytes of shared memory of one CTA: reserved, static and dynamic.
  std::uint32_t shared_bytes() const { return shared_bytes_; }
  /// "5120 bytes of shared memory (4096 of the kernel's behind 1024 that are reserved)"
  std::string shared_text() const;

  Time now() const { return now_; }
  void at(Time time, std::function<void()> what);  ///< an event of a unit
  void wake(FragmentId fragment, Time time);
  void wake(const std::vector<FragmentId>& fragments, Time time) {
    for (const FragmentId fragment : fragments) wake(fragment, time);
  }
  /// An instruction since this warp's last wgmma.fence that touched one of `registers` (moves do not count); -1: none. `product` is who
  /// asks.
  int touched_since_fence(const WarpFragment& fragment, const PtxInstruction& product, const std::vector<RegisterId>& registers);
  /// wgmma.fence by this warp.
  void fence_registers(const WarpFragment& fragment);
  /// A release: what a lane's warp gives to who synchronizes with it. Where the mnemonic says `.relaxed`, what was known at its last fence.
  KnownClocks brought(const WarpFragment& fragment, const PtxInstruction& instruction);
  void find(CheckRule rule, const WarpFragment& fragment, const PtxInstruction& instruction, std::string sentence, std::int64_t other = -1);
  /// What cannot be known or is not known: ends the run, with the sentence and the line.
  void stop(const PtxInstruction& instruction, std::string sentence);
  bool stopped() const { return !stop_reason_.empty(); }
  const std::string& stop_reason() const { return stop_reason_; }
  int stop_pc() const { return stop_pc_; }
  bool hit_limit() const { return hit_limit_; }
  std::int64_t instructions() const { return instructions_; }

  WarpFragment& fragment(FragmentId id) { return fragments_[static_cast<std::size_t>(id)]; }
  const std::vector<WarpFragment>& fragments() const { return fragments_; }
  /// A fragment's trace event, begun now at the fragment's time; nullptr where no trace is kept, or no more of it. Good until the next one.
  RunEvent* event(EventKind kind, const WarpFragment& fragment, const PtxInstruction& instruction);
  RunInside& inside() { return *inside_; }
  /// "w3", in a cluster "c1.w3".
  std::string warp_name(int warp) const;
  /// "line 415 (mbarrier)".
  std::string place(int pc) const;

 private:
  friend struct RunInside;
  std::unique_ptr<RunInside> inside_;
  std::vector<WarpFragment> fragments_;
  int cluster_size_ = 1, warps_per_cta_ = 0, threads_per_cta_ = 0;
  std::uint32_t shared_bytes_ = 0;
  Time now_ = 0;
  std::string stop_reason_;
  int stop_pc_ = -1;
  bool hit_limit_ = false;
  std::int64_t instructions_ = 0;
};

}  // namespace heddle::ptx
