// Dependences between the ops of a scheduled loop, and whether the order that stages and clusters give them holds. An op of stage s runs s
// steps after its iteration began; within a step clusters run one after the other, and within a cluster the order of the text decides.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/triton/read/program.h"

namespace heddle::triton {

/// A dependence between two ops of the loop's own block: `to` needs what `from` did so many iterations ago. Nested ops count as the op
/// around them.
struct SsaEdge {
  mlir::OpId from, to;
  int distance = 0;
  bool token = false;   ///< nothing but a token passes: what stands in tensor memory
  bool memory = false;  ///< nothing passes: both use the same global memory, and one of them writes
};

/// `to` reads what `from` made.
std::vector<SsaEdge> edges_of(const TritonProgram& program, const LoopSite& loop);
/// Loads, stores and atomics of the same global memory, at least one of which writes: in the order of the text, and where no address
/// changes from one iteration to the next also into the next one. A load is done where its first reader waits for it. Distinct arguments of
/// the function are taken as distinct memory, as Triton does.
std::vector<SsaEdge> memory_edges_of(const TritonProgram& program, const LoopSite& loop);
/// `to` overwrites tensor memory that `from` reads: too early is right where Triton gives the storage another copy.
std::vector<SsaEdge> overwrites_of(const TritonProgram& program, const LoopSite& loop);

/// Where an op stands: its step, its cluster, and its place in the text; in the order in which a loop runs its ops.
struct Position {
  std::int64_t stage = 0, cluster = 0;
  std::size_t place = 0;
  auto operator<=>(const Position&) const = default;
};
/// Whether `to`, so many iterations later, runs before `from`.
bool runs_before(const Position& to, int distance, const Position& from);

struct BrokenOrder {
  SsaEdge edge;
  std::int64_t stale = 1;  ///< how many iterations old the tile is that `to` gets
  std::string sentence;
};
/// Those of the edges that the text's own stages and clusters do not keep; ops without a stage are not judged, nor what passes from one
/// partition to another.
std::vector<BrokenOrder> broken_orders(const TritonProgram& program, const LoopSite& loop, const std::vector<SsaEdge>& edges);

std::optional<std::int64_t> stage_of(const mlir::Op& op);
std::optional<std::int64_t> cluster_of(const mlir::Op& op);

}  // namespace heddle::triton
