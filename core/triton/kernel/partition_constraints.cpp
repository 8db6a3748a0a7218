#include "core/triton/kernel/partition_constraints.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/triton/kernel/partition_flow.h"
#include "core/triton/memory/pipeline.h"

namespace heddle::triton {
namespace {

/// Sets of ops that only grow together.
class Together {
 public:
  explicit Together(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

class Rules {
 public:
  Rules(const TritonProgram& program, const Native& native, const Problem& problem)
      : program_(program), native_(native), problem_(problem), together_(problem.ops.size()) {}

  Constraints run() {
    if (!can_be_specialized()) {
      UserConstraint one =
          constraint(ConstraintKind::MaxGroups, "Triton specializes only loops with loads by descriptor and 4, 8 ... warps");
      one.high = 1;
      return {one};
    }
    find_accumulators();
    join_registers();
    std::map<std::size_t, std::vector<std::string>> sets;
    for (std::size_t i = 0; i < problem_.ops.size(); ++i)
      if (by_warps(i)) sets[together_.find(i)].push_back(problem_.ops[i].name);
    for (auto& [root, names] : sets) {
      if (names.size() < 2) continue;
      UserConstraint same = constraint(ConstraintKind::SameGroup, "work in registers that hangs together stays in one partition");
      same.ops = std::move(names);
      rules_.push_back(std::move(same));
    }
    products_apart();
    loads_apart();
    return std::move(rules_);
  }

 private:
  static UserConstraint constraint(ConstraintKind kind, std::string name) {
    UserConstraint made;
    made.kind = kind;
    made.name = std::move(name);
    return made;
  }

  const mlir::Op* text_of(std::size_t i) const {
    return native_.origins[i].of.empty() ? nullptr : &program_.module->op(native_.origins[i].of.back());
  }

  /// Neither a copy by hardware nor an mma: work of all threads of a group.
  bool by_warps(std::size_t i) const {
    const std::string& kind = problem_.ops[i].kind;
    return kind != "mma" && kind != "tma_load" && kind != "gather" && kind != "opaque";
  }

  /// Invalid: not known.
  mlir::OpId root() const {
    if (native_.origins.empty() || native_.origins.front().of.empty()) return {};
    return specialized_loop(program_, program_.module->around(native_.origins.front().of.front()));
  }

  bool asks_for_partitions() const { return program_.module->op(root()).find("tt.warp_specialize") != nullptr; }

  bool can_be_specialized() const {
    if (program_.num_warps % 4 != 0 || !root().valid()) return false;
    const mlir::Span all = program_.module->op(root()).span;
    return std::any_of(program_.module->ops.begin(), program_.module->ops.end(), [&](const mlir::Op& op) {
      return is_descriptor_load(op.name) && op.span.begin >= all.begin && op.span.end <= all.end;
    });
  }

  void find_accumulators() {
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) {
      const mlir::Op* op = text_of(i);
      if (!op || !touches_tensor_memory(op->name)) continue;
      const mlir::ValueId storage = tensor_storage(program_, *op);
      if (!storage.valid()) continue;
      if (const auto known = users_.find(storage); known != users_.end()) together_.join(known->second, i);
      users_.emplace(storage, i);
    }
  }

  /// What lies between the load and the store of one accumulator is a piece of work of its own; the rest hangs together by its values.
  void join_registers() {
    std::vector<bool> piece(problem_.ops.size(), false);
    for (const auto& [storage, user] : users_) {
      const std::size_t root = together_.find(user);
      std::set<std::size_t> from, to;
      for (std::size_t i = 0; i < problem_.ops.size(); ++i)
        if (by_warps(i) && together_.find(i) == root) {
          if (problem_.ops[i].kind == "tmem_load") reach(i, true, from);
          if (problem_.ops[i].kind == "tmem_store") reach(i, false, to);
        }
      for (const std::size_t i : from)
        if (to.count(i)) {
          piece[i] = true;
          together_.join(i, user);
        }
    }
    for (const Edge& edge : problem_.edges) {
      const std::size_t a = edge.from.index(), b = edge.to.index();
      if (in_registers(edge) && !piece[a] && !piece[b]) together_.join(a, b);
    }
    // A piece that hands something back to the work that it comes from belongs to it.
    for (bool more = true; more;) {
      more = false;
      std::set<std::pair<std::size_t, std::size_t>> flows;
      for (const Edge& edge : problem_.edges)
        if (in_registers(edge)) flows.emplace(together_.find(edge.from.index()), together_.find(edge.to.index()));
      for (const auto& [a, b] : flows)
        if (a != b && flows.count({b, a})) {
          together_.join(a, b);
          more = true;
          break;
        }
    }
  }

  /// An mma between the load and the store of an accumulator in one partition waits for itself there, since Triton takes the accumulator
  /// back before it stores it.
  void products_apart() {
    std::set<std::size_t> roots;
    for (const auto& [storage, user] : users_) roots.insert(together_.find(user));
    for (const std::size_t root : roots)
      for (std::size_t i = 0; i < problem_.ops.size(); ++i)
        if (problem_.ops[i].kind == "mma") {
          UserConstraint apart = constraint(ConstraintKind::DifferentGroup, "mmas have a partition without work on accumulators");
          apart.ops = {problem_.ops[root].name, problem_.ops[i].name};
          rules_.push_back(std::move(apart));
        }
  }

  /// An mma is in flight only where barriers say when its operands may be overwritten: between partitions. One that reads what its own
  /// partition loads is waited for at once. A loop that need not be specialized may run as it is, in one stream.
  /// Nor is it loaded beside work on tensor memory, to which Triton 3.9 leaves too few warps if a copy comes last.
  void loads_apart() {
    const bool one_stream = users_.empty() && !asks_for_partitions();
    std::set<std::size_t> roots;
    for (const auto& [storage, user] : users_) roots.insert(together_.find(user));
    for (const Channel& channel : problem_.channels) {
      if (one_stream || problem_.op(channel.writer).kind != "tma_load") continue;
      for (const std::size_t root : roots) {
        UserConstraint apart = constraint(ConstraintKind::DifferentGroup, "copies have a partition without work on tensor memory");
        apart.ops = {problem_.op(channel.writer).name, problem_.ops[root].name};
        rules_.push_back(std::move(apart));
      }
      for (const Reader& reader : channel.readers) {
        if (problem_.op(reader.op).kind != "mma") continue;
        UserConstraint apart = constraint(ConstraintKind::DifferentGroup,
                                          "what an mma reads is loaded in another partition: else Triton waits for the mma at once");
        apart.ops = {problem_.op(channel.writer).name, problem_.op(reader.op).name};
        rules_.push_back(std::move(apart));
      }
    }
  }

  bool in_registers(const Edge& edge) const {
    return by_warps(edge.from.index()) && by_warps(edge.to.index()) && edge.value.valid() &&
           problem_.value(edge.value).space == Space::Register;
  }

  void reach(std::size_t op, bool forward, std::set<std::size_t>& found) const {
    if (!found.insert(op).second) return;
    for (const Edge& edge : problem_.edges)
      if (edge.distance == 0 && in_registers(edge) && (forward ? edge.from : edge.to).index() == op)
        reach((forward ? edge.to : edge.from).index(), forward, found);
  }

  const TritonProgram& program_;
  const Native& native_;
  const Problem& problem_;
  Together together_;
  std::map<mlir::ValueId, std::size_t> users_;  ///< one op that loads or stores it by warps
  Constraints rules_;
};

}  // namespace

Constraints partition_constraints(const TritonProgram& program, const Native& native, const Problem& problem) {
  return Rules(program, native, problem).run();
}

}  // namespace heddle::triton
