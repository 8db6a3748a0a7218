// What flows where in one loop: values followed back through views, carried arguments and tokens to the op that made them.
#pragma once

#include <optional>
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
  std::optional<std::size_t> argument(mlir::ValueId value) const;
  ValueSource last_writer(const mlir::Op& reader, mlir::ValueId root) const;

  const TritonProgram& program_;
  mlir::OpId loop_;
  const mlir::Block* body_ = nullptr;
  const mlir::Op* yield_ = nullptr;
};

/// Whether the op works on tiles and is no view: what is scheduled.
bool is_tile_op(const TritonProgram& program, const Flow& flow, const mlir::Op& op);

}  // namespace heddle::triton
