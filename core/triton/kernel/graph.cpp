#include "core/triton/kernel/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/scanner.h"
#include "core/base/words.h"
#include "core/triton/read/data.h"
#include "core/triton/read/decisions.h"
#include "core/triton/read/flow.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kMostNodes = 1000, kMostOps = 8000;

class GraphBuilder {
 public:
  GraphBuilder(const TritonProgram& program, const LoopSite& loop) : program_(program), loop_(loop), flow_(program, loop.op) {}

  Result<TileGraph> build() {
    if (!loop_.why_not.empty()) refuse(program_.module->op(loop_.op), fmt::format("loop {}: {}", loop_.number, loop_.why_not));
    if (loop_.ops > kMostOps)
      refuse(program_.module->op(loop_.op), fmt::format("the loop has {} ops, at most {} are read", loop_.ops, kMostOps));
    for (const mlir::OpId id : flow_.ops())
      if (error_.faults.size() < 64) visit(id);
    if (graph_.nodes.size() > kMostNodes)
      refuse(program_.module->op(loop_.op), fmt::format("the loop has {} tile ops, at most {} are read", graph_.nodes.size(), kMostNodes));
    if (!error_.faults.empty()) return error_;
    connect();
    fuse();
    return std::move(graph_);
  }

 private:
  void refuse(const mlir::Op& op, std::string why, std::string hint = {}) {
    if (error_.faults.size() < 64) error_.faults.push_back({program_.file, fmt::format("{}", op.line), std::move(why), std::move(hint)});
  }

