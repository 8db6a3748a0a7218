// Inside the interpreter: one block of a program, or one cluster of blocks, while it runs: what slots, registers, barriers and agents hold.
// What steps do to it are functions: access.h, operations.h, tensor.h, barriers.h; machine.h lets them happen.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "codegen/interpret/interpret.h"
#include "core/kernel/op_semantics.h"

namespace heddle::codegen {

/// An op of one iteration in one tile.
struct TileWork {
  OpRef op;
  /// The columns that a store takes, or that go to shared memory, where the others then hold nothing. In registers and in
  /// tensor memory whoever holds a piece has the whole tile, and each piece's steps compute it again.
  Piece piece = {};
  std::int64_t tile = 0, iteration = 0;
  std::vector<const Array*> inputs = {};
  std::size_t value = 0;  ///< that it makes
};

/// What one tile computes, where there is data. Tiles of a cluster's blocks are numbered in turn.
class TileData {
 public:
  virtual ~TileData() = default;
  /// Into `output`, which is null where the op has none; empty, or why not.
  virtual std::string compute(const TileWork& work, Array* output) = 0;
  /// Why a box of TMA cannot begin where the step has it begin (codegen/program/boxes.h); empty: it can.
  virtual std::string misplaced(const Step& step, std::int64_t tile, std::int64_t iteration) = 0;
  /// Trips that are enough for tile `tile` and the tiles of its cluster's other blocks.
  virtual std::int64_t trips(std::int64_t tile) = 0;
};

inline constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

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
  int readers = 0;                 ///< TMA stores and mmas in flight
  bool unfenced = false;           ///< threads wrote, and no fence since
  bool copied = false;             ///< its load is one of threads, which each role fences for itself
  std::uint64_t fenced = 0;        ///< roles that have done so
  bool untold = false;             ///< a store was awaited by one thread only
  std::size_t writer = kNothing;   ///< role
  Piece piece;                     ///< of the value; in shared memory
  std::uint64_t pieces = 0;        ///< that it holds, of piece.count
  std::uint64_t seen = 0;          ///< roles that have waited for what is in it and have not freed it
  std::uint64_t used = 0;          ///< roles that have read what is in it
  std::size_t granted = kNothing;  ///< role that has waited for it to be free and has not filled it
  std::vector<std::size_t> users;  ///< roles with mmas or stores that read it and have not been awaited
  // In tensor memory.
  int adding = 0;             ///< mmas in flight that fill it
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

/// A step of an agent, as its turn comes.
struct Flat {
  std::size_t role = 0;  ///< the agent
  const Section* section;
  const Step* step;
  std::int64_t shift;
};

struct CursorState {
  int slot = 0, phase = 0;
  std::int64_t count = 0;
};

/// What has been issued and happens later.
struct Async {
  Flat at;
  std::int64_t tile = 0;
  std::vector<RegisterCell*> registers;  ///< it may touch
  std::vector<Slot*> reads;
  std::vector<Array> taken;           ///< of loads: what their issuer read, as it was then
  std::vector<Slot*> fills;           ///< loads: one per block of the cluster that gets it; mmas: block by block
  std::vector<const Slot*> operands;  ///< of tcgen05 mmas, block by block; null: the zero that the sum begins with
  std::vector<Phase*> signals;
  unsigned part = 1;
  std::int64_t use = 0;  ///< of the slot: phase that the bytes belong to
  std::size_t barrier = 0;
  bool done = false;
};
using Group = std::vector<Async*>;

/// A role of one block.
struct Agent {
  const Role* role = nullptr;
  std::size_t block = 0;
  std::vector<Flat> code;
  std::size_t at = 0;
  std::int64_t tile = 0;
  std::int64_t trips = -1;  ///< that `code` is for
  std::vector<CursorState> cursors;
  std::vector<std::vector<RegisterCell>> variables;
  std::deque<Async*> products, stores, loads;  ///< in flight, in the order of issue; signals stand among mmas
  Group open_products, open_stores;
  std::deque<Group> product_groups, store_groups;
  bool touched = false;  ///< tensor memory by its threads, and no fence since
  bool waited = false;   ///< for others, or its warps for each other, and no fence since
};

struct Blocks {
  std::size_t first, end;
};

struct BlockState {
  BlockState(const Kernel& kernel, const Program& program, const Interleaving& how, TileData* data);

