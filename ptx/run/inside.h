// What ptx/run keeps of a cluster's run for itself: decoded instructions, the queues of time, pipes, and lanes that wait for each other.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>
#include <vector>

#include "ptx/run/cluster.h"

namespace heddle::ptx {

struct DecodedInstruction;

/// Results of all 32 lanes, from operands whose bits are all known. Lanes that are not wanted may hold anything.
using LaneFunction = void (*)(const DecodedInstruction&, const LaneValues* const* sources, std::uint64_t* out);

/// Bits of one lane: those in `unknown` are not known, and 0 in `bits`.
struct KnownBits {
  std::uint64_t bits = 0, unknown = 0;
};
/// What is known of the result of one lane where an operand is not; nullptr: nothing is.
using KnownBitsFunction = KnownBits (*)(const DecodedInstruction&, const KnownBits* sources);

enum class PtxComparison : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Number, NotNumber };
enum class BoolJoin : std::uint8_t { None, And, Or, Xor };

/// An instruction that is decoded once.
struct DecodedInstruction {
  enum class Kind : std::uint8_t {
    Lanes,    ///< `function` on all lanes
    Act,      ///< `action`
    Nothing,  ///< only charged
    Branch,
    Table,
    Exit,
    Refused,
  } kind = Kind::Refused;
  bool negated = false;    ///< the guard's
  bool second = false;     ///< a twin: works out the second destination
  bool converged = false;  ///< needs all lanes of the warp
  bool effect = false;     ///< somebody else may see that it was executed
  bool touches = false;    ///< accumulators or operand A of a product
  bool clock = false;      ///< reads a clock
  bool of_unit = false;    ///< an action of ptx/units, which judges registers in flight itself
  bool is_signed = false;
  PtxComparison comparison = PtxComparison::Eq;
  bool unordered = false;  ///< true where an operand is no number
  BoolJoin join = BoolJoin::None;
  bool join_negated = false;  ///< "!p": the third source of setp
  ThreadPipe pipe = ThreadPipe::None;
  std::uint8_t count = 0;                                   ///< of sources
  std::int8_t bits = 32, from_bits = 32, result_bits = 32;  ///< of the operation, of a conversion's source, of the destination
  std::int16_t mode = 0;                                    ///< what else the mnemonic says, by opcode
  int guard = -1;                                           ///< slot
  int destination = -1;                                     ///< slot; -1: nobody needs it
  std::array<int, 5> sources{-1, -1, -1, -1, -1};           ///< slots; negative: ~index of a constant
  int twin = -1;                                            ///< of a second destination: index into RunInside::twins
  Time cost = 0;
  std::uint64_t word = 0;  ///< lop3's table, a constant
  LaneFunction function = nullptr;
  KnownBitsFunction known_bits = nullptr;
  Action action = nullptr;
};

/// Instructions in a row that nothing needs: only their pipes are charged.
struct UnneededRun {
  int begin = 0, end = 0;
  struct Charge {
    ThreadPipe pipe = ThreadPipe::None;
    Time cost = 0, first = 0;
    int count = 0;
  };
  std::vector<Charge> charges;
  std::int64_t times = 0;
};

/// Lanes of one warp that wait for each other at a `.sync` instruction.
struct LaneMeeting {
  int pc = -1;
  LaneMask need = 0, have = 0, acting = 0;
  std::vector<FragmentId> fragments;
};

struct ScheduledFragment {
  Time time = 0;
  std::int64_t sequence = 0;
  FragmentId fragment = -1;
  bool operator>(const ScheduledFragment& other) const { return time != other.time ? time > other.time : sequence > other.sequence; }
};
struct ScheduledEvent {
  Time time = 0;
  std::int64_t sequence = 0;
  std::size_t what = 0;  ///< index into RunInside::events
  bool operator>(const ScheduledEvent& other) const { return time != other.time ? time > other.time : sequence > other.sequence; }
};

