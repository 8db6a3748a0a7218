// What runs once per tile after the loop: by which role, and its steps up to the store.
#pragma once

#include <optional>
#include <vector>

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// The role of every epilogue op: where its inputs are. `definer`: per value, the prologue's op.
void assign_epilogue(ProgramDraft& draft, const std::vector<std::size_t>& definer);
void lower_epilogue(ProgramDraft& draft);
/// Where an epilogue op reads an operand; nothing after a refusal.
std::optional<Place> epilogue_place(ProgramDraft& draft, std::size_t role, std::size_t epilogue_op, const Operand& in);

}  // namespace heddle::codegen
