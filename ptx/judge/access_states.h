// Who wrote a piece of memory last and who read it since, as states that pieces share: a tile that one copy wrote is in one state, however
// large it is. A state never changes; an access gives each piece the state that follows its old one, which is found once an access.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ptx/judge/shadow.h"

namespace heddle::ptx {

struct PastAccess {
  Component by = 0;
  Proxy proxy = Proxy::Generic;
  bool strong = false;
  Epoch epoch = 0;
  int pc = -1;
  int warp = -1;
  bool operator==(const PastAccess&) const = default;
};

/// 0: nobody wrote or read it.
using StateId = std::uint32_t;

class AccessStates {
 public:
  static constexpr int kParts = 16;
  using Parts = std::array<StateId, kParts>;
  struct OneState {
    std::vector<PastAccess> writers;  ///< more than one: all wrote the same, or atomically
    std::vector<PastAccess> readers;  ///< since the write, of each component the last
    int split = -1;                   ///< the parts of the piece (bytes) differ: their states, by parts()
    std::uint64_t made = 0;           ///< serial number of the access that made the state
    // of the last access that found it: its serial number, the state that follows, its place in the access's list
    std::uint64_t serial = 0;
    StateId next = 0;
    std::uint32_t step = 0;
  };

  AccessStates() : states_(1) {}
  OneState& operator[](StateId id) { return states_[id]; }
  const OneState& operator[](StateId id) const { return states_[id]; }
  StateId add(OneState state);
  /// The state of what was written by that access and read by nobody.
  StateId written(const PastAccess& access);
  /// The states of a piece's parts; they are never split themselves.
  Parts parts(StateId id) const;
  StateId split(const Parts& parts);
  std::uint64_t next_serial() { return ++serial_; }
  /// Forgets states that no cell has, if there are many. Between accesses only.
  void tidy(std::span<StateId> cells);

 private:
  std::vector<OneState> states_;
  std::vector<Parts> splits_;
  std::uint64_t serial_ = 0;
  std::size_t tidy_at_ = 1 << 15;
  PastAccess last_written_;
  StateId last_written_state_ = 0;
};

/// What is wrong between an access and earlier ones.
struct AccessClash {
  enum class Kind : std::uint8_t {
    NotReady,    ///< a write that the access does not know to be over
    NotVisible,  ///< over, but a fence lacks: a write by threads that the async proxy may not see; in tensor memory, any access
    ReadBack,    ///< not visible, but threads have read it since: it is in memory
    StillRead,   ///< a read that the writer does not know to be over
  } kind = Kind::NotReady;
  struct With {
    PastAccess past;
    std::int64_t amount = 0;
  };
  std::vector<With> with;   ///< one an instruction, the largest amount first
  std::int64_t amount = 0;  ///< bytes or cells of all of them
};

struct AccessRules {
  bool write = false;
  bool own_in_order = false;  ///< accesses of one component need no wait among themselves
  bool fenced = false;        ///< what is over must be known to be so by a fence too (tensor memory: tcgen05.fence)
  bool same_value = false;    ///< other warps' write by the same instruction is taken to be the same value
};

/// One access of many pieces.
class AccessStep {
 public:
  AccessStep(AccessStates& states, const ShadowAccess& access, const KnownClocks& known, AccessRules rules);
  /// Whole pieces.
  void whole(std::span<StateId> cells);
  /// Parts of a piece: bit i of `which` for part i.
  void part(StateId& cell, unsigned which);

  /// What came of it. Each whole piece counts for `amount`, each part for a kParts-th of it.
  struct Outcome {
    std::vector<AccessClash> clashes;  ///< one for each kind
    std::int64_t amount = 0, never_written = 0;
  };
  Outcome outcome(int amount);

 private:
  struct Taken {
    StateId old;
    bool clashes;
    std::int64_t parts;
  };
  /// States of neighbours repeat: the last ones that were met, by their last bits.
  struct Met {
    StateId old = 0xFFFFFFFFu, next = 0;
    std::int64_t pieces = 0;
  };
  using Clashing = std::vector<std::pair<AccessClash::Kind, PastAccess>>;

  void meet(Met& met, StateId old);
  void count(StateId old, std::int64_t pieces);
  StateId follow(StateId old);
  StateId after_read(StateId old);
  StateId after_write(StateId old);
  bool knows(const PastAccess& past) const;
  bool sees(const PastAccess& past) const;
  bool shares_value(const AccessStates::OneState& state) const;
  Clashing clashing(StateId old) const;
  void clashes_of_write(const AccessStates::OneState& state, Clashing& found) const;
  void clashes_of_read(const AccessStates::OneState& state, Clashing& found) const;
  void add_clashes(const Taken& one, std::int64_t amount, std::vector<AccessClash>& all) const;

  AccessStates& states_;
  const KnownClocks& known_;
  PastAccess access_;
  AccessRules rules_;
  std::uint64_t serial_;
  std::array<Met, 16> met_;
  std::vector<Taken> taken_;
  StateId parted_ = 0xFFFFFFFFu, parted_next_ = 0;  ///< the last piece of which parts were met, and which parts
  unsigned parted_which_ = 0;
};

/// The cells of `cells` whose writer or reader is a pending access of `by` at `pc`: it is over by `epoch`.
void settle_cells(AccessStates& states, std::span<StateId> cells, Component by, int pc, Epoch epoch);

}  // namespace heddle::ptx
