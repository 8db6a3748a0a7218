// The Pipeline tab: a column of pseudocode per warp group. A line selects its op; all lines of selected ops are marked.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/pipeline/pipeline_state.h"
#include "core/base/letters.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

using Kind = PipelineLine::Kind;

bool matches(const PipelineTextLine& line, std::string_view wanted) {
  return !wanted.empty() && (contains_letters(line.object, wanted) || contains_letters(line.verb, wanted));
}

std::string tsv(const PipelineText& text) {
  std::string out = "group\tsection\tcycle\tdoes\twhat\twhere\n";
  for (const PipelineTextGroup& group : text.groups)
    for (const PipelineTextSection& section : group.sections)
      for (const PipelineTextLine& line : section.lines)
        out += fmt::format("{}\t{}\t{}\t{}{}\t{}\t{}\n", group.title, section.title, section.once ? "" : std::to_string(line.slot),
                           line.guard, line.verb, line.object, line.detail);
  return out;
}

int count_matches(const PipelineText& text, std::string_view wanted) {
  int count = 0;
  for (const PipelineTextGroup& group : text.groups)
    for (const PipelineTextSection& section : group.sections)
      for (const PipelineTextLine& line : section.lines) count += matches(line, wanted);
  return count;
}

constexpr float kLine = 18;  // pixels of a line, and of the title of a section

/// What the eye should find: ops in their unit's colour, waits and signals quieter.
Color ink_of(const PipelineTextLine& line) {
  switch (line.kind) {
    case Kind::Issue: return role_ink(line.role);
    case Kind::Wait:
    case Kind::Acquire:
    case Kind::Retire: return theme().text;
    case Kind::Commit:
    case Kind::Release: return theme().dim;
  }
  return theme().text;
}

/// Waits stop the stream, signals do not; the mark says so without colour.
const char* mark_of(Kind kind) {
  switch (kind) {
    case Kind::Wait:
    case Kind::Acquire:
    case Kind::Retire: return "|";
    case Kind::Commit:
    case Kind::Release: return ">";
    case Kind::Issue: return " ";
  }
  return " ";
}

struct GroupColumn {
  const Session& session;
  UiState& ui;
  std::size_t group;
  float width;
  int match;  ///< of the next line that matches
  bool selected_op_is(const PipelineTextLine& line) const {
    const Selection& selection = session.selection();
    return selection.contains(line.op) || (line.other.valid() && selection.contains(line.other));
  }
};

void draw_line(GroupColumn& c, const PipelineTextLine& line, const std::string& name) {
  const Theme& t = theme();
  PipelineState& s = c.ui.of<PipelineState>();
  const bool hit = matches(line, s.find), sought = hit && c.match == s.match;
  c.match += hit;
  if (sought && s.jump) {
    ImGui::SetScrollHereY(0.4f);
    s.jump = false;
  }
  const float height = px(kLine);
  const bool once = !line.op.valid();
  const RowArea row = pick_row(name.c_str(), !once && c.session.selection().contains(line.op), height);
  if (!ImGui::IsRectVisible(row.min, row.max)) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  // The op that is waited for belongs to the selection's story as well.
  if (!once && c.selected_op_is(line)) list.AddRectFilled(row.min, {row.min.x + px(3), row.max.y}, t.accent);
  if (hit) list.AddRect(row.min, row.max, sought ? t.accent : t.warning, px(3));
  if (row.clicked && !once) c.ui.commands.push(SelectOp{line.op, ImGui::GetIO().KeyCtrl});
  ImFont* font = line.kind == Kind::Issue ? fonts().mono_bold : fonts().mono;
  const float y = row.min.y + (height - text_size(font, "X").y) / 2;
  const bool aside = s.find[0] != '\0' && !hit;
  const Color ink = aside ? t.faint : ink_of(line);
  const float number = row.min.x + px(8) + text_size(fonts().mono, "99 999").x;
  if (!once) paint_text_right(fonts().mono, number, y, t.faint, grouped(line.slot));
  const float letter = text_size(fonts().mono, "m").x;
  float x = number + letter;
  paint_text(font, {x, y}, t.dim, mark_of(line.kind));
  x += 2 * letter;
  const float right = row.max.x - px(4);
  const std::string does = line.guard + line.verb + " ";
  const std::string cut = fitted(font, does + line.object, right - x);
  paint_text(font, {x, y}, ink, cut);
  // Under each other where there is room, else as far to the left as they must be.
  const float after = x + text_size(font, does + line.object).x + letter;
  x = std::max(after, std::min(x + letter * 24, right - text_size(fonts().small, line.detail).x));
  if (right - x > letter * 6)
    paint_text(fonts().small, {x, row.min.y + (height - text_size(fonts().small, "X").y) / 2}, aside ? t.faint : t.dim,
               fitted(fonts().small, line.detail, right - x));
  if (row.hovered)
    tooltip(once ? "once per tile, predicted, not scheduled: " + to_string(line)
                 : fmt::format("cycle {} of the window: {}", grouped(line.slot), to_string(line)));
}

