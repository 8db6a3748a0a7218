#include "codegen/program/draft.h"

#include <algorithm>
#include <utility>

#include "codegen/program/pieces.h"
#include "core/kernel/op_kind.h"

namespace heddle::codegen {
namespace {

int registers_of(const ProgramDraft& draft, std::size_t value, std::size_t role) {
  if (draft.body_value[value].valid() && draft.program.blackwell() && pieces_at_once(draft, value) > 1 &&
      draft.problem.value(draft.body_value[value]).registers > 0 && draft.kernel.values[value].shape.size() == 2)
    return static_cast<int>(registers_per_thread(*draft.tiles[value], std::int64_t{4} * kThreadsPerWarp)) / pieces_of_value(draft, value);
  if (draft.body_value[value].valid()) return draft.problem.value(draft.body_value[value]).registers;
  if (const auto& given = draft.kernel.values[value].registers)
    if (const auto number = given->evaluate(draft.problem.params); number.ok())
      return static_cast<int>(std::clamp<std::int64_t>(*number, 0, 255));
  return static_cast<int>(
      std::min<std::int64_t>(registers_per_thread(*draft.tiles[value], std::int64_t{draft.warps_of(role)} * kThreadsPerWarp), 4096));
}

/// Nothing else reads what is masked.
bool masked_in_place(const ProgramDraft& draft, const TileOp& mask) {
  const Operand& in = mask.inputs[0];
  if (in.distance > 0) return false;
  for (const auto* list : {&draft.kernel.body, &draft.kernel.epilogue})
    for (const TileOp& op : *list)
      for (const Operand& other : op.inputs)
        if (&op != &mask && other.value == in.value) return false;
  return true;
}

}  // namespace

void ProgramDraft::refuse(std::string rule, std::vector<std::string> ops, std::string sentence, std::optional<UserConstraint> constraint) {
  for (const Refusal& r : refusals)
    if (r.rule == rule && r.ops == ops) return;
  refusals.push_back(refusal(std::move(rule), std::move(ops), std::move(sentence), std::move(constraint)));
}

bool ProgramDraft::uses_tensor_memory() const {
  return std::any_of(kernel.values.begin(), kernel.values.end(), [](const TileValue& v) { return v.space == Space::Tmem; });
}

Engine ProgramDraft::engine_of(OpId op) const {
  const Op& o = problem.op(op);
  if (!o.asynchronous) return Engine::None;
  if (is_async_load(body(op))) return Engine::Load;
  if (o.kind.starts_with("mma")) return Engine::Mma;
  if (o.kind.starts_with("tma_load") || o.kind.starts_with("gather")) return Engine::Load;
  return Engine::Store;
}

std::size_t ProgramDraft::add_barrier(bool full, std::size_t buffer, std::size_t value, int arrivals, std::int64_t bytes) {
  program.barriers.push_back({full, buffer, value, arrivals, bytes > 0 ? std::max(bytes, kLeastBoxBytes) : 0});
  if (!full) program.buffers[buffer].empty = program.barriers.size() - 1;
  if (full) full_of[value] = program.barriers.size() - 1;
  return program.barriers.size() - 1;
}

std::size_t ProgramDraft::variable(std::size_t role, std::size_t value, const Piece& piece) {
  if (piece.number % 2 == 1) {  // two pieces at a time: one arrives while the other is worked on
    std::size_t& other = other_piece[{role, value}];
    if (other == 0) {
      Variable made = roles[role].role.variables[variable(role, value)];
      made.name += "_next";
      other = roles[role].role.variables.size();
      roles[role].role.variables.push_back(std::move(made));
      roles[role].by_mma.push_back(false);
      roles[role].chained.push_back(false);
    }
    return other;
  }
  std::size_t& known = variable_of[role][value];
  if (known != kNone) return known;
  RoleDraft& role_draft = roles[role];
  for (const auto* list : {&kernel.body, &kernel.prologue, &kernel.epilogue})
    for (const TileOp& op : *list) {
      if (op.kind == "mask" && !op.outputs.empty() && masked_in_place(*this, op)) {
        const std::size_t out = value_index(op.outputs[0]), in = value_index(op.inputs[0].value);
        const std::size_t partner = out == value ? in : in == value ? out : kNone;
        if (partner != kNone && variable_of[role][partner] != kNone) return known = variable_of[role][partner];
      }
      if (op.kind != "mma" || op.inputs.size() < 3 || op.outputs.empty()) continue;
      const std::size_t out = value_index(op.outputs[0]), sum = value_index(op.inputs[2].value);
      const std::size_t partner = out == value ? sum : sum == value ? out : kNone;
      if (partner != kNone && partner != value && variable_of[role][partner] != kNone) return known = variable_of[role][partner];
    }
  Variable made;
  made.name = kernel.values[value].name;
  made.value = value;
  made.registers = registers_of(*this, value, role);
  known = role_draft.role.variables.size();
  role_draft.role.variables.push_back(made);
  role_draft.by_mma.push_back(false);
  role_draft.chained.push_back(false);
  return known;
}

Step tile_step(StepKind kind, OpRef op, Engine engine) {
  Step step;
  step.kind = kind;
  step.op = op;
  step.engine = engine;
  return step;
}

Step on_barrier(StepKind kind, OpRef op, std::size_t barrier, int count) {
  Step step = tile_step(kind, op);
  step.barrier = barrier;
  step.cursor = 1;
  step.count = count;
  return step;
}

}  // namespace heddle::codegen
