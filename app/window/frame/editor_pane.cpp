// The text of the kernel, or of the machine, beside the chart: coloured, with its faults at their lines and words offered while typing.
// What is typed goes to the session with every key; the session shows what it says as soon as it can be read.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/project.h"
#include "app/session/texts.h"
#include "app/window/frame/editor_state.h"
#include "app/window/frame/panels.h"
#include "app/window/frame/triton_pane.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/base/text_style.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"

namespace heddle::app {
namespace {

Color ink_of(const JsonToken& token, std::string_view text) {
  const Theme& t = theme();
  switch (token.kind) {
    case JsonToken::Kind::Punctuation: return t.dim;
    case JsonToken::Kind::Key: return t.accent;
    case JsonToken::Kind::String: return t.good;
    case JsonToken::Kind::Number: return t.second;
    case JsonToken::Kind::Word: break;
  }
  const std::string_view word = text.substr(token.begin, token.end - token.begin);
  return word == "true" || word == "false" || word == "null" ? t.second : t.bad;
}

/// True when the text is another one than before.
bool outline(EditorState& s) {
  if (s.outlined == s.field.text) return false;
  s.outlined = s.field.text;
  s.tokens = json_tokens(s.outlined);
  return true;
}

std::string string_at(const EditorState& s, const std::string& pointer) {
  for (const JsonToken& token : s.tokens)
    if (token.kind == JsonToken::Kind::String && token.pointer == pointer && token.end - token.begin >= 2)
      return s.outlined.substr(token.begin + 1, token.end - token.begin - 2);
  return {};
}

/// The op of the loop whose lines hold this byte.
std::string op_at(const EditorState& s, std::size_t byte) {
  for (const JsonToken& token : s.tokens)
    if (token.begin <= byte && byte <= token.end && token.pointer.starts_with("/body/"))
      return string_at(s, token.pointer.substr(0, token.pointer.find('/', 6)) + "/name");
  return {};
}

/// The lines of an op of the loop.
std::optional<std::pair<std::size_t, std::size_t>> lines_of(const EditorState& s, const std::string& op) {
  for (const JsonToken& token : s.tokens) {
    if (token.kind != JsonToken::Kind::String || !token.pointer.starts_with("/body/") || !token.pointer.ends_with("/name")) continue;
    const std::string object = token.pointer.substr(0, token.pointer.size() - 5);
    if (object.find('/', 6) != std::string::npos || string_at(s, token.pointer) != op) continue;
    std::size_t first = s.outlined.size(), last = 0;
    for (const JsonToken& part : s.tokens)
      if (part.pointer == object) first = std::min(first, part.begin), last = std::max(last, part.end);
    return std::pair(line_of(s.outlined, first), line_of(s.outlined, last));
  }
  return std::nullopt;
}

/// The field shows what the session has: another document's text, or one that undo, the graph or the disk changed.
void follow_session(const Session& session, const SourceText& text, SourceOf of, EditorState& s) {
  if (s.of != of || s.document != session.content().document) {
    s = EditorState{};
    s.of = of;
    s.document = session.content().document;
    s.schema = std::make_shared<const Json>(of == SourceOf::Kernel ? kernel_schema() : machine_schema());
    s.field.text = s.known = text.text;
  } else if (text.text != s.known) {
    s.known = text.text;
    if (text.text != s.field.text) s.field.next = text.text;
  }
}

void draw_bar(const Session& session, UiState& ui, SourceOf of, const SourceText& text) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + ImGui::GetContentRegionAvail().x;
  const auto choice = [&](const char* name, const char* label, SourceOf which) {
    const bool shown = which == SourceOf::Kernel && session.content().triton();  // it can be read
    if (button(name, label, of == which ? ButtonKind::Plain : ButtonKind::Flat, shown ? "" : session.texts().why_no_edit(which),
               {0, px(24)}))
      ui.commands.push(show_editor(which));
    ImGui::SameLine(0, px(4));
  };
  choice("editor/kernel", session.content().triton() ? "TTGIR" : "Kernel", SourceOf::Kernel);
  choice("editor/machine", "Machine", SourceOf::Machine);
  const float left = ImGui::GetCursorScreenPos().x + px(6);
  const bool unsaved = session.texts().text_unsaved(of);
  const char* action = of == SourceOf::Kernel ? "save_kernel_text" : "save_machine_text";
  const float save = px(58), close = px(26);
  const bool in_project = unsaved && !session.projects().project_as_shown().empty();
  const std::string name = !text.file.empty() ? base_name(text.file) + (unsaved ? " *" : "")
                           : in_project       ? "in the project"
                                              : "not saved yet";
  const float room = right - left - save - close - px(16);
  if (room > px(30))
    paint_text(fonts().small, {left, at.y + px(5)}, unsaved && !in_project ? theme().warning : theme().dim,
               fitted_middle(fonts().small, name, room));
  ImGui::SetCursorScreenPos({right - save - close - px(4), at.y});
  if (button("editor/save", "Save", ButtonKind::Plain, unsaved ? "" : "its file holds just this text", {save, px(24)}))
    perform(*find_action(action), session, ui);
  ImGui::SetCursorScreenPos({right - close, at.y});
  if (button("editor/close", "\xc3\x97", ButtonKind::Flat, {}, {close, px(24)})) ui.commands.push(show_editor(std::nullopt));
  ImGui::SetCursorScreenPos({at.x, at.y + px(30)});
}

/// One line under the text: that it is what the chart shows, or what is wrong and where. A click goes there.
void draw_verdict(const Session& session, EditorState& s, const SourceText& text) {
  const FontScope scope(fonts().small);
  const float width = ImGui::GetContentRegionAvail().x;
  if (text.faults.empty()) {
    const bool solving = session.live().active();
    colored_text(
        theme().dim,
        fitted(fonts().small, solving ? "read without faults; solving what it says" : "read without faults: the chart shows what it says",
               width));
    return;
  }
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(text.faults.size(), kMost); ++i) {
    const Fault& fault = text.faults[i];
    const std::size_t line = line_of_fault(s.outlined, s.tokens, fault);
    const std::string whole = fault.message + (fault.hint.empty() ? "" : " (" + fault.hint + ")");
    const RowArea row = pick_row(fmt::format("editor/fault/{}", i).c_str(), false, px(20));
    const std::string place = fmt::format("line {}  ", line + 1);
    const float indent = text_size(fonts().small_bold, place).x;
    paint_text(fonts().small_bold, {row.min.x + px(4), row.min.y + px(2)}, theme().bad, place);
    paint_text(fonts().small, {row.min.x + px(4) + indent, row.min.y + px(2)}, theme().text,
               fitted(fonts().small, whole, row.max.x - row.min.x - indent - px(8)));
    if (row.hovered) tooltip(whole);
    if (!row.clicked) continue;
    const JsonToken* token = json_token_at(s.tokens, fault.pointer);
    s.field.jump = token && line_of(s.outlined, token->begin) == line ? token->begin : [&] {
      std::size_t byte = 0;
      for (std::size_t n = 0; n < line && byte != std::string::npos; ++n) byte = s.outlined.find('\n', byte) + 1;
      return byte;
    }();
    s.field.show = line;
  }
  const std::string more = text.faults.size() > kMost ? fmt::format("and {} more; ", text.faults.size() - kMost) : "";
  colored_text(theme().dim, fitted(fonts().small, more + "the chart shows what the text said before", width));
}

}  // namespace

