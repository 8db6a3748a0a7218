// What is shown of an open Triton kernel beside the chart: in the inspector, where an op comes from; beside the chart, the compiler's text,
// which is read and not written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/session.h"
#include "app/window/kit/code_field.h"
#include "app/window/parts/ttgir_tokens.h"
#include "core/triton/memory/memory.h"
#include "core/triton/read/program.h"

namespace heddle::app {

struct UiState;
struct TritonOpModel;

struct TritonPaneState {
  // Of the text.
  std::shared_ptr<const triton::TritonProgram> program;  ///< whose text `field` holds
  CodeField field;
  std::vector<TtgirToken> tokens;
  std::string followed;       ///< the op that was last brought into view
  std::optional<int> wanted;  ///< this line, from 1, is to come into view
  // Of the inspector.
  std::shared_ptr<const triton::TritonProgram> measured;  ///< what `memory` is of
  triton::TritonMemory memory;
  std::uint64_t revision = 0;  ///< of the session that `op` was made from
  std::string of;
  std::shared_ptr<const TritonOpModel> op;
};

/// Names, line in the text and in the source program, Triton's decision. Nothing where no Triton kernel is open.
void draw_triton_op(const Session& session, const std::string& op, UiState& ui);
/// What is known of a text that has nothing to schedule: form, loops, memory. Pre: a Triton kernel is open.
void draw_triton_facts(const Session& session, UiState& ui);
/// Pre: a Triton kernel is open.
void draw_triton_text(const Session& session, UiState& ui);

}  // namespace heddle::app
