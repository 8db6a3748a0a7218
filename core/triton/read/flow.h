// What flows where in one loop: values followed back through views, carried arguments and tokens to the op that made them.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "core/triton/read/ops.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// Where a value comes from: an op of the loop, so many iterations ago, or something outside of it.
struct ValueSource {
  mlir::ValueId value;  ///< that the op defines; outside: the value as the loop sees it
  mlir::OpId op;        ///< in the loop's own block; invalid: outside
  int distance = 0;
  mlir::ValueId initial;  ///< with a distance: what the first iteration reads instead
};

bool is_float(const Type& type);
/// In shared or tensor memory.
bool is_memory(const Type& type);
/// A tile of numbers (no pointers, indices or flags).
bool is_number_tile(const Type& type);

/// What an op is here: as the table says, but integer tiles are index arithmetic, an allocation that a load fills is a view, and so on.
/// Nothing: it takes no part (a constant, a scalar).
std::optional<OpRole> work_of(const TritonProgram& program, const mlir::Op& op);

class Flow {
 public:
  Flow(const TritonProgram& program, mlir::OpId loop);

  const TritonProgram& program() const { return program_; }
  const mlir::Module& module() const { return *program_.module; }
  mlir::OpId loop() const { return loop_; }
  const mlir::Block* body() const { return body_; }
  bool inside(mlir::OpId op) const;
  /// The ops of one turn in the order of the text: those of the loop's block, and those of branches that run in it.
  const std::vector<mlir::OpId>& ops() const { return ops_; }
  /// Ops of branches that are taken once in many turns (a flattened loop's last step of a tile), in the order of the text.
  const std::vector<mlir::OpId>& rare_ops() const { return rare_ops_; }
  /// An `scf.if` of the loop with tiles in it.
  struct Branch {
    mlir::OpId op;
    bool rare = false;           ///< once in many turns: its condition asks whether a counter has come to an end
    std::size_t taken = 0;       ///< which region the turns run that are looked at: 0 then, 1 else
    mlir::ValueId counter, end;  ///< rare: what the condition compares
  };
  const std::vector<Branch>& branches() const { return branches_; }
  /// Of an op of `ops`, the op of the loop's own block that it lies in: itself, or the branch. That one has the stage.
  const mlir::Op& in_turn(const mlir::Op& op) const;
  /// What the way that is taken gives for a result of a branch, through branches in it; else the value itself.
  mlir::ValueId through_branches(mlir::ValueId value) const;

  /// Through views, and through carried arguments with an iteration for each passage.
  ValueSource source(mlir::ValueId value) const;
  /// Through carried arguments only.
  ValueSource carried(mlir::ValueId value) const;
  /// The store or mma that left what is read under this token; `reader` is where it is read, for texts without tokens.
  ValueSource tensor_state(const mlir::Op& reader, std::size_t storage) const;
  /// The store that filled this shared memory before `reader`.
  ValueSource shared_state(const mlir::Op& reader, std::size_t storage) const;
  /// Ops of the loop that do tile work and whose results an index tile rests on: the row numbers of a gather.
  std::vector<ValueSource> behind_index(mlir::ValueId value) const;
  /// The allocation under a memdesc, through views; invalid where there is none.
  mlir::ValueId storage(mlir::ValueId memdesc) const;
  /// Operands of an op by role, that are tiles: what edges come from. Of an mma: A, B, and the accumulator where it has one.
  std::vector<ValueSource> operands(const mlir::Op& op) const;
  /// The operand that a store writes; invalid where it is none.
  mlir::ValueId stored(const mlir::Op& op) const;
  /// Of an mma in tensor memory: whether it adds to what is there. An argument that is false at first and true then does.
  bool accumulates(const mlir::Op& product) const;

 private:
  void add_ops(const mlir::Block& block, std::vector<mlir::OpId>& to);
  std::optional<Branch> branch_of(mlir::OpId op) const;
  mlir::ValueId given_by_branch(mlir::ValueId value) const;
  std::optional<std::size_t> argument(mlir::ValueId value) const;
  ValueSource last_writer(const mlir::Op& reader, mlir::ValueId root) const;

  const TritonProgram& program_;
  mlir::OpId loop_;
  const mlir::Block* body_ = nullptr;
  const mlir::Op* yield_ = nullptr;
  std::vector<mlir::OpId> ops_, rare_ops_;
  std::vector<Branch> branches_;
  std::set<mlir::BlockId> blocks_;  ///< whose ops are `ops_`
};

/// How many ops in a region, however deep, work on tiles or are refused.
std::size_t tile_work(const TritonProgram& program, const mlir::Region& region);

/// Whether the op works on tiles and is no view: what is scheduled.
bool is_tile_op(const TritonProgram& program, const Flow& flow, const mlir::Op& op);

}  // namespace heddle::triton
