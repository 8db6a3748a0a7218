#include "core/triton/read/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/triton/read/decisions.h"
#include "core/triton/read/flow.h"
#include "core/triton/read/op_words.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

constexpr int kMostCarried = 64;  ///< of a value through carried arguments

/// Which op of the block an op lies in, itself or the one around it; invalid: none.
mlir::OpId lift(const mlir::Module& module, mlir::OpId op, mlir::RegionId region) {
  while (op.valid()) {
    const mlir::BlockId block = module.op(op).parent;
    if (!block.valid()) return {};
    if (module.block(block).parent == region) return op;
    op = module.around(op);
  }
  return {};
}

/// A token that only says "read before".
bool only_frees_storage(const TritonProgram& program, const mlir::Op& from, mlir::ValueId value) {
  const OpWord* word = find_op(from.name);
  // The token that an scf.if returns may come from a load or from a store: such tokens are not judged.
  const bool read = (word && word->role == OpRole::TensorLoad) || from.name == "scf.if";
  return read && program.type(value).tile.space == dump::TileType::Space::Token;
}

class EdgeFinder {
 public:
  EdgeFinder(const TritonProgram& program, const LoopSite& loop, bool overwrites)
      : program_(program), module_(*program.module), loop_(loop.op), block_(module_.body(loop.op)), overwrites_(overwrites) {}

  std::vector<SsaEdge> run() {
    if (!block_) return {};
    // A loop that carries nothing is printed without scf.yield.
    if (!block_->ops.empty() && module_.op(block_->ops.back()).name == "scf.yield") yielded_ = module_.op(block_->ops.back()).operands;
    // The first argument of the block is the loop's variable; the others are what was yielded an iteration ago.
    first_ = block_->arguments.size() - std::min(block_->arguments.size(), yielded_.size());
    const std::set<mlir::OpId> own(block_->ops.begin(), block_->ops.end());
    for (const mlir::OpId id : block_->ops) add_uses(id, module_.op(id));
    // What nested regions read; a region's ops come after the op that has it.
    for (std::size_t i = loop_.index() + 1; i < module_.ops.size() && module_.ops[i].span.end <= module_.op(loop_).span.end; ++i) {
      const mlir::OpId id(static_cast<std::uint32_t>(i));
      if (own.count(id)) continue;
      if (const mlir::OpId around = lift(module_, id, block_->parent); around.valid()) add_uses(around, module_.ops[i]);
    }
    return std::move(edges_);
  }

 private:
  void add_uses(mlir::OpId user, const mlir::Op& op) {
    if (module_.op(user).name == "scf.yield") return;
    for (mlir::ValueId value : op.operands) {
      int distance = 0;
      while (distance < kMostCarried && !module_.value(value).definer.valid() && module_.value(value).block.valid() &&
             module_.block(module_.value(value).block).parent == block_->parent) {
        const std::size_t index = module_.value(value).index;
        if (index < first_ || index - first_ >= yielded_.size()) break;
        value = yielded_[index - first_];
        ++distance;
      }
      const mlir::OpId from = lift(module_, module_.value(value).definer, block_->parent);
      if (!from.valid() || (from == user && distance == 0)) continue;
      if (only_frees_storage(program_, module_.op(from), value) != overwrites_) continue;
      const bool token = program_.type(value).tile.space == dump::TileType::Space::Token;
      const auto [known, fresh] = known_.emplace(std::tuple(from, user, distance), edges_.size());
      if (fresh)
        edges_.push_back({from, user, distance, token});
      else if (!token)
        edges_[known->second].token = false;
    }
  }

  const TritonProgram& program_;
  const mlir::Module& module_;
  const mlir::OpId loop_;
  const mlir::Block* block_;
  const bool overwrites_;
  std::vector<mlir::ValueId> yielded_;
  std::size_t first_ = 0;
  std::map<std::tuple<mlir::OpId, mlir::OpId, int>, std::size_t> known_;
  std::vector<SsaEdge> edges_;
};

/// Ops that use global memory, in the order of the text.
class MemoryOrder {
 public:
  MemoryOrder(const TritonProgram& program, const LoopSite& loop)
      : program_(program), module_(*program.module), loop_(loop.op), block_(module_.body(loop.op)) {}