void draw_section(GroupColumn& c, const PipelineTextSection& section, std::size_t index) {
  PipelineState& s = c.ui.of<PipelineState>();
  const std::string key = fmt::format("pipeline/section/{}/{}", c.group, index);
  const bool folded = s.folded.contains(key);
  const RowArea row = pick_row(key.c_str(), false, px(kLine));
  if (row.clicked) {
    if (folded)
      s.folded.erase(key);
    else
      s.folded.insert(key);
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(row.min, row.max, row.hovered ? theme().hovered : theme().raised, px(3));
  const float y = row.min.y + (px(kLine) - text_size(fonts().small_bold, "X").y) / 2;
  paint_text(fonts().small_bold, {row.min.x + px(6), y}, theme().dim, folded ? "+" : "-");
  const float left = row.min.x + px(20), right = row.max.x - px(6);
  const std::string title = fitted(fonts().small_bold, section.title, right - left);
  paint_text(fonts().small_bold, {left, y}, theme().text, title);
  const float used = left + text_size(fonts().small_bold, title).x + px(10);
  const std::string note = folded ? section.note + fmt::format(", {} lines", section.lines.size()) : section.note;
  if (right - used > px(40)) {
    const std::string cut = fitted(fonts().small, note, right - used);
    paint_text_right(fonts().small, right, row.min.y + (px(kLine) - text_size(fonts().small, "X").y) / 2, theme().dim, cut);
  }
  if (folded) {
    for (const PipelineTextLine& line : section.lines) c.match += matches(line, s.find);
    return;
  }
  for (std::size_t l = 0; l < section.lines.size(); ++l)
    draw_line(c, section.lines[l], fmt::format("pipeline/{}/{}/{}/{}", section.once ? "once" : "line", c.group, index, l));
}

void draw_bar(const Session& session, UiState& ui, std::size_t columns) {
  PipelineState& s = ui.of<PipelineState>();
  const PipelineText& text = *s.text;
  const FontScope small(fonts().small);
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float whole = ImGui::GetContentRegionAvail().x;
  if (input_field("pipeline/find", "find", s.find, sizeof s.find, px(130))) s.match = 0, s.jump = true;
  const int found = count_matches(text, s.find);
  if ((ImGui::IsItemActive() || ImGui::IsItemDeactivated()) && key_pressed(Key::Enter) && found > 0) {
    ImGui::SetKeyboardFocusHere(-1);  // Enter leaves the field: go on from where we were
    s.match = (s.match + (ImGui::GetIO().KeyShift ? found - 1 : 1)) % found;
    s.jump = true;
  }
  ImGui::SameLine(0, px(6));
  if (s.find[0] != '\0') {
    colored_text(theme().dim, found == 0 ? std::string("none") : fmt::format("{} of {}", s.match + 1, found));
    ImGui::SameLine(0, px(6));
  }
  const auto copy = [&](const char* name, const char* label, auto&& what) {
    if (button(name, label, ButtonKind::Plain, {}, {0, px(22)})) ui.commands.push(copy_text(what()));
    ImGui::SameLine(0, px(5));
  };
  // On a second line where one is too short.
  if (ImGui::GetCursorScreenPos().x + px(340) > at.x + whole) ImGui::SetCursorScreenPos({at.x, at.y += px(26)});
  copy("pipeline/copy", "Copy", [&] { return tsv(text); });
  copy("pipeline/copy_text", "Copy as text", [&] { return pipeline_page(text, {}); });
  copy_command_button("pipeline/copy_command", session, ui, command_line(session, "export", {"--format", "pipeline"}), {0, px(22)});
  ImGui::SameLine(0, px(2));
  if (columns < text.groups.size()) {
    ImGui::SameLine(0, px(8));
    if (button("pipeline/previous", "<", ButtonKind::Flat, s.first == 0 ? "this is the first group" : "", {px(24), px(22)})) --s.first;
    ImGui::SameLine(0, px(2));
    if (button("pipeline/next", ">", ButtonKind::Flat, s.first + columns >= text.groups.size() ? "this is the last group" : "",
               {px(24), px(22)}))
      ++s.first;
    ImGui::SameLine(0, px(8));
  }
  const float x = ImGui::GetCursorScreenPos().x + px(8), room = at.x + whole - x;
  if (room > px(80)) {
    const std::string line = fitted(fonts().small, text.about, room);
    paint_text(fonts().small, {x, at.y + px(4)}, theme().dim, line);
    ImGui::Dummy({room, px(22)});
    if (ImGui::IsItemHovered()) {
      std::string more = text.about + "\n";
      for (const std::string& ring : text.rings) more += "\n" + ring;
      tooltip(more);
    }
  } else {
    ImGui::NewLine();
  }
  ImGui::SetCursorScreenPos({at.x, at.y + px(28)});
}

}  // namespace

