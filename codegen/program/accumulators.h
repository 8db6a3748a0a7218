// Tiles that live in tensor memory as long as the loop: their buffers, who fills them before it, and who reads them after it.
#pragma once

#include <vector>

#include "codegen/program/draft.h"
#include "core/analysis/pipeline_program.h"

namespace heddle::codegen {

/// A buffer for each of them.
void keep_accumulators(ProgramDraft& draft);
/// The wait is for what an op left in such a tile in this iteration or the one before.
bool awaits_accumulator(const ProgramDraft& draft, const PipelineLine& line);
/// Of a tcgen05 mma: refuses operands that lie where it cannot take them.
void check_operands(ProgramDraft& draft, OpId product, const Step& step);
/// RoleDraft::rewritten.
void note_rewritten(ProgramDraft& draft);

/// A fill of the prologue: by the role whose threads read it in the first iteration; nothing to do where only mmas add to it.
void fill_accumulator(ProgramDraft& draft, std::size_t prologue_op);
/// Per epilogue op, the role whose registers it needs; kNone: any with four warps.
std::vector<std::size_t> roles_for_tiles(const ProgramDraft& draft);
/// With four warps, to read what the loop left in tensor memory. May add a role.
std::size_t role_for_accumulator(ProgramDraft& draft, std::size_t value);
/// Barriers between the mmas of a tile, who reads their results after the loop, and the next tile's mmas.
void hand_over_accumulators(ProgramDraft& draft);

}  // namespace heddle::codegen