/// The function's instructions, decoded; where the values of registers stand.
struct DecodedText {
  explicit DecodedText(ClusterRun& run_in) : run(run_in) {}
  void decode();
  /// The slot of a simple operand: a register's, a machine's value, or of a constant. What nothing needs is the unknown constant.
  int slot_of(const PtxOperand& operand, DecodedInstruction& decoded);
  int register_slot(RegisterId reg) const { return reg.valid() && reg.index() < slots.size() ? slots[reg.index()] : -1; }
  const LaneValues& source(const Warp& warp, int slot) const {
    return slot >= 0 ? warp.values[static_cast<std::size_t>(slot)] : constants[static_cast<std::size_t>(~slot)];
  }

  ClusterRun& run;
  std::vector<DecodedInstruction> code;
  std::vector<DecodedInstruction> twins;
  std::vector<int> run_at;  ///< by pc: index into runs, or -1
  std::vector<UnneededRun> runs;
  std::vector<TouchedRegisters> touched;  ///< by pc
  std::vector<int> slots;                 ///< by RegisterId; -1: not needed
  std::vector<LaneValues> constants;
  struct MachineSlot {  ///< a special register, or the address of a variable
    Special special = Special::None;
    int variable = -1;
    std::int64_t offset = 0;
    int slot = -1;
  };
  std::vector<MachineSlot> machine_slots;
  int slot_count = 0, carry_slot = -1;
  bool has_products = false;                           ///< of warp groups: registers that are touched between them are watched
  std::unordered_map<std::uint64_t, int> touch_cache;  ///< of touched_since_fence: product's pc and run's pc -> pc that touches

 private:
  int constant(std::uint64_t value);
  std::unordered_map<std::uint64_t, int> constant_at_;
};

/// The launch as threads see it: its shape, and where variables lie.
struct LaunchShape {
  std::array<std::uint32_t, 3> first_cta{}, block{}, cluster{}, grid{};
  std::map<int, std::uint64_t> variable_at;  ///< of shared and local memory
  std::uint64_t static_shared = 0, local_bytes = 0;

  void lay_out_shared(const PtxModule& module, const PtxFunction& function);
  LaneValues special_value(const ClusterRun& run, const Warp& warp, Special special, Time time) const;
  std::uint64_t variable_address(const ClusterRun& run, int cta, int variable) const;
};

struct RunInside : DecodedText, LaunchShape {
  explicit RunInside(ClusterRun& run_in) : DecodedText(run_in) {}

  ClusterOptions options;
  std::vector<std::vector<Bytes>> local;  ///< by warp, by lane; made when first used

  // cluster.cpp
  void start_warps();
  void push(WarpFragment& fragment);
  void go(FragmentId id, Time until);
  bool step(FragmentId id, const DecodedInstruction& decoded, int pc);
  void charge(WarpFragment& fragment, const DecodedInstruction& decoded);
  void charge_run(WarpFragment& fragment, UnneededRun& unneeded);
  void check_in_flight(WarpFragment& fragment, int pc);
  void note_touched(Warp& warp, int pc);
  void run_lanes(WarpFragment& fragment, const DecodedInstruction& decoded, int pc, LaneMask lanes);
  LaneMask guarded(const WarpFragment& fragment, const DecodedInstruction& decoded, LaneMask& unknown) const;
  void forget_results(Warp& warp, const DecodedInstruction& decoded, int pc, LaneMask lanes);
  void refresh_clocks(const WarpFragment& fragment);
  void finish();
  void report_hang();
  /// Warps branched at different places on data that nobody knows, ways that need not go together: whether the run hangs, data decides.
  bool stop_for_data();
  /// By warp: for each instruction the serial number of the wgmma.fence behind which it was noted last.
  std::vector<std::vector<std::uint32_t>> noted_since;
  std::vector<std::uint32_t> fences;  ///< by warp, from 1
  LaneMask unsure_lanes = 0;          ///< of the instruction now: lanes whose guard is not known

