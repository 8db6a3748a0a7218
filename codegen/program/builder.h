// Inside build_program(): the builder's state. build.cpp lowers the loop, ends.cpp what runs before and after it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/program/parts.h"
#include "core/analysis/pipeline_program.h"
#include "core/problem/costs.h"

namespace heddle::codegen {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);
inline constexpr int kThreadsPerWarp = 32;

inline std::int64_t round_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

/// Where results are put together for the store, when shared memory is short.
struct Staging {
  /// Where the role's own tile of the prologue lay; the next tile's load then waits for the store.
  bool overlay = false;
  /// Panel by panel (128 bytes wide, as wgmma's swizzle has them), so many of them at a time; 0: whole tiles.
  int panels = 0;
  /// Blackwell, per role: of the pieces in which a tile passes through registers, so many at a time, if there are as many; 1 where
  /// nothing is said.
  std::vector<int> pieces_at_once = {};
};

class Builder {
 public:
  Builder(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const BuildOptions& options)
      : kernel_(kernel), problem_(problem), schedule_(schedule), options_(options) {}

  BuildResult run(std::optional<std::int64_t> trips, const Staging& staging);

 private:
  void refuse(std::string rule, std::vector<std::string> ops, std::string sentence, std::optional<UserConstraint> constraint = {}) {
    for (const Refusal& r : refusals_)
      if (r.rule == rule && r.ops == ops) return;
    refusals_.push_back(refusal(std::move(rule), std::move(ops), std::move(sentence), std::move(constraint)));
  }

  const std::string& name(OpId op) const { return problem_.op(op).name; }
  const TileOp& body(OpId op) const { return kernel_.body[op.index()]; }
  std::size_t value_index(const std::string& value) const { return value_index_.at(value); }
  std::size_t role_of(OpId op) const { return role_of_group_[schedule_.group(op).index()]; }
  int warps_of(std::size_t role) const { return drafts_[role].role.warps; }

  // ---- what the kernel is made of

  bool prepare(std::optional<std::int64_t> trips);

  // ---- buffers

  void make_buffers();

  std::size_t add_barrier(bool full, std::size_t buffer, std::size_t value, int arrivals, std::int64_t bytes);

  // ---- roles

  void make_roles();

  int registers_of(std::size_t value, std::size_t role) const;

  /// Nothing else reads what is masked.
  bool masked_in_place(const TileOp& mask) const;

  /// The variable of a role in which a register value lies. A wgmma's result lies where the sum that it adds to was, a
  /// masked tile where the tile was.
  std::size_t variable(std::size_t role, std::size_t value, const Piece& piece = {});
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> other_piece_;  ///< role, value -> variable of every second piece

  // ---- the loop

  bool is_register(std::size_t value) const { return kernel_.values[value].space == Space::Register; }

  /// Where an op of the loop reads a value; relative iteration.
  Place place_read(std::size_t role, OpId op, const Operand& operand);

  static Engine engine_of(const Problem& problem, OpId op);

  Step base(OpId op, const PipelineLine& line) const {
    Step step;
    step.op = {OpRef::List::Body, op.index()};
    step.stage = line.stage;
    step.slot = line.slot;
    return step;
  }

  void add(std::size_t role, const PipelineLine& line, Step step, bool& fresh) {
    LoopStep loop;
    loop.step = std::move(step);
    loop.first = line.first;
    loop.spare = line.spare;
    loop.new_line = std::exchange(fresh, false);
    drafts_[role].loop.push_back(std::move(loop));
  }

  void lower_loops();

  /// Where boxes of TMA begin; refuses those that cannot.
  void begin_boxes();

  void make_barriers(const PipelineLine& line);

  /// A wgmma that adds up and whose registers nothing else touches in the loop is awaited only when the next one has been
  /// issued, where the rings have the slots for it: the tensor core finds the next one queued.
  void keep_one_in_flight();
  bool may_stay_in_flight(std::size_t role, OpId product) const;

  /// Which roles take turns on the tensor core.
  void order_turns();

  std::size_t depth_of(std::size_t buffer) const { return static_cast<std::size_t>(program_.buffers[buffer].depth); }

  void lower(std::size_t role, const PipelineLine& line, Piece piece);

  void lower_issue(std::size_t role, const PipelineLine& line, Step step, bool& fresh);

  void note_mma(std::size_t role, OpId product, const Step& step);

  // ---- tensor memory (tensor.cpp)

  /// Tiles that live there as long as the loop get a buffer each.
  void keep_accumulators();
  bool is_accumulator(std::size_t buffer) const { return program_.buffers[buffer].tensor() && program_.buffers[buffer].per_tile; }
  /// The wait is for what an op left in such a tile in this iteration or the one before.
  bool awaits_accumulator(const PipelineLine& line) const;
  void check_operands(OpId product, const Step& step);
  /// Values that a thread holds a piece of at a time: in how many pieces the op works; 1: at once.
  int pieces_in_loop(OpId op) const;
  int pieces_of_value(std::size_t value) const;
  int pieces_at_once(std::size_t value) const;
  /// A role's lines, with chains of ops that work in pieces where the last of them stands, piece by piece. What frees or tells of what
  /// they read and make follows them.
  struct PieceLine {
    PipelineLine line;
    Piece piece;
  };
  std::vector<PieceLine> put_chains_together(const std::vector<PipelineLine>& lines);

  /// Who reads a slot of tensor memory and then writes another value there (P over S) frees it after that.
  std::vector<PipelineLine> free_after_writing(std::vector<PipelineLine> lines) const;

