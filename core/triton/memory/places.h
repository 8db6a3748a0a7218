// How long memory is needed: positions of ops, who reads what through views, loops and regions, and from that the life of every allocation.
#pragma once

#include <cstdint>
#include <vector>

#include "core/triton/memory/allocate.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

class Places {
 public:
  explicit Places(const TritonProgram& program);

  /// Ops count in the order in which they end, four positions apart: there is room for what a pass adds before and behind an op.
  std::int64_t at(mlir::OpId op) const { return at_[op.index()]; }
  static constexpr std::int64_t kStep = 4;
  /// Of the first op inside an op, or of the op itself.
  std::int64_t begins(mlir::OpId op) const { return begins_[op.index()]; }

  const std::vector<mlir::OpId>& readers(mlir::ValueId value) const { return readers_[value.index()]; }
  /// What may be the same memory under another name: views, carried arguments, results of loops, arguments of partitions. `value` itself
  /// first.
  std::vector<mlir::ValueId> names(mlir::ValueId value) const;
  /// From where it is made to the last reader under any name; a reader in a loop that does not contain the maker means the whole loop.
  Life life(mlir::OpId maker, mlir::ValueId value) const;
  /// Only what the op itself takes.
  Life moment(mlir::OpId op) const { return {at(op), at(op) + kStep}; }

  /// The `ttg.warp_specialize` around an op, and which of its regions; -1: none.
  int specialize(mlir::OpId op) const { return specialize_[op.index()]; }
  int region(mlir::OpId op) const { return region_[op.index()]; }

  /// The value under views of memory: a memdesc's allocation or a block argument.
  mlir::ValueId root(mlir::ValueId value) const;

 private:
  void number(mlir::OpId op, std::int64_t& next, int specialize, int region);
  std::int64_t end_of_use(mlir::OpId maker, mlir::OpId reader) const;

  const TritonProgram& program_;
  std::vector<std::int64_t> at_, begins_;
  std::vector<int> specialize_, region_;
  std::vector<std::vector<mlir::OpId>> readers_;
  std::vector<std::vector<mlir::ValueId>> flows_;
};

/// "memdesc_index", "memdesc_trans" ...: an op that gives another view of its first operand.
bool is_view(std::string_view op_name);

}  // namespace heddle::triton