void draw_pipeline_tab(const Session& session, const Models& models, UiState& ui) {
  const Content& content = session.content();
  const ScheduleEntry* entry = content.entry();
  PipelineState& s = ui.of<PipelineState>();
  if (!content.problem || !entry) {
    s.text.reset();
    wrapped_text(
        fonts().body, theme().dim,
        "What every warp group does before the loop, while it fills, in the steady state, while it drains and after it, with its waits and "
        "arrives: it follows from a schedule.");
    const Action& solve = *find_action("solve");
    if (content.problem && button("pipeline/solve", "Solve", ButtonKind::Primary, why_not(solve, session))) perform(solve, session, ui);
    return;
  }
  if (!s.text || s.built_revision != session.revision()) {
    s.text = pipeline_text(*content.problem, entry->schedule, &models.ends);
    s.built_revision = session.revision();
  }
  const std::size_t groups = std::max<std::size_t>(s.text->groups.size(), 1);
  const float gap = px(10), whole = ImGui::GetContentRegionAvail().x;
  const auto room = static_cast<std::size_t>(std::max(1.0f, (whole + gap) / (px(300) + gap)));
  const std::size_t columns = std::min(groups, room);
  s.first = std::min(s.first, groups - columns);
  draw_bar(session, ui, columns);
  if (!entry->verdict.valid())
    wrapped_text(fonts().small, theme().bad, "This schedule breaks constraints: its program may wait for ever or read too early.");
  const float width = std::floor((whole - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns));
  int match = 0;
  for (std::size_t g = 0; g < s.text->groups.size(); ++g) {
    const PipelineTextGroup& group = s.text->groups[g];
    int in_group = 0;
    for (const PipelineTextSection& section : group.sections)
      for (const PipelineTextLine& line : section.lines) in_group += matches(line, s.find);
    // Enter may lead to a group that is out of sight.
    if (s.jump && s.match >= match && s.match < match + in_group) s.first = std::clamp(s.first, g + 1 - std::min(g + 1, columns), g);
    match += in_group;
  }
  match = 0;
  for (std::size_t g = 0; g < s.text->groups.size(); ++g) {
    const PipelineTextGroup& group = s.text->groups[g];
    GroupColumn column{session, ui, g, width, match};
    for (const PipelineTextSection& section : group.sections)
      for (const PipelineTextLine& line : section.lines) match += matches(line, s.find);
    if (g < s.first || g >= s.first + columns) continue;
    if (g > s.first) ImGui::SameLine(0, gap);
    ImGui::BeginChild(fmt::format("pipeline/group/{}", g).c_str(), {width, 0});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string title = fitted(fonts().bold, group.title, width * 0.6f);
    paint_text(fonts().bold, at, theme().text, title);
    const float left = at.x + text_size(fonts().bold, title).x + px(10);
    paint_text(fonts().small, {left, at.y + px(2)}, theme().dim, fitted(fonts().small, group.note, at.x + width - left - px(14)));
    ImGui::Dummy({width, px(22)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, px(1)});
    const float line = px(kLine) + px(1);
    ImGui::BeginChild("lines", {0, whole_rows(ImGui::GetContentRegionAvail().y, line)});
    for (std::size_t i = 0; i < group.sections.size(); ++i) draw_section(column, group.sections[i], i);
    if (group.sections.empty()) colored_text(theme().dim, "no op");
    settle_on_rows(line);
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::EndChild();
  }
  s.jump = false;
}

}  // namespace heddle::app
