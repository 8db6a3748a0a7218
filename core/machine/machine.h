// A machine as data: functional units, capacities, and per kind of tile instruction a formula for what it costs.
//
// A rule is looked up by the most specific name first ("mma.rs", then "mma"). Three numbers are kept apart (mixing them
// inflates II): occupancy = cycles a unit is reserved, latency = issue until a dependent may issue, window = cycles the
// issuing warps are busy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/kernel/kernel.h"
#include "core/machine/catalogue.h"
#include "core/machine/contention.h"

namespace heddle {

/// What kind of hardware a unit is; decides colour and grouping in every picture.
enum class UnitRole { Tensor, Copy, Special, Float, Alu, Smem, Tmem, Sync, Other };
const char* to_string(UnitRole role);
/// Units that a warp's own arithmetic instructions occupy.
constexpr bool is_arithmetic(UnitRole role) { return role == UnitRole::Float || role == UnitRole::Alu || role == UnitRole::Special; }

struct Unit {
  std::string name;  ///< "TC", "MUFU", "SMEM" ...
  UnitRole role = UnitRole::Other;
  std::int64_t capacity = 1;  ///< amount available in every cycle
  std::string about, source;
};

/// One of several latencies of a rule (core/machine/latency_spread.h).
struct RuleLatency {
  Expr cycles{1};
  std::int64_t share = 0;  ///< parts per million
};

/// What an op of a rule is to the warp of one quarter of an SM, all in thousandths (core/problem/problem.h: WarpWork). What a rule does not
/// say follows from its window and its uses of units (core/problem/warp_work.h).
struct WarpRule {
  std::optional<Expr> alone, exposed, reads, specials, issue;
  std::string source;
  bool empty() const { return !alone && !exposed && !reads && !specials && !issue; }
};

struct CostRule {
  std::string kind;  ///< "mma" or, more specific, "mma.rs"
  std::vector<UnitCost> uses;
  Expr latency{1}, window{1}, warps{1};
  std::vector<RuleLatency> latencies;  ///< where it is not always the same: all there are, rising; `latency` then says nothing
  bool aligned = false;                ///< the group must be made of whole aligned 4-warp groups (wgmma, TMEM load/store)
  bool asynchronous = false;           ///< the issuing warps go on; consumers wait on a barrier
  bool variable_latency = false;       ///< latency depends on the memory system (TMA loads): lives in a producer group
  WarpRule warp;                       ///< of arithmetic
  std::optional<Expr> instructions;    ///< of an mma: so many run on the tensor core one after the other
  std::string source;                  ///< where the numbers come from
};

struct Limits {
  std::int64_t smem_bytes = 0;    ///< usable by one CTA
  std::int64_t tmem_columns = 0;  ///< 0: the machine has none
  std::int64_t registers_per_sm = 65536;
  std::int64_t registers_per_thread = 255;
  std::int64_t register_granule = 8;
  std::int64_t register_overhead = 0;    ///< registers per thread for addresses and loop control, on top of live values
  std::int64_t producer_registers = 24;  ///< budget of a group that holds no register values
  std::int64_t warps_per_cta = 32;
  std::int64_t threads_per_warp = 32;
  std::int64_t named_barriers = 16;
};

/// Cost of crossing warp groups. `bytes` is the size of the value.
struct HandOff {
  Expr register_copy{0};  ///< register -> shared memory -> register, added to the producer's latency
  Expr signal{0};         ///< barrier arrive until the other group wakes; for values already in shared or tensor memory
  std::string source;
};

/// The clock under load: what the power limit leaves of its maximum.
struct ClockModel {
  std::int64_t max_mhz = 0;     ///< 0: the file says nothing of it, and clock_mhz stands for every load
  std::int64_t power_w = 0;     ///< the default power limit
  std::int64_t loaded_mhz = 0;  ///< what sustained_mhz is scaled by: the clock at that limit, tensor cores 95 % busy, random data
  /// Power of a busy unit of arithmetic or special functions, per mille of that of busy tensor cores.
  std::int64_t arithmetic_power = 0;
  /// Of `loaded_mhz`, `tensor` (per mille of all cycles in which the tensor cores work), `arithmetic` (the same of the units of arithmetic
  /// and special functions, added up), `arithmetic_power`, `power_w`, and `zeros` (1 where the data is all zeros, so that hardly a bit
  /// changes; else 0).
  Expr sustained_mhz{0};
  /// What sustained_mhz may name. `tensor`, `arithmetic`: per mille.
  Scope scope(std::int64_t power_limit, std::int64_t tensor, std::int64_t arithmetic, bool zeros) const {
    return Scope{{"loaded_mhz", loaded_mhz}, {"arithmetic_power", arithmetic_power},
                 {"tensor", tensor},         {"arithmetic", arithmetic},
                 {"power_w", power_limit},   {"zeros", zeros ? 1 : 0}};
  }
  /// TFLOP/s of a kernel that anyone can measure, on the device that sustained_mhz stands for: devices of one name differ.
  struct Anchor {
    std::string name;  ///< "cublas_8192"
    double tflops = 0;
  };
  std::vector<Anchor> anchors;
  std::string source;
};

/// What all SMs share.
struct SharedSupply {
  std::int64_t l2_bytes = 0;   ///< per SM cycle and SM, when all of them load; 0: unknown
  std::int64_t launch_ns = 0;  ///< of a kernel, on top of its cycles
  std::int64_t dram_gbs = 0;   ///< 10^9 bytes per second to and from DRAM; 0: unknown
  std::string source;
};

/// What the instruction stream of a warp group takes beyond what its units need.
struct StreamCosts {
  /// Time of one group's own arithmetic (elementwise, reductions, exponentials, conversions), in percent of what the units' rates say: one
  /// warp per scheduler does not keep them full.
  std::int64_t arithmetic_percent = 100;
  /// Time of a product in a loop that also computes, in percent of what its unit's rate says: arithmetic takes ports of the registers from
  /// it. Of one with both operands in shared memory, and of one whose first operand is in registers.
  std::int64_t product_percent = 100, register_product_percent = 100;
  Cycle turn = 0;    ///< to pass the turn on the tensor cores to another group, by a named barrier
  Cycle wait = 0;    ///< a wait on an mbarrier that is ready holds its stream so long
  Cycle arrive = 0;  ///< an arrival at one
  Cycle product_wait =
      0;  ///< from the end of a product until an instruction of its own group that waited for it starts, beyond its latency
  std::string source;
  bool operator==(const StreamCosts&) const = default;
};

/// A number that was fitted to measurements of whole kernels, and may be again (heddle fit).
struct FittedNumber {
  std::string number;  ///< where it stands, "shared.l2_bytes" (core/machine/fitted.h)
  std::int64_t least = 0, most = 0;
  std::string source;  ///< of the range
  bool operator==(const FittedNumber&) const = default;
};

inline constexpr std::size_t kMostFitted = 8;

struct Machine {
  std::string name;
  std::string arch;  ///< "sm_90a"; empty for toys
  std::string about;
  std::string file;  ///< the file it came from, for messages
  std::int64_t sm_count = 1;
  std::int64_t clock_mhz = 1000;  ///< behind the rates of the datasheet
  ClockModel clock;
  SharedSupply shared;
  StreamCosts streams;
  Contention contention;
  std::vector<Unit> units;
  Limits limits;
  std::vector<CostRule> rules;
  HandOff handoff;
  std::vector<FittedNumber> fitted;  ///< at most kMostFitted
  Catalogue instructions;            ///< empty: nothing is known of accesses

  const Unit* find_unit(std::string_view name) const;
  const CostRule* find_rule(std::string_view kind) const;
  const Instruction* find_instruction(std::string_view name) const;
};

}  // namespace heddle
