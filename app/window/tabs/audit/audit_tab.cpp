// The Audit tab: what is wrong with, or wasted by, the schedule that a compiler stored; a click shows where.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/source_document.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/audit/audit_model.h"

namespace heddle::app {
namespace {

/// What the tab keeps between frames.
struct AuditTabState {
  std::uint64_t revision = 0;  ///< of the session that `model` was made from; 0: none yet
  std::shared_ptr<const AuditModel> model;
};

Color ink_of(RowMark weight) { return weight == RowMark::Wrong ? theme().bad : weight == RowMark::Waste ? theme().warning : theme().good; }

constexpr const char* kAuditPurpose =
    "The audit is for what a compiler made: a Triton kernel (its loads, stages, memory, warp specialization), or a dump (ddg-0.1, "
    "schedule_graph 0.1, curated-ddg-0.2, joint-solver-0.1 and 0.2): broken "
    "dependences, double-booked units, the period the warp groups really sustain, memory that is counted wrong, ring slots nothing "
    "fills.";

void draw_open_button(UiState& ui, float height) {
  if (button("audit/open", "Open a dump ...", ButtonKind::Plain, {}, {0, height})) ui.commands.push(show_open_dialog());
  if (ImGui::IsItemHovered()) tooltip(kAuditPurpose);
}

void draw_head(const Session& session, const AuditModel& model, UiState& ui) {
  const float height = px(26), gap = px(6);
  const char* const copies[] = {"Copy", "Copy as Markdown", "Copy as command"};
  float buttons = 0;
  for (const char* label : copies)
    if (model.of_dump || label == copies[0]) buttons += button_width(label) + gap;
  if (!model.of_dump) buttons += button_width("Open a dump ...") + gap;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, room = std::max(width - buttons, px(80));
  const std::string text = drawable(pretty(model.headline));
  paint_text(fonts().bold, ImVec2(at.x, at.y + px(4)), theme().text, fitted(fonts().bold, text, room));
  ImGui::Dummy(ImVec2(room, height));
  if (probe::on()) probe::last_item("audit/headline");
  if (ImGui::IsItemHovered()) tooltip(text);
  ImGui::SetCursorScreenPos(ImVec2(at.x + std::max(width - buttons + gap, 0.0f), at.y));
  if (button("audit/copy", copies[0], ButtonKind::Plain, {}, {0, height})) ui.commands.push(copy_text(audit_tsv(model)));
  if (ImGui::IsItemHovered()) tooltip("the findings, tab-separated");
  ImGui::SameLine(0, gap);
  if (!model.of_dump) return draw_open_button(ui, height);
  if (button("audit/markdown", copies[1], ButtonKind::Plain, {}, {0, height})) ui.commands.push(copy_text(audit_markdown_of(session)));
  if (ImGui::IsItemHovered()) tooltip("for a pull request: all loops, with what was solved here");
  ImGui::SameLine(0, gap);
  copy_command_button("audit/command", session, ui, audit_command(session), {0, height});
}

void point_at(const Session& session, const AuditModel& model, const AuditLine& line, bool shown, UiState& ui) {
  if (model.stored && session.content().shown != model.stored) ui.commands.push(SelectSchedule{*model.stored});
  ui.commands.push(ClearSelection{});
  ui.commands.push(show_highlight(shown ? Highlight{} : line.shown));
}

float left_of(float width) { return std::min(px(132), width * 0.25f); }
float wrap_of(float width) { return std::max(width - left_of(width) - px(12), px(80)); }

float height_of(const AuditLine& line, float width) {
  const FontScope scope(line.detail() ? fonts().small : fonts().body);
  return ImGui::CalcTextSize(drawable(pretty(line.text)).c_str(), nullptr, false, wrap_of(width)).y + (line.detail() ? px(5) : px(9));
}

/// As much of the room as ends with a whole line, seen from the first one.
float whole_lines(const AuditModel& model, float width, float room) {
  float height = 0;
  for (const AuditLine& line : model.lines) {
    const float next = height + height_of(line, width);
    if (next > room) return height > 0 ? height : room;
    height = next;
  }
  return room;
}

void draw_line(const Session& session, const AuditModel& model, std::size_t index, float width, UiState& ui) {
  const AuditLine& line = model.lines[index];
  const float topic = px(28), left = left_of(width);
  ImFont* font = line.detail() ? fonts().small : fonts().body;
  const std::string text = drawable(pretty(line.text));
  const float wrap = wrap_of(width), height = height_of(line, width);
  const bool points = !line.shown.why.empty(), lit = points && session.view().highlight == line.shown;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  bool hovered = false;
  if (points) {
    const RowArea row = pick_row(fmt::format("audit/line/{}", index).c_str(), lit, height);
    hovered = row.hovered;
    if (row.clicked) point_at(session, model, line, lit, ui);
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (hovered) tooltip(lit ? "click: end the highlight" : "click: show it in the chart and the graph");
  } else {
    ImGui::Dummy(ImVec2(width, height));
    if (probe::on()) probe::last_item(fmt::format("audit/line/{}", index));
  }
  const float y = at.y + (line.detail() ? px(2) : px(4));
  if (!line.detail()) {
    paint_text(fonts().bold, ImVec2(at.x + px(10), y), ink_of(line.weight), symbol(line.weight, !fonts().built_in));
    paint_text(fonts().bold, ImVec2(at.x + topic, y), theme().text, fitted(fonts().bold, line.topic, left - topic - px(6)));
  }
  paint_wrapped(font, ImVec2(at.x + left, y), line.detail() && !hovered && !lit ? theme().dim : theme().text, text, wrap);
}

}  // namespace

void draw_audit_tab(const Session& session, const Models&, UiState& ui) {
  AuditTabState& state = ui.of<AuditTabState>();
  if (state.revision != session.revision()) state = {session.revision(), std::make_shared<const AuditModel>(build_audit(session))};
  const AuditModel& model = *state.model;
  if (model.lines.empty() && model.headline.empty()) {
    wrapped_text(fonts().small, theme().dim, kAuditPurpose);
    return draw_open_button(ui, 0);
  }
  draw_head(session, model, ui);
  if (!model.verdict.empty()) wrapped_text(fonts().small, theme().text, drawable(pretty(model.verdict)));
  if (!model.facts.empty()) wrapped_text(fonts().small, theme().dim, drawable(pretty(model.facts)));
  if (!model.note.empty()) wrapped_text(fonts().small, theme().warning, drawable(pretty(model.note)));
  const ImVec2 left_over = ImGui::GetContentRegionAvail();
  ImGui::BeginChild("findings", ImVec2(0, whole_lines(model, left_over.x - ImGui::GetStyle().ScrollbarSize, left_over.y)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), 0));
  const float width = ImGui::GetContentRegionAvail().x;
  for (std::size_t i = 0; i < model.lines.size(); ++i) draw_line(session, model, i, width, ui);
  ImGui::PopStyleVar();
  if (!model.others.empty()) {
    ImGui::Dummy(ImVec2(0, px(4)));
    for (const AuditOtherLoop& other : model.others)
      if (!other.show)
        colored_text(theme().dim, drawable(other.text));
      else if (link(fmt::format("audit/loop/{}", other.id).c_str(), other.text))
        ui.commands.push(*other.show);
  }
  if (const Constraints rules = session.sources().open_emitter_rules(); !rules.empty()) {
    ImGui::Dummy(ImVec2(0, px(6)));
    const std::string label = fmt::format("Demand what its emitter demands ({})", rules.size());
    if (button("audit/emitter", label, ButtonKind::Plain)) ui.commands.push(DemandEmitterRules{});
    if (ImGui::IsItemHovered())
      tooltip(
          "What reads the result of an mma into registers is in another warp group than the mma.\nSolve with it before "
          "exporting to that compiler.");
  }
  ImGui::EndChild();
}

}  // namespace heddle::app