  void visit(mlir::OpId id) {
    const mlir::Op& op = program_.module->op(id);
    if (op.name == "scf.yield" || op.name == "scf.if") return;  // what runs of a branch stands behind it
    if (op.name == "scf.for" || op.name == "scf.while") {
      if (std::ranges::any_of(op.regions, [&](mlir::RegionId r) { return tile_work(program_, program_.module->region(r)) > 0; }))
        refuse(op, fmt::format("{} in a branch of the loop, with work on tiles: how often it runs in a turn is not known", op.name),
               "a loop that runs in every turn can be opened by its number");
      return;
    }
    const auto role = work_of(program_, op);
    if (role == OpRole::Refused) {
      const OpWord* word = find_op(op.name);
      return refuse(op,
                    word ? fmt::format("{}: {}", op.name, word->words) : fmt::format("{} is not known, and it works on tiles", op.name));
    }
    if (role == OpRole::Elements && expression_in(program_, op).empty())
      return refuse(op, fmt::format("{}: what it computes is not known", op.name));
    if (role == OpRole::Reduce && reduction_of(*program_.module, op).empty())
      return refuse(op, "tt.reduce: this combination has no kind here; sums, maxima (with their place), minima and exclusive ors have");
    if (!is_tile_op(program_, flow_, op)) return;
    if (const std::string name = present_name(op.name); name.starts_with("ttng.async_tma_") || name.starts_with("ttg.async_copy_"))
      return refuse(op, fmt::format("{}: a copy that the pipeliner made, in a text that is not pipelined", op.name));
    for (const mlir::ValueId v : op.results)
      if (role != OpRole::Opaque && role != OpRole::Elements && role != OpRole::Convert && program_.type(v).tile.tile() &&
          program_.type(v).tile.shape.size() > 2 && is_number_tile(program_.type(v)))
        return refuse(op,
                      fmt::format("{}: a tile of {} dimensions; tiles here have one or two", op.name, program_.type(v).tile.shape.size()));
    TileNode node;
    node.op = id;
    node.kind = kind_of(op, *role);
    node.name = unique(op, node.kind);
    const mlir::Op& staged = flow_.in_turn(op);
    if (staged.find("loop.stage")) node.stage = staged.integer("loop.stage", 0);
    if (staged.find("loop.cluster")) node.cluster = staged.integer("loop.cluster", 0);
    node.partitions = partitions_of_op(staged);
    index_.emplace(id, graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
  }

  std::string kind_of(const mlir::Op& op, OpRole role) const {
    switch (role) {
      case OpRole::Elements: return op.name == "math.exp2" || op.name == "math.exp" ? "exp2" : "elementwise";
      case OpRole::Convert: return "convert";
      case OpRole::DescriptorLoad: return "tma_load";
      case OpRole::PointerLoad: return "load";
      case OpRole::Gather: return "gather";
      case OpRole::DescriptorStore: return "tma_store";
      case OpRole::PointerStore: return "store";
      case OpRole::DescriptorReduce:
      case OpRole::Atomic: return "atomic_add";
      case OpRole::Product:
      case OpRole::TensorProduct: return "mma";
      case OpRole::TensorLoad: return "tmem_load";
      case OpRole::TensorStore:
      case OpRole::TensorAlloc: return "tmem_store";
      case OpRole::SharedLoad: return "smem_load";
      case OpRole::SharedStore:
      case OpRole::SharedAlloc: return "smem_store";
      case OpRole::Reduce: {
        const std::string what = reduction_of(*program_.module, op);
        return "reduce_" + what;
      }
      default: return "opaque";
    }
  }

  std::string unique(const mlir::Op& op, const std::string& kind) {
    std::string name = op.results.empty() ? kind : program_.module->value(op.results[0]).name;
    for (char& c : name)
      if (!in_name(c)) c = '_';
    if (name.empty() || is_digit(name[0])) name = kind + (name.empty() ? "" : "_") + name;
    std::string fresh = name;
    for (int i = 2; !names_.insert(fresh).second; ++i) fresh = fmt::format("{}_{}", name, i);
    return fresh;
  }

  void connect() {
    std::set<std::tuple<std::size_t, std::size_t, int>> known;
    const auto add = [&](const ValueSource& source, std::size_t to) {
      const auto from = source.op.valid() ? index_.find(source.op) : index_.end();
      if (from == index_.end()) return false;
      if (known.emplace(from->second, to, source.distance).second) graph_.edges.push_back({from->second, to, source.distance});
      return true;
    };
    for (std::size_t to = 0; to < graph_.nodes.size(); ++to)
      for (const ValueSource& source : flow_.operands(program_.module->op(graph_.nodes[to].op))) {
        if (add(source, to) || !source.op.valid()) continue;
        // A number that was computed from tiles: the mean of a sum.
        for (ValueSource behind : flow_.behind_index(source.value)) {
          behind.distance += source.distance;
          add(behind, to);
        }
      }
  }

  const Type& result_type(std::size_t node) const { return program_.type(program_.module->op(graph_.nodes[node].op).results[0]); }

  bool elementwise(std::size_t node) const {
    const auto role = work_of(program_, program_.module->op(graph_.nodes[node].op));
    return role == OpRole::Elements || role == OpRole::Convert;
  }

  /// An elementwise op with exactly one reader, of the same shape, in the same iteration, and where Triton put both into one place, joins
  /// it.
  void fuse() {
    const std::size_t count = graph_.nodes.size();
    std::vector<std::vector<std::size_t>> readers(count);
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) readers[graph_.edges[e].from].push_back(e);
    std::vector<std::size_t> into(count);
    for (std::size_t n = 0; n < count; ++n) {
      into[n] = n;
      if (!elementwise(n) || readers[n].size() != 1) continue;
      const GraphEdge& edge = graph_.edges[readers[n][0]];
      const TileNode &a = graph_.nodes[n], &b = graph_.nodes[edge.to];
      if (edge.distance == 0 && edge.to > n && elementwise(edge.to) && result_type(n).tile.shape == result_type(edge.to).tile.shape &&
          a.stage == b.stage && a.cluster == b.cluster && a.partitions == b.partitions && !leaves(n))
        into[n] = edge.to;
    }
    std::map<std::size_t, std::vector<std::size_t>> chains;
    for (std::size_t n = 0; n < count; ++n) {
      std::size_t end = n;
      while (into[end] != end) end = into[end];
      chains[end].push_back(n);
    }
    for (auto& [end, members] : chains) {
      for (const std::size_t member : members) graph_.nodes[member].fused = graph_.fused.size();
      graph_.fused.push_back(std::move(members));
    }
  }

  /// Read after the loop, or carried: then it is a value of its own.
  bool leaves(std::size_t node) const {
    const mlir::ValueId value = program_.module->op(graph_.nodes[node].op).results[0];
    const mlir::Block* body = flow_.body();
    const mlir::Op& last = program_.module->op(body->ops.back());
    return std::ranges::any_of(last.operands, [&](mlir::ValueId v) { return v == value || flow_.through_branches(v) == value; });
  }

  const TritonProgram& program_;
  const LoopSite& loop_;
  const Flow flow_;
  TileGraph graph_;
  Error error_;
  std::map<mlir::OpId, std::size_t> index_;
  std::set<std::string> names_;
};

}  // namespace

Result<TileGraph> loop_graph(const TritonProgram& program, const LoopSite& loop) { return GraphBuilder(program, loop).build(); }

}  // namespace heddle::triton
