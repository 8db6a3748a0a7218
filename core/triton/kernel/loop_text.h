// A loop of a Triton text as it is read: its ops, which of them are tile ops and belong together, and what flows between them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "core/triton/kernel/graph.h"
#include "core/triton/read/flow.h"

namespace heddle::triton {

struct LoopText {
  /// Both outlive it.
  LoopText(const TritonProgram& program, const LoopSite& loop, TextReading reading, TileGraph graph);

  const TritonProgram& program;
  const LoopSite& loop;
  const TextReading reading;
  const TileGraph graph;
  const Flow flow;
  std::map<mlir::OpId, std::size_t> nodes;  ///< of the graph, by op
  bool row_vectors = false;                 ///< no tile of two dimensions: vectors are rows

  const mlir::Op& op(std::size_t node) const { return program.module->op(graph.nodes[node].op); }
  const mlir::Op& op(mlir::OpId id) const { return program.module->op(id); }
  const Type& result(const mlir::Op& op) const { return program.type(op.results[0]); }
  std::optional<std::size_t> node_of(mlir::OpId op) const;
  /// The node that gives the result of the chain that a node belongs to.
  std::size_t last_of(std::size_t node) const { return graph.fused[graph.nodes[node].fused].back(); }
  /// An odd number of transpositions stands between the value and what it views.
  bool transposed_view(mlir::ValueId value) const;
};

}  // namespace heddle::triton
