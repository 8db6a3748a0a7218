// Micro-kernels for Hopper and Blackwell: one warpgroup doing one kind of tile instruction at one shape, with the SM's clock around it.
// Three numbers come of each, those that a machine's rule has: how long the issuing warps are busy, how long until the result is there, and
// how long one takes among many without waiting.
//
// ptxas moves arithmetic over clock readings, out of loops and, unused, out of the kernel. So what works on registers is measured
// as a loop in which every result is the next pass's operand: a whole tile's loop runs at the unit's rate, one element's at the
// pipeline's latency. A loop has costs of its own (16 cycles of each pass on H100), so two loops that differ by the tile are timed.
// Everything else (wgmma, tcgen05, TMA, shared and global memory, barriers) is timed one by one, then many in a row. ptxas takes loads
// whose results only the last pass leaves behind out of a loop: each pass adds up what it loaded. One warpgroup would wait there, so
// four do the same, and the shared memory port is never idle.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit/emit.h"
#include "core/machine/machine.h"

namespace heddle::codegen {

struct MicroKernel {
  std::string rule;  ///< of the machine, or "handoff.signal", "handoff.register_copy"
  Scope dims;        ///< what the rule's formulas see
  std::string source;
  LaunchPlan launch;            ///< maps and pointers are of one scratch tensor
  DType scratch = DType::Bf16;  ///< its type
  /// Chain: loops with two tiles and one tile in a pass, and one of kMicroChain elements that need each other. Beside: a loop with the
  /// instruction and one without. Single: one by one, then many in a row.
  enum class Method { Single, Chain, Beside } method = Method::Single;
  std::int64_t elements = 0;   ///< Chain: per thread
  int groups = 1;              ///< Single: warpgroups that do the many together, as many each
  bool tells_interval = true;  ///< Single: false where the many are bound by what lies behind the SM
  // Of the instruction catalogue; the rule is then the instruction's name.
  std::string instruction;
  int ways = 0;                          ///< lanes of a phase that meet in one bank, as the catalogue's row has phases
  int bytes = 0;                         ///< per address
  std::vector<std::int64_t> lane_bytes;  ///< per bit of the number of the lanes that give addresses: what it moves the address by
  int issued = 0;                        ///< instructions of warps, each time
};

struct MicroResult {
  double window = 0, latency = 0, interval = 0;  ///< cycles; 0: this method does not tell
};

inline constexpr int kMicroRepeats = 33;  ///< of the timed instruction
inline constexpr int kMicroBurst = 16;    ///< in a row
inline constexpr int kMicroPasses = 128;  ///< of a loop
inline constexpr int kMicroChain = 32;    ///< elements in a pass, one after the other
inline constexpr std::int64_t kMicroWords = 1 + 2 * kMicroRepeats;
inline constexpr std::int64_t kScratchSide = 1024;  ///< rows and columns of the scratch tensor
inline constexpr const char* kMicroEntry = "heddle_calibrate";

/// All that the machine has rules for and we have an instruction for; first one without any instruction, whose times are taken off
/// the others'. `left_out` gets the rules for which there is none.
std::vector<MicroKernel> micro_kernels(const Machine& machine, std::vector<std::string>& left_out);

/// For every row of the catalogue that moves registers to shared memory or back: one for each of kBankWays that its phases allow, which
/// issue the instruction so that lanes meet so often. `left_out` gets the other rows that go to memory by lanes.
std::vector<MicroKernel> bank_kernels(const Machine& machine, std::vector<std::string>& left_out);

inline constexpr int kBankWays[] = {1, 2, 4, 8};

/// Cycles that one instruction of a warp would take of the port if so many lanes went there together, one cycle for each way of a phase.
std::int64_t bank_cycles(const MicroKernel& kernel, int lanes_per_phase);

/// Medians of what the kernel wrote, less the times of one without any instruction; nothing where it wrote nothing.
std::optional<MicroResult> read_micro(const MicroKernel& kernel, std::span<const std::uint8_t> bytes, const MicroResult& nothing);

}  // namespace heddle::codegen