  std::vector<SsaEdge> run() {
    if (!block_) return {};
    for (std::size_t i = 0; i < block_->ops.size(); ++i) place_[block_->ops[i]] = i;
    std::map<mlir::ValueId, std::vector<Use>> uses;
    std::size_t count = 0;
    for (std::size_t i = loop_.index() + 1; i < module_.ops.size() && module_.ops[i].span.end <= module_.op(loop_).span.end; ++i) {
      const mlir::Op& op = module_.ops[i];
      const mlir::OpId own = lift(module_, mlir::OpId(i), block_->parent);
      if (!own.valid() || op.operands.empty()) continue;
      for (const mlir::ValueId value : op.operands)
        if (const mlir::OpId made = module_.value(value).definer; made.valid()) readers_[made].insert(own);
      const OpWord* word = find_op(op.name);
      if (!word || ++count > kMostUses) continue;
      switch (word->role) {
        case OpRole::PointerLoad:
        case OpRole::DescriptorLoad:
        case OpRole::Gather: uses[root_of(op.operands.front())].push_back({own, mlir::OpId(i), false, moves(op)}); break;
        case OpRole::PointerStore:
        case OpRole::DescriptorStore:
        case OpRole::DescriptorReduce:
        case OpRole::Atomic: uses[root_of(op.operands.front())].push_back({own, mlir::OpId(i), true, moves(op)}); break;
        default: --count;
      }
    }
    for (const auto& [root, all] : uses)
      for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = a + 1; b < all.size(); ++b) {
          if (all[a].op == all[b].op || (!all[a].writes && !all[b].writes)) continue;
          after(all[a], all[b], 0);
          if (!all[a].moves && !all[b].moves) after(all[b], all[a], 1);
        }
    return std::move(edges_);
  }

 private:
  static constexpr std::size_t kMostUses = 256;  ///< a loop with more is no kernel
  struct Use {
    mlir::OpId op, inner;
    bool writes, moves;
  };

  void after(const Use& first, const Use& second, int distance) {
    add(first.op, second.op, distance);
    if (first.writes) return;
    // It is loaded when its first reader has waited for it.
    for (const mlir::OpId reader : readers_[first.inner])
      if (reader != second.op && place_.contains(reader) && (distance > 0 || place_.at(reader) < place_.at(second.op)))
        add(reader, second.op, distance);
  }

  void add(mlir::OpId from, mlir::OpId to, int distance) {
    SsaEdge edge{from, to, distance};
    edge.memory = true;
    edges_.push_back(edge);
  }

  /// The argument or op that an address comes from, through offsets and from before the loops that advance it.
  mlir::ValueId root_of(mlir::ValueId value) const {
    for (int step = 0; step < kMostCarried; ++step) {
      const mlir::Value& known = module_.value(value);
      if (known.definer.valid()) {
        const mlir::Op& op = module_.op(known.definer);
        const std::string name = present_name(op.name);
        const bool passes = name == "tt.addptr" || name == "tt.splat" || name == "tt.broadcast" || name == "tt.expand_dims" ||
                            name == "tt.bitcast" || name == "ttg.convert_layout" || name == "tt.make_tensor_descriptor";
        if (!passes || op.operands.empty()) return value;
        value = op.operands.front();
        continue;
      }
      const mlir::OpId around = known.block.valid() ? module_.region(module_.block(known.block).parent).parent : mlir::OpId{};
      if (!around.valid() || module_.op(around).name != "scf.for" || known.index == 0) return value;
      const mlir::Op& loop = module_.op(around);
      if (known.index + 2 >= loop.operands.size()) return value;
      value = loop.operands[known.index + 2];
    }
    return value;
  }

  /// Whether an op's address can be another one in the next iteration: of pointers the first operand, of descriptors all that is no tile.
  bool moves(const mlir::Op& op) {
    const bool descriptor = program_.type(op.operands.front()).descriptor;
    for (std::size_t k = 0; k < (descriptor ? op.operands.size() : 1); ++k)
      if (!is_number_tile(program_.type(op.operands[k])) && changes(op.operands[k])) return true;
    return false;
  }

  bool changes(mlir::ValueId value) {
    std::vector<mlir::ValueId> open{value};
    std::set<mlir::ValueId> seen;
    while (!open.empty()) {
      const mlir::ValueId each = open.back();
      open.pop_back();
      if (!seen.insert(each).second) continue;
      const mlir::Value& known = module_.value(each);
      if (!known.definer.valid()) {
        if (known.block.valid() && module_.region(module_.block(known.block).parent).parent == loop_) return true;
        continue;
      }
      if (!lift(module_, known.definer, block_->parent).valid()) continue;
      const mlir::Op& op = module_.op(known.definer);
      const OpWord* word = find_op(op.name);
      if (!op.regions.empty() || (word && word->role == OpRole::PointerLoad)) return true;
      open.insert(open.end(), op.operands.begin(), op.operands.end());
    }
    return false;
  }

  const TritonProgram& program_;
  const mlir::Module& module_;
  const mlir::OpId loop_;
  const mlir::Block* block_;
  std::map<mlir::OpId, std::size_t> place_;
  std::map<mlir::OpId, std::set<mlir::OpId>> readers_;
  std::vector<SsaEdge> edges_;
};

