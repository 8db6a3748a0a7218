#include "core/layout/chosen_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/json.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/layout/known.h"

namespace heddle {
namespace {

using Kind = InstructionKind;

/// The choice is how its registers go to another group, thread by thread.
bool hands_over(const TileOp& op) {
  constexpr std::array kOthers{"smem_store", "smem_load", "mma", "tma_load", "tma_store", "atomic_add", "load", "store", "gather"};
  return !op.outputs.empty() && std::find(kOthers.begin(), kOthers.end(), op.kind) == kOthers.end();
}

/// Among those kinds a choice is legal for ops of this kind.
std::vector<Kind> kinds_for(const TileOp& op) {
  if (op.kind == "smem_store") return {Kind::SharedStore, Kind::MatrixStore};
  if (op.kind == "smem_load") return {Kind::SharedLoad, Kind::MatrixLoad};
  if (op.kind == "mma") return {Kind::Product};
  if (op.kind == "tma_load" || op.kind == "tma_store" || op.kind == "atomic_add") return {Kind::BulkCopy};
  if (op.kind == "load") return {Kind::GlobalLoad, Kind::AsyncCopy};
  if (op.kind == "store") return {Kind::GlobalStore};
  if (hands_over(op)) return {Kind::SharedStore};
  return {};
}

}  // namespace

bool may_change_layout(const TileOp& op) { return op.kind == "copy" || op.kind == "convert"; }

bool suits(const TileOp& op, const Instruction& row) {
  const std::vector<Kind> kinds = kinds_for(op);
  return std::find(kinds.begin(), kinds.end(), row.kind) != kinds.end() && (!hands_over(op) || row.bytes % 4 == 0);
}

const InstructionChoice* chosen_instruction(const MeasuredKernel& of, const LayoutChoices& choices, const TileOp& op) {
  const auto it = choices.instructions.find(op.name);
  if (it == choices.instructions.end()) return nullptr;
  const Instruction* row = of.machine.find_instruction(it->second.name);
  return row && suits(op, *row) ? &it->second : nullptr;
}

void check_instructions(const MeasuredKernel& of, const LayoutChoices& choices, std::vector<Fault>& faults) {
  for (const auto& [name, choice] : choices.instructions) {
    const std::string pointer = pointer_to("/instructions", name);
    const TileOp* op = nullptr;
    std::vector<std::string> known;
    for (const TileOp& each : of.ops) {
      if (each.name == name) op = &each;
      if (!kinds_for(each).empty()) known.push_back(each.name);
    }
    if (!op) {
      std::string hint = did_you_mean(name, known);
      faults.push_back({{},
                        pointer,
                        fmt::format("kernel '{}' has no op '{}'", of.kernel.name, printable(name)),
                        !hint.empty()   ? std::move(hint)
                        : known.empty() ? "none of its ops has a choice of instructions"
                                        : "ops with a choice: " + list_of(known)});
      continue;
    }
    const Instruction* row = of.machine.find_instruction(choice.name);
    if (row && suits(*op, *row)) continue;
    if (choice.name == kInRegisters && may_change_layout(*op)) continue;
    std::vector<std::string> rows;
    for (const Instruction& each : of.machine.instructions)
      if (suits(*op, each)) rows.push_back(each.name);
    std::string hint = did_you_mean(choice.name, rows);
    const std::string all = rows.empty() ? "there is none to choose" : "it can be " + list_of(rows);
    faults.push_back({{},
                      pointer,
                      row ? fmt::format("'{}' ({}) cannot be written as {}", printable(name), op->kind, printable(choice.name))
                          : fmt::format("machine '{}' has no instruction '{}'", of.machine.name, printable(choice.name)),
                      hint.empty() ? all : hint + "; " + all});
  }
}

}  // namespace heddle
