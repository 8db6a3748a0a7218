#include "app/window/frame/triton_pane.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/texts.h"
#include "app/session/triton_origins.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/triton_op_model.h"
#include "app/window/parts/ttgir_tokens.h"
#include "app/window/parts/ui_state.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

Color ink_of(TtgirToken::Kind kind) {
  const Theme& t = theme();
  switch (kind) {
    case TtgirToken::Kind::Value: return t.accent;
    case TtgirToken::Kind::Op: return t.text;
    case TtgirToken::Kind::Decision: return t.second;
    case TtgirToken::Kind::String: return t.good;
    case TtgirToken::Kind::Number: return t.second;
    case TtgirToken::Kind::Rest: return t.dim;
  }
  return t.text;
}

}  // namespace

void draw_triton_op(const Session& session, const std::string& op, UiState& ui) {
  const TritonText* source = session.content().triton();
  if (!source) return;
  TritonPaneState& state = ui.of<TritonPaneState>();
  if (state.revision != session.revision() || state.of != op || !state.op) {
    state.revision = session.revision();
    state.of = op;
    state.op = std::make_shared<const TritonOpModel>(describe_triton_op(*source, op));
  }
  const TritonOpModel& model = *state.op;
  if (model.names.empty()) {
    wrapped_text(fonts().small, theme().dim, "Not in Triton's text: it follows from the way of reading it.");
    return;
  }
  wrapped_text(fonts().mono_small, theme().text, model.names);
  if (!model.decision.empty()) fact_line("Triton decided", model.decision, theme().text);
  if (model.text_line > 0 && link("inspector/ttgir", fmt::format("TTGIR line {}", model.text_line))) {
    state.wanted = model.text_line;
    ui.commands.push(show_editor(SourceOf::Kernel));
  }
  if (ImGui::IsItemHovered() && model.text_line > 0) tooltip("show it in the compiler's text, beside the chart");
  if (model.place.empty()) return;
  if (!model.code.empty()) wrapped_text(fonts().mono_small, theme().dim, model.code);
  if (link("inspector/python", model.place)) ui.commands.push(OpenPlace{model.file, model.line});
  if (ImGui::IsItemHovered()) tooltip(printable(model.file) + "\nclick: open it in your editor, and copy file and line");
}

void draw_triton_facts(const Session& session, UiState& ui) {
  const TritonText::SharedProgram read = session.content().triton()->program();
  section("TRITON KERNEL");
  if (!read) {
    wrapped_text(fonts().small, theme().dim, "Choose one of the kernels that the file holds.");
    return;
  }
  const triton::TritonProgram& program = **read;
  TritonPaneState& state = ui.of<TritonPaneState>();
  if (state.measured != *read) {
    state.measured = *read;
    state.memory = triton::memory_of(program);
  }
  const triton::TritonMemory& memory = state.memory;
  fact_line("form", to_string(program.form), theme().text);
  fact_line("target", fmt::format("sm_{}", program.target), theme().text);
  fact_line("loops", std::to_string(program.loops.size()), theme().text);
  fact_line("warps", std::to_string(memory.warps > 0 ? memory.warps : program.num_warps), theme().text);
  fact_line("shared memory", fmt::format("{} bytes", grouped(memory.shared_bytes)), theme().text);
  if (memory.tmem_columns > 0) fact_line("tensor memory", fmt::format("{} columns", memory.tmem_columns), theme().text);
  if (!memory.unsure.empty()) wrapped_text(fonts().small, theme().dim, drawable(printable(memory.unsure)));
  ImGui::Dummy(ImVec2(0, px(4)));
  wrapped_text(fonts().small, theme().dim, "The Audit tab says more; Ctrl+K shows the text.");
}

void draw_triton_text(const Session& session, UiState& ui) {
  const TritonText& source = *session.content().triton();
  const TritonText::SharedProgram program = source.program();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + ImGui::GetContentRegionAvail().x, close = px(26);
  if (button("editor/kernel", "TTGIR", ButtonKind::Plain, {}, {0, px(24)})) ui.commands.push(show_editor(SourceOf::Kernel));
  ImGui::SameLine(0, px(4));
  if (button("editor/machine", "Machine", ButtonKind::Flat, session.texts().why_no_edit(SourceOf::Machine), {0, px(24)}))
    ui.commands.push(show_editor(SourceOf::Machine));
  const float left = ImGui::GetItemRectMax().x + px(10), room = right - left - close - px(8);
  if (room > px(30))
    paint_text(fonts().small, {left, at.y + px(5)}, theme().dim, fitted_middle(fonts().small, printable(base_name(source.path())), room));
  ImGui::SetCursorScreenPos({right - close, at.y});
  if (button("editor/close", "\xc3\x97", ButtonKind::Flat, {}, {close, px(24)})) ui.commands.push(show_editor(std::nullopt));
  ImGui::SetCursorScreenPos({at.x, at.y + px(30)});
  if (!program) {
    wrapped_text(fonts().body, theme().dim, "No kernel of it is chosen yet.");
    return;
  }
  TritonPaneState& state = ui.of<TritonPaneState>();
  if (state.program != *program) {
    state.program = *program;
    state.field = {};
    state.field.read_only = true;
    state.field.text = (*program)->module->text;
    state.tokens = ttgir_tokens(state.field.text);
    state.followed.clear();
  }
  const Problem* problem = session.content().problem.get();
  const OpId selected = session.selection().primary();
  const std::string op = problem && selected.valid() ? problem->op(selected).name : std::string();
  const triton::Origin* origin = op.empty() ? nullptr : origin_of(source, op);
  if (op != state.followed) {
    state.followed = op;
    if (origin && origin->text_line > 0 && !state.field.active) state.wanted = origin->text_line;
  }
  std::optional<std::pair<std::size_t, std::size_t>> lit;
  if (origin && origin->text_line > 0) lit = std::pair<std::size_t, std::size_t>(origin->text_line - 1, origin->text_line - 1);
  if (state.wanted && *state.wanted > 0) state.field.show = static_cast<std::size_t>(*state.wanted - 1);
  state.wanted.reset();
  std::vector<CodePiece> pieces;  // made anew: the theme may be another one
  for (const TtgirToken& token : state.tokens) pieces.push_back({token.begin, token.end, ink_of(token.kind)});
  ImGui::PushID(program->get());
  code_field("editor", state.field, CodeLook{pieces, {}, lit}, std::max(ImGui::GetContentRegionAvail().y - px(24), px(60)));
  ImGui::PopID();
  if (state.field.moved && problem) {
    const auto caret = std::min(state.field.caret, state.field.text.size());
    const auto line = std::count(state.field.text.begin(), state.field.text.begin() + static_cast<std::ptrdiff_t>(caret), '\n');
    if (const OpId there = op_at_line(source, *problem, static_cast<int>(line) + 1); there.valid() && there != selected) {
      state.followed = problem->op(there).name;  // it is in view already
      ui.commands.push(SelectOp{there});
    }
  }
  const FontScope scope(fonts().small);
  colored_text(theme().dim,
               fitted(fonts().small, "as Triton printed it: a click on an op selects it in the chart", ImGui::GetContentRegionAvail().x));
}

}  // namespace heddle::app