/// Between two partitions barriers keep the order, whatever the stages say; where Triton carries partitions out.
bool kept_by_barriers(const TritonProgram& program, const mlir::Op& a, const mlir::Op& b) {
  if (program.target < 100) return false;
  const auto listed = [](const mlir::Op& op) {
    const mlir::Attribute* attribute = op.find("ttg.partition");
    return attribute && attribute->value.starts_with("array");
  };
  if (!listed(a) || !listed(b)) return false;
  return apart(partitions_of_op(a), partitions_of_op(b));
}

std::string step_words(std::int64_t steps) {
  return steps == 1 ? "of the iteration before" : fmt::format("of {} iterations before", steps);
}

}  // namespace

std::vector<SsaEdge> memory_edges_of(const TritonProgram& program, const LoopSite& loop) { return MemoryOrder(program, loop).run(); }

std::vector<SsaEdge> edges_of(const TritonProgram& program, const LoopSite& loop) { return EdgeFinder(program, loop, false).run(); }

std::vector<SsaEdge> overwrites_of(const TritonProgram& program, const LoopSite& loop) {
  std::vector<SsaEdge> edges = EdgeFinder(program, loop, true).run();
  std::erase_if(edges, [&](const SsaEdge& edge) { return program.module->op(edge.from).name == "scf.if"; });
  return edges;
}

bool runs_before(const Position& to, int distance, const Position& from) {
  return Position{to.stage + distance, to.cluster, to.place} < from;
}

std::vector<BrokenOrder> broken_orders(const TritonProgram& program, const LoopSite& loop, const std::vector<SsaEdge>& edges) {
  std::vector<BrokenOrder> broken;
  const mlir::Module& module = *program.module;
  const mlir::Block* block = module.body(loop.op);
  if (!block) return broken;
  std::map<mlir::OpId, std::size_t> place;
  for (std::size_t i = 0; i < block->ops.size(); ++i) place[block->ops[i]] = i;
  for (const SsaEdge& e : edges) {
    const mlir::Op &from = module.op(e.from), &to = module.op(e.to);
    const auto stage_from = stage_of(from), stage_to = stage_of(to);
    if (!stage_from || !stage_to || (!e.memory && kept_by_barriers(program, from, to))) continue;
    const Position first{*stage_from, cluster_of(from).value_or(0), place.at(e.from)},
        second{*stage_to, cluster_of(to).value_or(0), place.at(e.to)};
    // An op that reads its own result of the iteration before stands where it stands.
    if (e.from == e.to || !runs_before(second, e.distance, first)) continue;
    const std::int64_t ahead = second.stage + e.distance - first.stage;  ///< steps between the two
    if (e.memory) {
      broken.push_back({e, 1 - ahead,
                        fmt::format("{} runs before {}{}: the same memory is used, and it has to come behind it", describe_op(program, to),
                                    describe_op(program, from), e.distance > 0 ? " of the iteration before" : "")});
      continue;
    }
    const std::string what =
        ahead < 0
            ? fmt::format("stage {}, but what it reads is made in stage {}{}", second.stage, first.stage,
                          e.distance > 0
                              ? fmt::format(" of {} before", e.distance == 1 ? "the iteration" : fmt::format("{} iterations", e.distance))
                              : "")
        : second.cluster < first.cluster
            ? fmt::format("cluster {} runs before cluster {} of what it reads, in the same step", second.cluster, first.cluster)
            : std::string("it stands before what it reads, in the same step and cluster");
    // A reader that comes k steps too early finds what was made k iterations earlier; in the same step one.
    broken.push_back(
        {e, 1 - ahead, fmt::format("{} gets {} {}: {}", describe_op(program, to), name_of(program, from), step_words(1 - ahead), what)});
  }
  return broken;
}

std::optional<std::int64_t> stage_of(const mlir::Op& op) {
  return op.find("loop.stage") ? std::optional(op.integer("loop.stage", 0)) : std::nullopt;
}

std::optional<std::int64_t> cluster_of(const mlir::Op& op) {
  return op.find("loop.cluster") ? std::optional(op.integer("loop.cluster", 0)) : std::nullopt;
}

}  // namespace heddle::triton
