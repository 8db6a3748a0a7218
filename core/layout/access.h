// How the lanes of a warp meet shared memory: which bytes each addresses, in which phases, and how often lanes meet in a bank.
//
// Shared memory has 32 banks of 4 bytes: word w (byte address / 4) lies in bank w mod 32. The lanes of a phase are served together; lanes
// that want different words of one bank wait for each other, lanes that want one word do not. ways = the most different words that a phase
// wants of one bank: the cycles that the port is busy for it. For an access that is linear over GF(2) in the bits of the lane, ways =
// 2^(rank of the word addresses - rank of their banks), where the words inside a lane's bytes count as lane bits too. The checker
// (core/check/layouts.h) counts bank by bank and shares nothing with this.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/choices.h"
#include "core/layout/layout.h"
#include "core/machine/instruction.h"

namespace heddle {

inline constexpr int kBanks = 32, kBankBytes = 4, kWarpLanes = 32;

/// One instruction of one warp.
struct WarpAccess {
  int warp = 0;
  int issue = 0;                                   ///< among those of the warp, in the order of their registers
  std::array<std::int64_t, kWarpLanes> address{};  ///< byte that the lane gives, from the tile's first one; -1: it gives none
  std::array<std::int64_t, kWarpLanes>
      first_register{};  ///< element index of the first register that the lane moves; matrix kinds: of its own fragment
};

/// All instructions by which a group of warps moves a register tile to memory or back.
struct Access {
  std::string instruction;  ///< of the catalogue
  InstructionKind kind = InstructionKind::SharedStore;
  int bytes = 4;  ///< per address
  int lanes_per_phase = 32;
  int warps = 4;
  int issues = 0;               ///< instructions of each warp
  std::vector<WarpAccess> all;  ///< warp by warp, issue by issue
};

/// Why lanes meet: moves of lane bits (and of words inside a lane's bytes) that add up to a multiple of all banks.
struct BankRank {
  int words = 0, banks = 0;            ///< ranks
  std::vector<int> meeting_lane_bits;  ///< one such sum; empty where there is none
  int ways() const { return 1 << (words - banks); }
};
/// `lane_bytes`: per bit of the lane's number, the bytes by which it moves the address.
BankRank bank_rank(const std::vector<std::int64_t>& lane_bytes, int bytes, int lanes_per_phase);

struct AccessCost {
  bool known = false;        ///< layouts and instruction are known; else counted as if no lanes met
  std::int64_t port = 0;     ///< cycles that shared memory's port is held by the group, conflicts included
  std::int64_t least = 0;    ///< the same if no lanes met
  std::int64_t issues = 0;   ///< instructions of each warp
  std::int64_t selects = 0;  ///< elements of the tile that pass a select for the exchange
  int ways = 1;              ///< of the worst phase
  bool operator==(const AccessCost&) const = default;
};

/// What moving `registers` to or from `memory` by the instruction looks like, or why it cannot be: elements that do not lie side by side in
/// both, a transposed instruction on elements that have not 16 bits, addresses that are no multiple of the instruction's bytes.
struct AccessResult {
  std::optional<Access> access;
  std::string refusal;  ///< "ldmatrix.x4.trans moves elements of 16 bits, and these have 32"
};
AccessResult access_of(const Layout& registers, const Layout& memory, int bits, const Instruction& instruction,
                       const LaneExchange& exchange = {});
/// The same, counted by rank where the access is linear and lane by lane where it is not. `cycles`: of a phase without conflicts.
AccessCost cost_of_access(const Layout& registers, const Layout& memory, int bits, const Instruction& instruction,
                          const LaneExchange& exchange = {});

/// "no two lanes meet in a bank" or "lane bits 1 and 3 meet in one bank: rows 0 and 8 are 1024 bytes apart" for the worst phase.
std::string why_text(const Access& access);

}  // namespace heddle