  /// A signal that is due while a later op is still being issued comes before that op where this costs less than coming after it.
  std::vector<PipelineLine> tell_early(std::vector<PipelineLine> lines) const;

  bool uses_tensor_memory() const {
    return std::any_of(kernel_.values.begin(), kernel_.values.end(), [](const TileValue& v) { return v.space == Space::Tmem; });
  }
  void note_rewritten();
  /// A fill of the prologue: by the role whose threads read it in the first iteration; nothing to do where only products add to it.
  void fill_accumulator(std::size_t prologue_op);
  /// Role that touches the buffer first in a tile.
  std::size_t first_writer(std::size_t buffer) const;
  /// Per epilogue op, the role whose registers it needs; kNone: any with four warps.
  std::vector<std::size_t> roles_for_tiles();
  /// With four warps, to read what the loop left in tensor memory. May add a role.
  std::size_t role_for_accumulator(std::size_t value);
  /// Barriers between the products of a tile, who reads their results after the loop, and the next tile's products.
  void hand_over_accumulators();
  /// An op after the loop whose result is a tile in registers: it is done piece by piece on its way to the store.
  bool works_on_tile(std::size_t epilogue_op) const;
  /// Such ops behind a store to shared memory, in order.
  std::vector<std::size_t> tile_chain(std::size_t store) const;
  void store_tile(std::size_t epilogue_op, Step stage);
  /// Tiles of the prologue that only products of this role read: panels of its results may lie there when those are over.
  std::vector<std::size_t> tiles_to_overlay(std::size_t role) const;
  void overlay_tiles();
  std::set<std::size_t> products_over_;  ///< roles that have waited for their products at the end of the tile
  std::optional<Place> epilogue_place(std::size_t role, std::size_t epilogue_op, const Operand& in);
  std::vector<std::pair<std::size_t, std::size_t>> fills_;  ///< buffer, role
  std::map<std::size_t, std::size_t> tile_full_;            ///< value -> barrier

  /// Pairs of blocks: along which grid dimension, and which buffers they fill for each other.
  void share_loads();
  void pair_up();

  /// Which numbers of trips a tile may have.
  void vary_trips();

  // ---- before the loop

  /// A tile that is loaded once: notes that the role reads it.
  void read_per_tile(std::size_t role, Place& place);

  Step tile_step(StepKind kind, OpRef op, Engine engine = Engine::None) const {
    Step step;
    step.kind = kind;
    step.op = op;
    step.engine = engine;
    return step;
  }

  Step on_barrier(StepKind kind, OpRef op, std::size_t barrier, int count = 1) const {
    Step step = tile_step(kind, op);
    step.barrier = barrier;
    step.cursor = 1;
    step.count = count;
    return step;
  }

  void lower_prologue();

  void prologue_op(std::size_t role, std::size_t index);

  // ---- after the loop

  /// The role of every epilogue op: where its inputs are.
  void assign_epilogue(const std::vector<std::size_t>& definer);

  void lower_epilogue();

  static OpRef first_op(const RoleDraft& draft, Engine engine);

  void epilogue_op(std::size_t i);

  /// What the epilogue makes without the loop: vectors and tiles that it loads (a bias, a residual). Each role that reads one makes its
  /// own.
  bool is_free(std::size_t i) const { return free_.contains(i); }
  void make_free(std::size_t role, std::size_t i);

  /// In how many pieces an epilogue op's result goes through shared memory, and the one store that takes it there.
  struct Pieces {
    int count = 1, rooms = 1;
    std::size_t store = kNone;
  };
  Pieces pieces_of(std::size_t i) const;
  void store_in_pieces(std::size_t i, const Pieces& pieces, Step stage);
  Buffer room_for(std::size_t value, int pieces) const;

  const Kernel& kernel_;
  const Problem& problem_;
  const Schedule& schedule_;
  const BuildOptions options_;
  TurnOrder turns_;
  Program program_;
  std::vector<Refusal> refusals_;
  std::vector<RoleDraft> drafts_;
  std::map<std::string, std::size_t, std::less<>> value_index_;
  std::vector<std::optional<Tile>> tiles_;
  std::vector<ValueId> body_value_;                                 ///< of the problem; invalid where the loop does not define it
  std::vector<std::size_t> buffer_of_;                              ///< per value
  std::map<std::size_t, std::size_t> buffer_of_channel_, full_of_;  ///< channel -> buffer, value -> barrier
  std::vector<std::size_t> role_of_group_;
  std::vector<std::vector<std::size_t>> variable_of_;     ///< role, value
  std::set<std::pair<std::size_t, std::size_t>> needed_;  ///< role, value: made by the prologue for it
  std::map<std::size_t, std::set<std::size_t>> readers_;  ///< value loaded once per tile -> roles
  std::vector<std::pair<std::size_t, Step>> release_;
  std::vector<std::size_t> epilogue_role_;
  std::map<std::size_t, std::size_t> made_by_;               ///< value -> epilogue op
  std::set<std::size_t> free_;                               ///< epilogue ops without operands from the loop
  std::set<std::pair<std::size_t, std::size_t>> made_free_;  ///< role, epilogue op
  Staging staging_;
  std::set<std::size_t> in_pieces_;  ///< epilogue ops that have been written together with what they store
  std::set<std::size_t> overlaid_;   ///< buffers with a result in them at the end of a tile
  std::optional<std::size_t> place_to_overlay(std::size_t role, std::int64_t bytes) const;
};

}  // namespace heddle::codegen
