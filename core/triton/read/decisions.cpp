#include "core/triton/read/decisions.h"

#include <algorithm>
#include <charconv>

#include "core/triton/read/order.h"

namespace heddle::triton {
namespace {

std::optional<std::int64_t> integer_of(const mlir::Op& op, std::string_view name) {
  return op.find(name) ? std::optional(op.integer(name, 0)) : std::nullopt;
}

}  // namespace

std::vector<std::int64_t> partition_numbers(std::string_view text) {
  std::vector<std::int64_t> found;
  if (const std::size_t colon = text.find(':'); text.starts_with("array") && colon != std::string_view::npos) text.remove_prefix(colon + 1);
  for (std::size_t i = 0; i < text.size();) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (error != std::errc{}) {
      ++i;
      continue;
    }
    found.push_back(value);
    i = static_cast<std::size_t>(end - text.data());
    if (text.substr(i).starts_with(" :")) break;  // "0 : i32"
  }
  return found;
}

std::vector<std::int64_t> partitions_of_op(const mlir::Op& op) {
  const mlir::Attribute* attribute = op.find("ttg.partition");
  return attribute ? partition_numbers(attribute->value) : std::vector<std::int64_t>{};
}

bool apart(const std::vector<std::int64_t>& partitions, const std::vector<std::int64_t>& others) {
  return !partitions.empty() && !others.empty() &&
         std::find_first_of(partitions.begin(), partitions.end(), others.begin(), others.end()) == partitions.end();
}

Decisions decisions_of(const TritonProgram& program, const LoopSite& loop) {
  Decisions decisions;
  const mlir::Block* body = program.module->body(loop.op);
  if (!body) return decisions;
  for (const mlir::OpId id : body->ops) {
    const mlir::Op& op = program.module->op(id);
    decisions.ops.push_back(
        {stage_of(op), cluster_of(op), partitions_of_op(op), integer_of(op, "tt.latency"), integer_of(op, "tt.self_latency")});
  }
  decisions.max_stage = integer_of(program.module->op(loop.op), "tt.scheduled_max_stage");
  return decisions;
}

}  // namespace heddle::triton
