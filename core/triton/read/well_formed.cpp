#include "core/triton/read/well_formed.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kMostMalformed = 64;

struct Needs {
  std::size_t operands = 0, results = 0;
};

std::size_t highest_argument(std::string_view expression) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < expression.size(); ++i)
    if (expression[i] == 'x' && expression[i + 1] >= '0' && expression[i + 1] <= '9' &&
        (i == 0 || expression[i - 1] < 'a' || expression[i - 1] > 'z'))
      count = std::max(count, static_cast<std::size_t>(expression[i + 1] - '0') + 1);
  return count;
}

Needs needs_of(const mlir::Op& op) {
  const std::string name = present_name(op.name);
  const OpWord* word = find_op(op.name);
  if (!word) return {};
  const bool copies = name.starts_with("ttng.async_tma_") || name == "ttg.async_copy_global_to_local";
  switch (word->role) {
    case OpRole::Elements: return {std::max<std::size_t>(1, highest_argument(expression_of(op))), 1};
    case OpRole::Convert:
    case OpRole::TensorLoad:
    case OpRole::SharedLoad:
    case OpRole::View:
    case OpRole::Reduce: return {1, 1};
    case OpRole::DescriptorLoad:
    case OpRole::Gather:
    case OpRole::PointerLoad: return copies ? Needs{2, 0} : Needs{1, 1};
    case OpRole::DescriptorStore:
    case OpRole::DescriptorReduce:
    case OpRole::PointerStore:
    case OpRole::TensorStore:
    case OpRole::SharedStore: return {2, 0};
    case OpRole::Atomic: return {2, 1};
    case OpRole::Product: return {3, 1};
    case OpRole::TensorProduct: return {3, 0};
    case OpRole::TensorAlloc:
    case OpRole::SharedAlloc:
    case OpRole::Constant: return {0, 1};
    case OpRole::Index:
      if (name.starts_with("arith.")) {
        const bool one = name.starts_with("arith.ext") || name == "arith.trunci" || name == "arith.index_cast";
        return {one ? 1u : 2u, 1};
      }
      if (name == "tt.addptr") return {2, 1};
      return {0, name == "ttng.tensormap_create" ? 0u : 1u};
    case OpRole::Opaque: return {1, 1};
    case OpRole::Refused: return Needs{};
    case OpRole::Sync:
    case OpRole::Control: break;
  }
  return {};
}

class Inspector {
 public:
  explicit Inspector(const mlir::Module& module) : module_(module) {}

  std::vector<Fault> inspect() {
    for (std::size_t i = 0; i < module_.ops.size() && faults_.size() < kMostMalformed; ++i) {
      const mlir::Op& op = module_.ops[i];
      const Needs needs = needs_of(op);
      if (op.operands.size() < needs.operands)
        fault(op, fmt::format("needs {}, and has {}", count_of(static_cast<std::int64_t>(needs.operands), "operand"), op.operands.size()));
      if (op.results.size() < needs.results) fault(op, "gives a value, and none is named");
      if (op.name == "scf.for") inspect_for(mlir::OpId(i), op);
      if (op.name == "scf.if") inspect_if(op);
      if (op.name == "tt.reduce") inspect_reduce(op);
      if (op.name == "ttg.warp_specialize") inspect_groups(op);
    }
    return std::move(faults_);
  }

 private:
  void fault(const mlir::Op& op, std::string what) {
    if (faults_.size() >= kMostMalformed) return;
    faults_.push_back(
        {module_.file, fmt::format("{}", op.line), fmt::format("{} {}", op.name, what), "MLIR does not print such a text; was it edited?"});
  }

  /// The last op of the block, if it ends the region.
  const mlir::Op* end_of(const mlir::Block& block, std::string_view name) const {
    if (block.ops.empty()) return nullptr;
    const mlir::Op& last = module_.op(block.ops.back());
    return last.name == name ? &last : nullptr;
  }

  void inspect_for(mlir::OpId id, const mlir::Op& op) {
    const mlir::Block* body = module_.body(id);
    if (!body || op.regions.size() != 1 || module_.region(op.regions[0]).blocks.size() != 1) return fault(op, "has no body of one block");
    if (op.operands.size() < 3) return fault(op, "needs a lower bound, an upper bound and a step");
    const std::size_t carried = op.operands.size() - 3;
    if (body->arguments.size() != carried + 1)
      return fault(op, fmt::format("begins with {} carried values, and its body takes {}", carried,
                                   body->arguments.empty() ? 0 : body->arguments.size() - 1));
    if (op.results.size() != carried) return fault(op, fmt::format("carries {} values, and gives {}", carried, op.results.size()));
    const mlir::Op* yield = end_of(*body, "scf.yield");
    if (carried > 0 && (!yield || yield->operands.size() != carried))
      fault(op, fmt::format("carries {} values, and its body does not yield as many", carried));
    if (carried == 0 && yield && !yield->operands.empty()) fault(op, "carries nothing, and its body yields values");
  }

  void inspect_if(const mlir::Op& op) {
    if (op.operands.empty() || op.regions.empty()) return fault(op, "needs a condition and a region");
    if (op.results.empty()) return;
    for (const mlir::RegionId region : op.regions) {
      const mlir::Op* yield =
          module_.region(region).blocks.empty() ? nullptr : end_of(module_.block(module_.region(region).blocks.front()), "scf.yield");
      if (!yield || yield->operands.size() != op.results.size())
        return fault(op, fmt::format("gives {} values, and a region of it does not yield as many", op.results.size()));
    }
    if (op.regions.size() != 2) fault(op, "gives values, and has no region for else");
  }

  void inspect_reduce(const mlir::Op& op) {
    if (op.regions.size() != 1 || module_.region(op.regions[0]).blocks.empty())
      return fault(op, "has no region that says how to combine two values");
    if (module_.block(module_.region(op.regions[0]).blocks.front()).arguments.size() != 2 * op.operands.size())
      fault(op, "combines two values of each operand, and its region takes another number");
  }

  void inspect_groups(const mlir::Op& op) {
    for (const mlir::RegionId id : op.regions) {
      const mlir::Region& region = module_.region(id);
      if (region.label.starts_with("partition") &&
          (region.blocks.empty() || module_.block(region.blocks.front()).arguments.size() != op.operands.size()))
        fault(op, fmt::format("hands {} values to its groups, and {} takes another number", op.operands.size(), region.label));
    }
  }

  const mlir::Module& module_;
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> malformed_ops(const mlir::Module& module) { return Inspector(module).inspect(); }

}  // namespace heddle::triton
