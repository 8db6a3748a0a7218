// Instructions are counted per element as a compiler would write them, and divided by the lanes of the pipe that runs them.
#include "core/triton/kernel/opaque.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/integer_division.h"
#include "core/base/scanner.h"
#include "core/base/text_style.h"
#include "core/kernel/map_expression.h"
#include "core/triton/kernel/outside.h"
#include "core/triton/read/data.h"

namespace heddle::triton {
namespace {

/// Lanes of an SM, as in the machine files, and cycles until a dependent instruction.
constexpr std::int64_t kFloatLanes = 128, kIntegerLanes = 64, kSpecialLanes = 16, kPipeline = 6, kSpecialPipeline = 40;

struct Work {
  std::int64_t fma = 0, alu = 0, mufu = 0;  ///< instructions of all elements
};

/// Statements of inline assembly, each an instruction of `pack` elements.
std::int64_t statements(const mlir::Op& op) {
  const mlir::Attribute* text = op.find("asm_string");
  const std::string_view words = text ? std::string_view(text->value) : std::string_view(op.words);
  return std::max<std::int64_t>(1, std::ranges::count(words, ';'));
}

Work work_of_node(const LoopText& text, const mlir::Op& op) {
  std::int64_t elements = 1;
  for (const mlir::ValueId v : op.results) elements = std::max(elements, text.program.type(v).tile.elements());
  for (const mlir::ValueId v : op.operands) elements = std::max(elements, text.program.type(v).tile.elements());
  Work work;
  const OpWord* word = find_op(op.name);
  if (word && word->role == OpRole::Opaque) {
    std::int64_t each = read_number<std::int64_t>(word->words).value_or(1);
    if (op.name == "tt.elementwise_inline_asm") each = ceil_div(statements(op), std::max<std::int64_t>(1, op.integer("packed_element", 1)));
    work.alu = each * elements;
    return work;
  }
  const std::string expression = expression_in(text.program, op);
  const auto parsed = MapExpression::parse(expression.empty() ? "x0" : expression, MapExpression::kMostInputs);
  if (!parsed) return work;
  const MapExpression::Counts counts = parsed->counts();
  return {counts.fma * elements, counts.alu * elements, counts.mufu * elements};
}

void add_input(LoopKernelDraft& draft, std::vector<Operand>& inputs, const ValueSource& source) {
  std::string name;
  if (const auto second = draft.second_results.find(source.value); second != draft.second_results.end())
    name = second->second;
  else if (const auto made = draft.in_registers.find(source.op); made != draft.in_registers.end())
    name = made->second;
  else if (const auto kept = draft.in_memory.find(source.op); kept != draft.in_memory.end())
    name = kept->second;
  if (name.empty()) return;  // numbers, offsets, what is the same in every turn
  if (source.distance > 0) ensure_initial(draft, name, source.initial);
  const Operand operand{name, source.distance};
  const auto same = [&](const Operand& in) { return in.value == operand.value && in.distance == operand.distance; };
  if (std::ranges::none_of(inputs, same)) inputs.push_back(operand);
}

}  // namespace

void add_opaque(LoopKernelDraft& draft, const std::vector<std::size_t>& nodes, const std::string& why) {
  const LoopText& text = draft.text;
  Work work;
  std::vector<Operand> inputs;
  for (const std::size_t n : nodes) {
    const Work own = work_of_node(text, text.op(n));
    work.fma += own.fma, work.alu += own.alu, work.mufu += own.mufu;
    for (const mlir::ValueId operand : text.op(n).operands) {
      const ValueSource source = text.flow.source(operand);
      const bool inner =
          source.distance == 0 && std::ranges::any_of(nodes, [&](std::size_t m) { return text.graph.nodes[m].op == source.op; });
      if (source.op.valid() && !inner) add_input(draft, inputs, source);
    }
  }
  if (!draft.error.faults.empty()) return;
  const mlir::Op& last = text.op(nodes.back());
  std::vector<std::string> outputs{draft.in_registers.at(text.graph.nodes[nodes.back()].op)};
  for (std::size_t k = 1; k < last.results.size(); ++k)
    if (const auto second = draft.second_results.find(last.results[k]); second != draft.second_results.end())
      outputs.push_back(second->second);
  const std::string name = outputs.front();
  TileOp& made = draft.add_op({KernelPart::Body, last}, name, "opaque", std::move(inputs), std::move(outputs));
  const std::int64_t fma = ceil_div(work.fma, kFloatLanes), alu = ceil_div(work.alu, kIntegerLanes),
                     mufu = ceil_div(work.mufu, kSpecialLanes);
  CostOverride& cost = made.cost.emplace();
  std::vector<UnitCost>& uses = cost.uses.emplace();
  for (const auto& [unit, cycles] : {std::pair{"FMA", fma}, std::pair{"ALU", alu}, std::pair{"MUFU", mufu}})
    if (cycles > 0) uses.push_back({unit, Expr(0), Expr(cycles), Expr(1), Expr(0)});
  const std::int64_t issue = std::max({std::int64_t{4}, ceil_div(work.fma + work.alu + work.mufu, kFloatLanes), alu, mufu});
  cost.latency = Expr(issue + (mufu > 0 ? kSpecialPipeline : kPipeline));
  cost.window = Expr(issue);
  draft.scalars.note(fmt::format("line {}: {}; what it computes is not modelled, its work is taken as {} cycles", last.line, why, issue));
}

}  // namespace heddle::triton
