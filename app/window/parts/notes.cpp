#include "app/window/parts/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/session/commands.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

std::string note_place(const Note& note) { return note.op.empty() ? fmt::format("cycle {}", grouped(note.at)) : note.op; }

void open_note(UiState& ui, std::optional<std::size_t> index, const Note& note) {
  NoteEditorState& editor = ui.of<NoteEditorState>();
  editor.index = index;
  editor.note = note;
  std::snprintf(editor.text, sizeof editor.text, "%s", note.text.c_str());
  editor.wanted = true;
  const ImVec2 mouse = ImGui::GetIO().MousePos, display = ImGui::GetIO().DisplaySize;
  const bool inside = mouse.x >= 0 && mouse.y >= 0 && mouse.x < display.x && mouse.y < display.y;
  editor.at = inside ? ImVec2(mouse.x + px(12), mouse.y + px(12)) : ImVec2(display.x * 0.4f, display.y * 0.3f);
  editor.at.x = std::clamp(editor.at.x, px(8), std::max(px(8), display.x - px(400)));
  editor.at.y = std::clamp(editor.at.y, px(8), std::max(px(8), display.y - px(150)));
}

}  // namespace

void begin_note(const Session& session, UiState& ui) {
  const Content& content = session.content();
  if (!content.problem) return;
  Note note;
  if (const OpId op = session.selection().primary(); op.valid())
    note.op = content.problem->op(op).name;
  else if (ui.chart.hovered_cycle)
    note.at = *ui.chart.hovered_cycle;
  else
    note.at = static_cast<Cycle>(std::llround((ui.chart.visible.begin + ui.chart.visible.end) / 2));
  for (std::size_t i = 0; i < content.notes.size(); ++i)
    if (content.notes[i].op == note.op && (!note.op.empty() || content.notes[i].at == note.at)) return edit_note(session, ui, i);
  open_note(ui, std::nullopt, note);
}

void edit_note(const Session& session, UiState& ui, std::size_t index) {
  if (index < session.content().notes.size()) open_note(ui, index, session.content().notes[index]);
}

void draw_note_editor(const Session& session, UiState& ui) {
  if (ui.chart.note_pressed) {
    edit_note(session, ui, *ui.chart.note_pressed);
    ui.chart.note_pressed.reset();
  }
  NoteEditorState& editor = ui.of<NoteEditorState>();
  if (editor.wanted) {
    editor.wanted = false;
    editor.just_opened = true;
    ImGui::OpenPopup("note");
  }
  ImGui::SetNextWindowPos(editor.at, ImGuiCond_Appearing);
  ImGui::SetNextWindowSize(ImVec2(px(380), 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(14), px(12)));
  const bool open = ImGui::BeginPopup("note", ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar();
  if (!open) return;
  {
    const FontScope scope(fonts().bold);
    colored_text(theme().text, fitted(fonts().bold, "Note at " + note_place(editor.note), ImGui::GetContentRegionAvail().x));
  }
  if (editor.just_opened) ImGui::SetKeyboardFocusHere();
  editor.just_opened = false;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  const bool entered =
      ImGui::InputTextWithHint("##note", "what there is to say", editor.text, sizeof editor.text, ImGuiInputTextFlags_EnterReturnsTrue);
  if (probe::on()) probe::last_item("note/text");
  const bool save = button("note/save", "Save", ButtonKind::Primary, editor.text[0] ? "" : "write something first", {px(90), px(28)});
  if ((save || entered) && editor.text[0]) {
    if (editor.index) {
      ui.commands.push(EditNote{*editor.index, editor.text});
    } else {
      editor.note.text = editor.text;
      ui.commands.push(AddNote{editor.note});
    }
    ImGui::CloseCurrentPopup();
  }
  if (editor.index) {
    ImGui::SameLine();
    if (button("note/delete", "Delete", ButtonKind::Plain, {}, {px(90), px(28)})) {
      ui.commands.push(EditNote{*editor.index, ""});
      ImGui::CloseCurrentPopup();
    }
  }
  ImGui::SameLine();
  if (button("note/cancel", "Cancel", ButtonKind::Plain, {}, {px(90), px(28)})) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

void draw_notes(const Session& session, UiState& ui) {
  const Content& content = session.content();
  if (content.notes.empty()) return;
  section("NOTES", fmt::format("{}", content.notes.size()));
  for (std::size_t i = 0; i < content.notes.size(); ++i) {
    const Note& note = content.notes[i];
    const RowArea row = pick_row(fmt::format("notes/{}", i).c_str(), false, px(24));
    const float width = row.max.x - row.min.x - px(16), place = std::min(px(130), width * 0.4f);
    paint_text(fonts().mono_small, ImVec2(row.min.x + px(8), row.min.y + px(5)), theme().accent,
               fitted(fonts().mono_small, note_place(note), place - px(8)));
    paint_text(fonts().small, ImVec2(row.min.x + px(8) + place, row.min.y + px(5)), theme().text,
               fitted(fonts().small, note.text, width - place));
    if (row.hovered) tooltip(note.text);
    if (row.clicked && !note.op.empty())
      if (const OpId op = content.problem->find_op(note.op); op.valid()) ui.commands.push(SelectOp{op});
    if (row.clicked) edit_note(session, ui, i);
  }
}

}  // namespace heddle::app