  // Agents are the roles of every block of the cluster, block by block. `role` is an agent's number in what follows.
  const Role& role_at(std::size_t role) const { return *agents[role].role; }
  std::size_t block_of(std::size_t role) const { return agents[role].block; }
  /// Every block's load fills a part of all blocks' slots. In a pair each has its own half, and mmas read both.
  bool is_shared(std::size_t buffer) const { return program.buffers[buffer].shared && !program.pair; }
  static std::uint64_t bit(std::size_t role) { return std::uint64_t{1} << role; }
  /// Whose slots the role's steps are about: an mma of a pair reads and fills those of both blocks.
  Blocks blocks_of(std::size_t role) const {
    const std::size_t block = block_of(role);
    if (program.pair && issues[role % program.roles.size()]) return {0, static_cast<std::size_t>(program.cluster)};
    return {block, block + 1};
  }
  std::vector<Slot>& slots(std::size_t block, std::size_t buffer) { return all_slots[block * program.buffers.size() + buffer]; }
  /// Of a pair's barriers those that mmas wait for are the first block's.
  std::vector<Phase>& phases(std::size_t block, std::size_t barrier) {
    return all_phases[(program.pair && leads[barrier] ? 0 : block) * program.barriers.size() + barrier];
  }
  const std::vector<Phase>& phases(std::size_t block, std::size_t barrier) const {
    return all_phases[(program.pair && leads[barrier] ? 0 : block) * program.barriers.size() + barrier];
  }
  std::int64_t tile_of(std::size_t role, std::int64_t tile) const {
    return tile * program.cluster + static_cast<std::int64_t>(block_of(role));
  }

  bool finished(const Agent& agent) const { return agent.tile >= how.tiles; }
  /// How often the cursor's slot has been used before.
  std::int64_t use_of(std::size_t role, std::size_t cursor) const {
    return agents[role].cursors[cursor].count / role_at(role).cursors[cursor].depth;
  }
  std::size_t cells_per_slot(std::size_t buffer) const { return edges.empty() || edges[buffer].empty() ? 1 : edges[buffer].size() - 1; }
  /// A slot of a ring in shared memory holds the whole tile, although it is filled piece by piece; a room for results one piece at a time.
  bool takes_all_pieces(const Place& place) const { return !program.buffers[place.index].per_tile; }
  bool is_tensor(const Place& place) const { return place.kind == Place::Kind::Buffer && program.buffers[place.index].tensor(); }
  template <class Visit>
  void for_each_tensor_slot(std::size_t role, Visit visit) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
      if (program.buffers[b].tensor())
        for (Slot& slot : slots(block_of(role), b)) visit(slot);
  }
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
    return piece.count == 1 || kernel.values[place.value].shape.size() > 1 ? piece : Piece{};
  }

  /// The steps of the agent's tile.
  void begin_tile(std::size_t role);
  /// The first fault counts.
  void fail(FaultKind kind, const Flat& flat, std::int64_t tile, std::string what);

  const Kernel& kernel;
  const Program& program;
  const Interleaving how;
  TileData* data;
  std::mt19937_64 random;
  std::vector<Agent> agents;
  std::vector<bool> issues;             ///< per role: tcgen05 mmas
  std::vector<bool> leads;              ///< per barrier: it is the first block's
  std::vector<std::vector<int>> edges;  ///< per buffer: where its cells of columns begin, and the end; empty in shared memory
  std::vector<TensorColumns> columns;   ///< per value that lies in tensor memory
  std::vector<std::vector<Slot>> all_slots;
  std::vector<std::vector<Phase>> all_phases;
  std::vector<int> turns;  ///< per role: given and not yet taken
  std::vector<std::unique_ptr<Async>> pool;
  std::optional<ProgramFault> fault;
};

}  // namespace heddle::codegen
