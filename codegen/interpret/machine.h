// Inside the interpreter: one block of a program, or one cluster of blocks, while it runs.
#pragma once

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "codegen/interpret/interpret.h"
#include "core/kernel/op_semantics.h"

namespace heddle::codegen {

/// What one tile computes, where there is data. Tiles of a cluster's blocks are numbered in turn.
class TileData {
 public:
  virtual ~TileData() = default;
  /// Computes `op` of `iteration` in tile `tile` from `inputs`; empty, or why not.
  /// `piece`: the columns that are stored, of a result that is stored piece by piece; the others hold nothing then.
  virtual std::string compute(OpRef op, const Piece& piece, std::int64_t tile, std::int64_t iteration,
                              const std::vector<const Array*>& inputs, Array* output, std::size_t value) = 0;
  /// Trips that are enough for tile `tile` and the tiles of its cluster's other blocks.
  virtual std::int64_t trips(std::int64_t tile) = 0;
};

class BlockMachine {
 public:
  BlockMachine(const Kernel& kernel, const Program& program, const Interleaving& how, TileData* data);
  std::optional<ProgramFault> run();

 private:
  static constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

  /// What a slot or a register holds.
  struct Cell {
    std::size_t value = kNothing;
    std::int64_t iteration = 0, tile = 0;
    Array array;
  };
  struct RegisterCell : Cell {
    int flying = 0;        ///< wgmmas, not yet awaited, that read or write it
    bool summing = false;  ///< one of them adds into it
  };
  struct Slot : Cell {
    unsigned filling = 0;            ///< by TMA: which parts, one per block of the cluster
    unsigned missing = 0;            ///< parts that have not arrived yet
    int readers = 0;                 ///< TMA stores and wgmmas in flight
    bool unfenced = false;           ///< threads wrote, and no fence since
    bool untold = false;             ///< a store was awaited by one thread only
    std::size_t writer = kNothing;   ///< role
    Piece piece;                     ///< of the value
    std::uint64_t seen = 0;          ///< roles that have waited for what is in it and have not freed it
    std::size_t granted = kNothing;  ///< role that has waited for it to be free and has not filled it
    std::vector<std::size_t> users;  ///< roles with wgmmas or stores that read it and have not been awaited
  };
  struct Phase {  ///< a mbarrier
    int pending = 1;
    std::int64_t bytes = 0;
    std::int64_t completed = 0;
  };
  struct Flat {
    const Section* section;
    const Step* step;
    std::int64_t shift;
  };
  struct CursorState {
    int slot = 0, phase = 0;
    std::int64_t count = 0;
  };
  struct Async {
    std::size_t role = 0;
    Flat at;
    std::int64_t tile = 0;
    std::vector<RegisterCell*> registers;  ///< it may touch
    std::vector<Slot*> reads;
    std::vector<Slot*> fills;  ///< one per block of the cluster that gets it
    std::vector<Phase*> signals;
    unsigned part = 1;
    std::int64_t use = 0;  ///< of the slot: phase that the bytes belong to
    std::size_t barrier = 0;
    bool done = false;
  };
  using Group = std::vector<Async*>;
  struct Agent {
    std::vector<Flat> code;
    std::size_t at = 0;
    std::int64_t tile = 0;
    std::int64_t trips = -1;  ///< that `code` is for
    std::vector<CursorState> cursors;
    std::vector<std::vector<RegisterCell>> variables;
    std::deque<Async*> products, stores, loads;  ///< in flight, in the order of issue
    Group open_products, open_stores;
    std::deque<Group> product_groups, store_groups;
  };

  // Agents are the roles of every block of the cluster, block by block. `role` is an agent's number in what follows.
  const Role& role_at(std::size_t role) const { return program_.roles[role % program_.roles.size()]; }
  std::size_t block_of(std::size_t role) const { return role / program_.roles.size(); }
  std::vector<Slot>& slots(std::size_t block, std::size_t buffer) { return slots_[block * program_.buffers.size() + buffer]; }
  std::vector<Phase>& phases(std::size_t block, std::size_t barrier) { return phases_[block * program_.barriers.size() + barrier]; }
  const std::vector<Phase>& phases(std::size_t block, std::size_t barrier) const {
    return phases_[block * program_.barriers.size() + barrier];
  }
  std::int64_t tile_of(std::size_t role, std::int64_t tile) const {
    return tile * program_.cluster + static_cast<std::int64_t>(block_of(role));
  }

  /// The steps of the agent's tile.
  void begin_tile(std::size_t role);
  bool finished(const Agent& agent) const { return agent.tile >= how_.tiles; }
  bool ready(std::size_t role) const;
  void step(std::size_t role);
  void complete(std::size_t role, Engine engine, std::size_t which);
  /// False: an arrival came when the phase it is about was over.
  bool arrive(Phase& phase, std::size_t barrier, int count, std::int64_t about);
  /// How often the cursor's slot has been used before.
  std::int64_t use_of(std::size_t role, std::size_t cursor) const {
    return agents_[role].cursors[cursor].count / role_at(role).cursors[cursor].depth;
  }
  void turn(Phase& phase, std::size_t barrier);

  void issue(std::size_t role, const Flat& flat);
  void compute(std::size_t role, const Flat& flat);
  void retire(Agent& agent, const Step& step);
  const Array* read(std::size_t role, const Flat& flat, const Place& place, bool async, bool sum);
  RegisterCell* register_at(std::size_t role, const Place& place, bool output);
  Slot* slot_at(std::size_t role, const Flat& flat, const Place& place);
  /// The slot that an arrival or a wait is about; null where the buffer has no such slot.
  Slot* slot_behind(std::size_t role, const Step& step);
  /// A role fills only what it has itself waited for, and tells only of what it has itself done: with each ring minded by its
  /// own barriers, no ring depends on the depth of another.
  bool may_fill(std::size_t role, const Flat& flat, const Place& place);
  bool may_tell(std::size_t role, const Flat& flat);
  void write_register(std::size_t role, const Flat& flat, const Place& place, Array&& array);
  void fill_slot(std::size_t role, const Flat& flat, Slot& slot, const Place& place, bool by_threads, Array&& array, unsigned part = 0);

  std::int64_t iteration_of(const Flat& flat, const Place& place) const {
    const bool fixed = place.iteration <= kPerTile || (flat.section->after && place.iteration < 0);
    return fixed ? place.iteration : place.iteration + flat.shift;
  }
  bool holds(const Cell& cell, const Flat& flat, const Place& place, std::int64_t tile) const {
    return cell.value == place.value && cell.tile == tile && cell.iteration == iteration_of(flat, place);
  }
  std::string content(const Cell& cell) const;
  void fail(FaultKind kind, std::size_t role, const Flat& flat, std::int64_t tile, std::string what);
  std::optional<ProgramFault> check_registers() const;
  ProgramFault stuck() const;

  const Kernel& kernel_;
  const Program& program_;
  const Interleaving how_;
  TileData* data_;
  std::mt19937_64 random_;
  std::vector<Agent> agents_;
  std::vector<std::vector<Slot>> slots_;
  std::vector<std::vector<Phase>> phases_;
  std::vector<int> turns_;  ///< per role: given and not yet taken
  std::vector<std::unique_ptr<Async>> pool_;
  std::optional<ProgramFault> fault_;
};

}  // namespace heddle::codegen
