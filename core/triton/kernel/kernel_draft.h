// A kernel of Heddle's own while it is made of a loop: what is made already, and for which op or value of the text.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/triton/kernel/chain.h"
#include "core/triton/kernel/loop_text.h"
#include "core/triton/kernel/native.h"
#include "core/triton/kernel/scalars.h"

namespace heddle::triton {

enum class KernelPart { Prologue, Body, Epilogue };

/// Where an op of the kernel goes, and the op of the text that it is made of.
struct OpSite {
  KernelPart part;
  const mlir::Op& from;
};

struct LoopKernelDraft {
  explicit LoopKernelDraft(const LoopText& of) : text(of), scalars(of.flow) {}

  const LoopText& text;
  Native native;    ///< as far as it is made; parameters, grid and notes are the scalars' until the end
  Scalars scalars;  ///< what sizes and addresses are, and what was assumed
  Error error;      ///< why there will be no kernel; no faults: there may be one

  std::map<mlir::OpId, std::string> in_registers, in_memory;  ///< the value that each op of the loop defines
  std::map<mlir::ValueId, std::string> second_results;        ///< of ops that define two tiles
  std::map<mlir::ValueId, std::string> outside;               ///< values that are made before or after the loop
  std::set<mlir::ValueId> open;                               ///< of those, the ones under construction
  std::map<std::string, mlir::ValueId> initials;              ///< of carried values: what they begin with

  std::map<std::string, std::vector<std::int64_t>> extents;  ///< of every value, as numbers
  std::map<std::string, bool> transposed;                    ///< whether a value is held the other way round
  std::set<std::string> op_names, value_names;

  /// The value's name: this one, or with a number behind it.
  std::string add_value(const std::string& name, const Type& type, Space space, bool held_transposed = false);
  /// Under this name, or with a number behind it; an op of the loop with its origin.
  TileOp& add_op(const OpSite& site, std::string name, std::string kind, std::vector<Operand> inputs, std::vector<std::string> outputs);
  /// What computes the chain into the value `name`; `inputs` are the chain's.
  void add_chain(const OpSite& site, const Chain& chain, const std::string& name, const std::vector<Operand>& inputs);
  /// Extents of a value of this type.
  std::vector<std::int64_t> shape_of(const Type& type, bool held_transposed) const;
  void refuse(const mlir::Op& op, std::string why);

 private:
  void set_origin(const std::vector<std::size_t>& nodes, const mlir::Op& from);
};

}  // namespace heddle::triton