  // control.cpp
  enum class Flow { Go, Parted, Ended };
  Flow branch(FragmentId id, const DecodedInstruction& decoded, int pc);
  Flow table(FragmentId id, const DecodedInstruction& decoded, int pc);
  Flow exit(FragmentId id, const DecodedInstruction& decoded, int pc);
  Flow part(FragmentId id, int pc, const std::vector<std::pair<int, LaneMask>>& ways);
  void end_fragment(FragmentId id);
  void exit_lanes(FragmentId id, LaneMask lanes);
  bool decide(WarpFragment& fragment, int pc, Origin origin);
  /// An instruction for all lanes of a warp, where they have parted: they wait for each other and go on as one. False: not yet, or another
  /// fragment goes on for all.
  bool join_lanes(FragmentId id, int pc);
  /// The lanes that act at a `.sync` instruction with this member mask, once all have come; 0: the fragment waits.
  LaneMask meet_lanes(WarpFragment& fragment, const PtxInstruction& instruction, LaneMask members, LaneMask lanes);
  std::vector<std::vector<LaneMeeting>> meetings;      ///< by warp
  std::unordered_map<std::int64_t, int> passed_since;  ///< by warp and pc: how often a branch on data was not taken

  std::priority_queue<ScheduledFragment, std::vector<ScheduledFragment>, std::greater<>> ready;
  std::priority_queue<ScheduledEvent, std::vector<ScheduledEvent>, std::greater<>> queue;
  std::vector<std::function<void()>> events;
  std::vector<std::size_t> free_events;
  std::vector<FragmentId> free_fragments;
  std::int64_t sequence = 0;
  struct Quarter {
    Time issue = 0;
    std::array<Time, 5> pipes{};
  };
  std::vector<Quarter> quarters;  ///< four of each CTA

  // barrier_ops.cpp
  struct NamedReduction {  ///< bar.red: predicates so far, and who wants the result
    std::int64_t ones = 0, threads = 0;
    bool unknown = false;
    Origin origin = -1;
    struct Wants {
      FragmentId fragment = -1;
      int pc = -1;
      LaneMask lanes = 0;
    };
    std::vector<Wants> wants;
  };
  std::map<std::pair<int, int>, NamedReduction> reductions;  ///< by CTA and id
  /// What releases left at an address of memory. Of very many addresses some share one: their order is taken as better than it is.
  std::unordered_map<std::uint64_t, KnownClocks> flags;
  std::uint64_t flag_at(std::uint64_t address) const {
    constexpr std::size_t kMostFlags = 1 << 12;
    return flags.size() < kMostFlags || flags.contains(address) ? address : ~(address / 4 % kMostFlags);
  }

  /// Accesses of a CTA's shared memory by warps of other CTAs: by CTA, of each component the last.
  struct RemoteAccess {
    Epoch epoch = 0;
    int pc = -1, warp = -1;
  };
  std::map<int, std::map<Component, RemoteAccess>> remote;

  // memory_ops.cpp
  /// Who stored a value that is known at an address of global memory.
  struct GlobalStore {
    std::uint64_t value = 0;
    Component by = 0;
    Epoch epoch = 0;
    int pc = -1, warp = -1, size = 0;
  };
  std::unordered_map<std::uint64_t, GlobalStore> stored;
};

/// A named barrier's or the cluster's round is complete: who waits learns what all brought, gets the reduction, goes on.
void end_round(ClusterRun& run, int cta, int id, const Barriers::Joined& joined, Time time);

/// Decodes arithmetic: fills function, known_bits, modes; false where the instruction is none, or has a form that is not known.
bool decode_integers(const PtxInstruction& instruction, DecodedInstruction& decoded);
bool decode_floats(const PtxInstruction& instruction, DecodedInstruction& decoded);
/// Actions of ptx/run that are not arithmetic; nullptr: none.
Action run_action(const PtxInstruction& instruction);
Action memory_action(const PtxInstruction& instruction);
Action warp_action(const PtxInstruction& instruction);
Action barrier_action(const PtxInstruction& instruction);
/// mov and cvt that pack or unpack vectors, cvta and the like, which need operands as they stand.
Action move_action(const PtxInstruction& instruction);

constexpr std::uint64_t low_bits(int bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }
constexpr std::int64_t sign_extend(std::uint64_t value, int bits) {
  return bits >= 64 ? static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}
template <class Visit>
void for_lanes(LaneMask lanes, const Visit& visit) {
  for (LaneMask left = lanes; left != 0; left &= left - 1) visit(__builtin_ctz(left));
}

}  // namespace heddle::ptx