void draw_editor(const Session& session, UiState& ui) {
  const SourceOf of = *session.view().editor;
  if (of == SourceOf::Kernel && session.content().triton()) return draw_triton_text(session, ui);
  const SourceText* text = session.texts().text_of(of);
  if (!text) {
    wrapped_text(fonts().body, theme().dim, session.texts().why_no_edit(of));
    if (button("editor/close", "Close")) ui.commands.push(show_editor(std::nullopt));
    return;
  }
  EditorState& s = ui.of<EditorState>();
  follow_session(session, *text, of, s);
  draw_bar(session, ui, of, *text);
  const bool other_text = outline(s);
  std::vector<CodeMark> marks;
  for (const Fault& fault : text->text == s.outlined ? text->faults : std::vector<Fault>())
    marks.push_back({line_of_fault(s.outlined, s.tokens, fault), fault.message + (fault.hint.empty() ? "" : "\n" + fault.hint)});
  const OpId selected = session.selection().primary();
  const Problem* problem = session.content().problem.get();
  const std::string op = of == SourceOf::Kernel && problem && selected.valid() ? problem->op(selected).name : std::string();
  if (const bool other_op = op != s.followed; other_op || other_text) {
    s.followed = op;
    s.lit = op.empty() ? std::nullopt : lines_of(s, op);
    if (other_op && s.lit && !s.field.active) s.field.show = s.lit->first;
  }
  std::vector<CodePiece> pieces;  // made anew: the theme may be another one
  for (const JsonToken& token : s.tokens) pieces.push_back({token.begin, token.end, ink_of(token, s.outlined)});
  const CodeLook look{pieces, marks, s.lit};
  if (std::exchange(s.wants_keys, false)) s.field.jump = std::min(s.field.caret, s.field.text.size());
  const std::size_t faults = std::min<std::size_t>(text->faults.size(), 3);
  const float below = px(24) + (faults > 0 ? px(22) * static_cast<float>(faults) : 0);
  // Another text is another field: what is still typed into the old one must not come here.
  ImGui::PushID(fmt::format("{}/{}", s.document, of == SourceOf::Kernel ? "kernel" : "machine").c_str());
  code_field("editor", s.field, look, std::max(ImGui::GetContentRegionAvail().y - below, px(60)));
  ImGui::PopID();

  if (s.field.edited) {
    s.known = s.field.text;
    ui.commands.push(EditSource{of, s.field.text, true});
    s.field.offers = complete(*s.schema, s.field.text, s.field.caret);
    s.field.offering = !s.field.offers.items.empty() && s.field.offers.end > s.field.offers.begin;
  } else if (s.field.moved) {
    s.field.offering = false;
    if (const std::string under = op_at(s, s.field.caret); of == SourceOf::Kernel && problem && !under.empty() && under != op)
      if (const OpId id = problem->find_op(under); id.valid()) {
        s.followed = under;  // it is in view already
        s.lit = lines_of(s, under);
        ui.commands.push(SelectOp{id});
      }
  }
  if (s.field.active && ImGui::GetIO().KeyCtrl && key_pressed(Key::Space)) {
    s.field.offers = complete(*s.schema, s.field.text, s.field.caret);
    s.field.offering = !s.field.offers.items.empty();
  }
  if (s.field.undo) ui.commands.push(Undo{});
  if (s.field.redo) ui.commands.push(Redo{});
  draw_verdict(session, s, *text);
}

bool text_has_keys(const UiState& ui) { return ui.of<EditorState>().field.active; }
void focus_editor(UiState& ui) { ui.of<EditorState>().wants_keys = true; }

}  // namespace heddle::app
