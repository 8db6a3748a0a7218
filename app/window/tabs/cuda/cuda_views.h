// Parts of the CUDA tab: the text, and what is known of it.
#pragma once

#include <string>

#include "app/jobs/kernel_job.h"
#include "app/session/session.h"

namespace heddle::app {

class Command;  // app/session/command.h
struct Models;
struct UiState;

/// A text, over what is left of the window. `old`: it is not that of the shown schedule.
void draw_source(const Session& session, const Models& models, UiState& ui, const SourceModel& source, bool old);
/// How the kernel is written: a row of choices, each greyed with its reason where this kernel cannot have it.
void draw_kernel_options(const Session& session, UiState& ui);
/// Build, check, and the lines of the selected op; null: there is no text.
void draw_kernel_facts(const Session& session, UiState& ui, const KernelText* text);
/// Rules that stand in the way, each with the demand that avoids it and a button that does `again`. `name` is the probe's.
void draw_refusals(const std::string& name, const Session& session, UiState& ui, const std::vector<codegen::Refusal>& refusals,
                   const Command& again);

/// To the next (+1) or previous (-1) lines of the selected op.
void step_source(const Session& session, UiState& ui, int direction);
/// Why that cannot be done; empty when it can.
std::string why_no_source_step(const Session& session);

}  // namespace heddle::app
