// Inside the interpreter: one block of a program, or one cluster of blocks, while it runs.
#pragma once

#include <deque>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "codegen/interpret/interpret.h"
#include "core/kernel/op_semantics.h"

namespace heddle::codegen {

/// What one tile computes, where there is data. Tiles of a cluster's blocks are numbered in turn.
class TileData {
 public:
  virtual ~TileData() = default;
  /// Computes `op` of `iteration` in tile `tile` from `inputs`; empty, or why not.
  /// `piece`: the columns that a store takes, or that go to shared memory, where the others then hold nothing. In registers and in
  /// tensor memory whoever holds a piece has the whole tile, and each piece's steps compute it again.
  virtual std::string compute(OpRef op, const Piece& piece, std::int64_t tile, std::int64_t iteration,
                              const std::vector<const Array*>& inputs, Array* output, std::size_t value) = 0;
  /// Why a box of TMA cannot begin where the step has it begin (codegen/program/boxes.h); empty: it can.
  virtual std::string misplaced(const Step& step, std::int64_t tile, std::int64_t iteration) = 0;
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
    bool loading = false;  ///< from tensor memory, not yet awaited
    Piece piece;           ///< of the value
  };
  /// What is written and read together: a slot of shared memory, or columns of a slot of tensor memory. Sets of roles are bits.
  struct Slot : Cell {
    unsigned filling = 0;            ///< by TMA: which parts, one per block of the cluster
    unsigned missing = 0;            ///< parts that have not arrived yet
    int readers = 0;                 ///< TMA stores and products in flight
    bool unfenced = false;           ///< threads wrote, and no fence since
    bool untold = false;             ///< a store was awaited by one thread only
    std::size_t writer = kNothing;   ///< role
    Piece piece;                     ///< of the value; in shared memory
    std::uint64_t pieces = 0;        ///< that it holds, of piece.count
    std::uint64_t seen = 0;          ///< roles that have waited for what is in it and have not freed it
    std::uint64_t used = 0;          ///< roles that have read what is in it
    std::size_t granted = kNothing;  ///< role that has waited for it to be free and has not filled it
    std::vector<std::size_t> users;  ///< roles with products or stores that read it and have not been awaited
    // In tensor memory.
    int adding = 0;             ///< products in flight that fill it
    bool by_product = false;    ///< else by threads
    bool told = false;          ///< the writer has said that it is filled
    std::uint64_t loading = 0;  ///< roles whose threads load from it and have not awaited that
    std::uint64_t storing = 0;  ///< that store into it and have not awaited that
    std::uint64_t touched = 0;  ///< that have done either, and no fence since
    std::uint64_t unmet = 0;    ///< that have fenced, and whose warps have not met since
  };
  using Slots = std::span<Slot>;
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
    std::vector<Array> taken;           ///< of loads: what their issuer read, as it was then
    std::vector<Slot*> fills;           ///< loads: one per block of the cluster that gets it; products: block by block
    std::vector<const Slot*> operands;  ///< of tcgen05 products, block by block; null: the zero that the sum begins with
    std::vector<Phase*> signals;
    unsigned part = 1;
    std::int64_t use = 0;  ///< of the slot: phase that the bytes belong to
    std::size_t barrier = 0;
    bool done = false;
  };
  using Group = std::vector<Async*>;
  struct Agent {
    const Role* role = nullptr;
    std::size_t block = 0;
    std::vector<Flat> code;
    std::size_t at = 0;
    std::int64_t tile = 0;
    std::int64_t trips = -1;  ///< that `code` is for
    std::vector<CursorState> cursors;
    std::vector<std::vector<RegisterCell>> variables;
    std::deque<Async*> products, stores, loads;  ///< in flight, in the order of issue; signals stand among products
    Group open_products, open_stores;
    std::deque<Group> product_groups, store_groups;
    bool touched = false;  ///< tensor memory by its threads, and no fence since
    bool waited = false;   ///< for others, or its warps for each other, and no fence since
  };
  struct Blocks {
    std::size_t first, end;
  };

  // Agents are the roles of every block of the cluster, block by block. `role` is an agent's number in what follows.
  const Role& role_at(std::size_t role) const { return *agents_[role].role; }
  std::size_t block_of(std::size_t role) const { return agents_[role].block; }
  /// Every block's load fills a part of all blocks' slots. In a pair each has its own half, and products read both.
  bool is_shared(std::size_t buffer) const { return program_.buffers[buffer].shared && !program_.pair; }
  static std::uint64_t bit(std::size_t role) { return std::uint64_t{1} << role; }
  /// Whose slots the role's steps are about: a product of a pair reads and fills those of both blocks.
  Blocks blocks_of(std::size_t role) const {
    const std::size_t block = block_of(role);
    if (program_.pair && issues_[role % program_.roles.size()]) return {0, static_cast<std::size_t>(program_.cluster)};
    return {block, block + 1};
  }
  std::vector<Slot>& slots(std::size_t block, std::size_t buffer) { return slots_[block * program_.buffers.size() + buffer]; }
  /// Of a pair's barriers those that products wait for are the first block's.
  std::vector<Phase>& phases(std::size_t block, std::size_t barrier) {
    return phases_[(program_.pair && leads_[barrier] ? 0 : block) * program_.barriers.size() + barrier];
  }
  const std::vector<Phase>& phases(std::size_t block, std::size_t barrier) const {
    return phases_[(program_.pair && leads_[barrier] ? 0 : block) * program_.barriers.size() + barrier];
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

  void wait(std::size_t role, const Flat& flat);
  void meet(std::size_t role);
  void tell(std::size_t role, const Flat& flat);
  void issue(std::size_t role, const Flat& flat);
  void compute(std::size_t role, const Flat& flat);
  void retire(Agent& agent, const Step& step);
  const Array* read(std::size_t role, const Flat& flat, const Place& place, bool async, bool sum);
  const RegisterCell* read_register(std::size_t role, const Flat& flat, const Place& place, bool async, bool sum);
  bool may_read(std::size_t role, const Flat& flat, const Place& place, const Slot& slot, bool async);
  RegisterCell* register_at(std::size_t role, const Place& place, bool output);
  /// The slot, or the columns of a slot of tensor memory that the step's piece of the value takes; empty and a fault where there are none.
  Slots slots_at(std::size_t role, const Flat& flat, const Place& place, std::size_t block);
  Slots slots_at(std::size_t role, const Flat& flat, const Place& place) { return slots_at(role, flat, place, block_of(role)); }
  /// All of slot `at` of a buffer; empty where the buffer has no such slot.
  Slots whole_slot(std::size_t block, std::size_t buffer, std::size_t at);
  /// The columns of a value, or of a piece of it, in a slot.
  Slots part_of(Slots slot, std::size_t buffer, std::size_t value, const Piece& piece) const;
  /// The slot that an arrival or a wait is about; empty where the buffer has no such slot.
  Slots slot_behind(std::size_t role, const Step& step, std::size_t block);
  /// A role fills only what it has itself waited for, and tells only of what it has itself done: with each ring minded by its
  /// own barriers, no ring depends on the depth of another.
  bool may_fill(std::size_t role, const Flat& flat, const Place& place, const Slot& slot);
  bool may_tell(std::size_t role, const Flat& flat);
  bool may_say_filled(std::size_t role, const Flat& flat, const Slot& slot);
  /// The role's products free the barrier's slots by themselves: an arrival speaks of its threads only.
  bool signals_itself(std::size_t role, std::size_t barrier) const;
  bool may_say_free(std::size_t role, const Flat& flat, const Slot& slot);
  void write_register(std::size_t role, const Flat& flat, const Place& place, Array&& array);
  void fill_slot(std::size_t role, const Flat& flat, Slot& slot, const Place& place, bool by_threads, Array&& array, unsigned part = 0);

  // ---- tensor memory

  /// Columns that values and their pieces begin and end at.
  void cut_columns();
  std::size_t cells_per_slot(std::size_t buffer) const { return edges_.empty() || edges_[buffer].empty() ? 1 : edges_[buffer].size() - 1; }
  /// A slot of a ring in shared memory holds the whole tile, although it is filled piece by piece; a room for results one piece at a time.
  bool takes_all_pieces(const Place& place) const { return !program_.buffers[place.index].per_tile; }
  bool is_tensor(const Place& place) const { return place.kind == Place::Kind::Buffer && program_.buffers[place.index].tensor(); }
  template <class Visit>
  void for_each_tensor_slot(std::size_t role, Visit visit) {
    for (std::size_t b = 0; b < program_.buffers.size(); ++b)
      if (program_.buffers[b].tensor())
        for (Slot& slot : slots(block_of(role), b)) visit(slot);
  }
  void issue_product(std::size_t role, const Flat& flat);
  void complete_product(std::size_t role, const Async& async);
  /// Arrives when all products that the role has issued so far are complete.
  void signal(std::size_t role, const Flat& flat);
  /// tcgen05 instructions do not see what the role has waited for without a fence.
  bool has_fenced(std::size_t role, const Flat& flat);
  /// `adds`: to what products of the role that are in flight add to.
  bool may_overwrite(std::size_t role, const Flat& flat, const Slot& slot, bool by_threads, bool adds);
  void fill_columns(std::size_t role, const Flat& flat, Slot& slot, const Place& place, bool by_product);
  /// The first product of a tile does not add where the prologue fills the accumulator.
  bool begins_with_zero(const Flat& flat, const Place& place) const;
  std::optional<OpRef> filling_op(std::size_t value) const;
  void note_loads(std::size_t role, const Flat& flat);
  void store_columns(std::size_t role, const Flat& flat, const Place& place, const Array& array);
  void await_own(std::size_t role, bool reads);
  void fence_before(std::size_t role);
  std::optional<ProgramFault> check_tensor() const;
  std::optional<ProgramFault> check_lanes() const;

  std::int64_t iteration_of(const Flat& flat, const Place& place) const {
    const bool fixed = place.iteration <= kPerTile || (flat.section->after && place.iteration < 0);
    return fixed ? place.iteration : place.iteration + flat.shift;
  }
  bool holds(const Cell& cell, const Flat& flat, const Place& place, std::int64_t tile) const {
    return cell.value == place.value && cell.tile == tile && cell.iteration == iteration_of(flat, place);
  }
  /// Numbers per row or per column are not in pieces.
  Piece piece_of(const Flat& flat, const Place& place) const {
    const Piece& piece = flat.step->piece;
    return piece.count == 1 || kernel_.values[place.value].shape.size() > 1 ? piece : Piece{};
  }
  std::string content(const Cell& cell) const;
  std::string wanted(std::size_t role, const Flat& flat, const Place& place) const;
  void fail(FaultKind kind, std::size_t role, const Flat& flat, std::int64_t tile, std::string what);
  std::optional<ProgramFault> check_registers() const;
  ProgramFault stuck() const;

  const Kernel& kernel_;
  const Program& program_;
  const Interleaving how_;
  TileData* data_;
  std::mt19937_64 random_;
  std::vector<Agent> agents_;
  std::vector<bool> issues_;             ///< per role: tcgen05 products
  std::vector<bool> leads_;              ///< per barrier: it is the first block's
  std::vector<std::vector<int>> edges_;  ///< per buffer: where its cells of columns begin, and the end; empty in shared memory
  std::vector<TensorColumns> columns_;   ///< per value that lies in tensor memory
  std::vector<std::vector<Slot>> slots_;
  std::vector<std::vector<Phase>> phases_;
  std::vector<int> turns_;  ///< per role: given and not yet taken
  std::vector<std::unique_ptr<Async>> pool_;
  std::optional<ProgramFault> fault_;
};

}  // namespace heddle::codegen
