// Tiles of which a thread holds a piece at a time, on Blackwell: the chains of ops that work on one piece after the other, and where
// signals stand among them.
#pragma once

#include <vector>

#include "codegen/program/draft.h"
#include "core/analysis/pipeline_program.h"

namespace heddle::codegen {

/// Values that a thread holds a piece of at a time: in how many pieces; 1: at once.
int pieces_of_value(const ProgramDraft& draft, std::size_t value);
int pieces_at_once(const ProgramDraft& draft, std::size_t value);

struct PieceLine {
  PipelineLine line;
  Piece piece;
};
/// A role's lines, with chains of ops that work in pieces where the last of them stands, piece by piece. What frees or tells of what
/// they read and make follows them.
std::vector<PieceLine> put_chains_together(ProgramDraft& draft, const std::vector<PipelineLine>& lines);

/// Who reads a slot of tensor memory and then writes another value there (P over S) frees it after that.
std::vector<PipelineLine> free_after_writing(const ProgramDraft& draft, std::vector<PipelineLine> lines);
/// A signal that is due while a later op is still being issued comes before that op where this costs less than coming after it.
std::vector<PipelineLine> tell_early(const ProgramDraft& draft, std::vector<PipelineLine> lines);

}  // namespace heddle::codegen
