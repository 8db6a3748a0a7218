// A program while it is being built: what it is made of, as far as the passes before have come. build.cpp lists the passes; each is a
// function that takes the draft one step further, in the file named after it, or refuses.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/program/build.h"
#include "codegen/program/parts.h"
#include "core/problem/costs.h"

namespace heddle::codegen {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);
inline constexpr int kThreadsPerWarp = 32;

inline std::int64_t round_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

/// Where results are put together for the store, when shared memory is short.
struct StoreStaging {
  /// Where the role's own tile of the prologue lay; the next tile's load then waits for the store.
  bool overlay = false;
  /// Panel by panel (128 bytes wide, as wgmma's swizzle has them), so many of them at a time; 0: whole tiles.
  int panels = 0;
  /// Blackwell, per role: of the pieces in which a tile passes through registers, so many at a time, if there are as many; 1 where
  /// nothing is said.
  std::vector<int> pieces_at_once = {};
};

/// What runs after the loop, op by op of the kernel's epilogue.
struct EpilogueDraft {
  std::vector<std::size_t> role;
  std::map<std::size_t, std::size_t> made_by;               ///< value -> op
  std::set<std::size_t> free;                               ///< ops without operands from the loop
  std::set<std::pair<std::size_t, std::size_t>> made_free;  ///< role, op
  std::set<std::size_t> in_pieces;                          ///< ops that have been written together with what they store
  std::set<std::size_t> overlaid;                           ///< buffers with a result in them at the end of a tile
  std::set<std::size_t> products_over;                      ///< roles that have waited for their mmas at the end of the tile

  /// What the epilogue makes without the loop: vectors and tiles that it loads (a bias, a residual). Each role that reads one makes its
  /// own.
  bool is_free(std::size_t op) const { return free.contains(op); }
};

struct ProgramDraft {
  const Kernel& kernel;
  const Problem& problem;
  const Schedule& schedule;
  const BuildOptions& options;
  const StoreStaging& staging;

  Program program = {};
  std::vector<RoleDraft> roles = {};
  std::vector<Refusal> refusals = {};
  TurnOrder turns = {};

  // The kernel's values, by number.
  std::map<std::string, std::size_t, std::less<>> value_number = {};
  std::vector<std::optional<Tile>> tiles = {};
  std::vector<ValueId> body_value = {};                       ///< of the problem; invalid where the loop does not define it
  std::vector<std::size_t> buffer_of = {};                    ///< kNone: it has none
  std::map<std::size_t, std::size_t> full_of = {};            ///< value -> barrier
  std::map<std::size_t, std::size_t> tile_full = {};          ///< of a tile that the loop leaves: value -> barrier
  std::map<std::size_t, std::set<std::size_t>> readers = {};  ///< value loaded once per tile -> roles
  std::set<std::pair<std::size_t, std::size_t>> needed = {};  ///< role, value: made by the prologue for it
  std::vector<std::vector<std::size_t>> variable_of = {};     ///< role, value
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> other_piece = {};  ///< role, value -> variable of every second piece

  std::map<std::size_t, std::size_t> buffer_of_channel = {};
  std::vector<std::size_t> role_of_group = {};
  std::vector<std::pair<std::size_t, std::size_t>> fills = {};  ///< of tensor memory, before the loop: buffer, role
  std::vector<std::pair<std::size_t, Step>> release = {};       ///< of tiles that were loaded once: role, signal
  EpilogueDraft epilogue = {};

  /// Once per rule and ops.
  void refuse(std::string rule, std::vector<std::string> ops, std::string sentence, std::optional<UserConstraint> constraint = {});

  const std::string& name(OpId op) const { return problem.op(op).name; }
  const TileOp& body(OpId op) const { return kernel.body[op.index()]; }
  std::size_t value_index(const std::string& value) const { return value_number.at(value); }
  bool is_register(std::size_t value) const { return kernel.values[value].space == Space::Register; }
  std::size_t role_of(OpId op) const { return role_of_group[schedule.group(op).index()]; }
  int warps_of(std::size_t role) const { return roles[role].role.warps; }
  std::size_t depth_of(std::size_t buffer) const { return static_cast<std::size_t>(program.buffers[buffer].depth); }
  /// A tile of tensor memory that lives as long as the loop.
  bool is_accumulator(std::size_t buffer) const { return program.buffers[buffer].tensor() && program.buffers[buffer].per_tile; }
  bool uses_tensor_memory() const;
  Engine engine_of(OpId op) const;

  std::size_t add_barrier(bool full, std::size_t buffer, std::size_t value, int arrivals, std::int64_t bytes);
  /// The variable of a role in which a register value lies. A wgmma's result lies where the sum that it adds to was, a
  /// masked tile where the tile was.
  std::size_t variable(std::size_t role, std::size_t value, const Piece& piece = {});
};

/// A step of the ends of a tile.
Step tile_step(StepKind kind, OpRef op, Engine engine = Engine::None);
Step on_barrier(StepKind kind, OpRef op, std::size_t barrier, int count = 1);

}  // namespace heddle::codegen
