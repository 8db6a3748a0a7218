// The dataflow of one loop of a Triton kernel over tiles: which ops do work, what passes from one to the next and over how many
// iterations, and which elementwise ops belong together. Views are looked through, scalars and index arithmetic belong to nobody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// One tile op of the loop.
struct TileNode {
  mlir::OpId op;
  std::string name;  ///< of its first result, or of what it does; unique in the loop
  std::string kind;  ///< nearest kind of core/kernel/op_kind.h
  std::optional<std::int64_t> stage, cluster;
  std::vector<std::int64_t> partitions;  ///< of `ttg.partition`
  std::size_t fused = 0;                 ///< index into TileGraph::fused
};

struct GraphEdge {
  std::size_t from = 0, to = 0;  ///< indices into TileGraph::nodes
  int distance = 0;
};

struct TileGraph {
  std::vector<TileNode> nodes;
  std::vector<GraphEdge> edges;                 ///< without repeats of (from, to, distance)
  std::vector<std::vector<std::size_t>> fused;  ///< nodes of each chain, in order; the last one gives its result
};

/// Faults name the ops that cannot be a schedule problem, each with its line: nothing is left out without a word.
Result<TileGraph> loop_graph(const TritonProgram& program, const LoopSite& loop);

}  // namespace heddle::triton
