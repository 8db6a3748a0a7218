// The passes over a draft, from what a kernel is made of to a program; those that prologue, epilogue, clusters and accumulators have to do
// with stand with these.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// What the kernel is made of, whether it can be written at all, and its buffers and roles, still without steps. `trips` replaces the
/// kernel's own number (build.h).
void begin_program(ProgramDraft& draft, std::optional<std::int64_t> trips);
/// The loop of every role: from the lines of the pipeline program to steps with places, barriers and cursors.
void lower_loops(ProgramDraft& draft);
/// Where boxes of TMA begin; refuses those that cannot.
void begin_boxes(ProgramDraft& draft);
/// A wgmma that adds up and whose registers nothing else touches in the loop is awaited only when the next one has been
/// issued, where the rings have the slots for it: the tensor core finds the next one queued.
void keep_one_in_flight(ProgramDraft& draft);
/// Which roles take turns on the tensor core.
void order_turns(ProgramDraft& draft);
/// Decides copies, and fills role.sections, role.stages and role.cursors. Of the program trips, buffers and barriers are known.
void cut_loops(ProgramDraft& draft);
/// The last pass: threads, shared memory and register budgets of a program whose roles are done.
void lay_out(ProgramDraft& draft);

/// All of them. `draft`: nothing done yet. `trips` replaces the kernel's own number.
BuildResult run_passes(ProgramDraft draft, std::optional<std::int64_t> trips);

}  // namespace heddle::codegen
