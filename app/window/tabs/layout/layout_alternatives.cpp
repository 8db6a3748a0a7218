// What could be chosen instead, as a table whose rows can be used; and what is chosen.
#include <fmt/format.h>

#include <algorithm>

#include "app/platform/imgui_compat.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"
#include "app/window/parts/what_if_state.h"
#include "app/window/tabs/layout/layout_views_drawn.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

std::string row_tip(const LayoutChoiceRow& row) {
  std::string text = row.layout + " by " + row.instruction;
  if (row.cost.known) text += "\n" + access_words({}, row.cost) + ", " + count_of(row.issues, "instruction") + " of each warp";
  text += fmt::format("\n{}, {} more per thread", count_of(row.bytes, "byte"), count_of(row.registers, "register"));
  if (row.bound > 0) text += "\nII at least " + grouped(row.bound);
  return text + "\n" + row.why;
}

void use(const Session& session, UiState& ui, const LayoutView& view, const LayoutAlternative& alternative) {
  const Content& content = session.content();
  if (!content.problem) return;
  const LayoutUse wanted = use_of(view, alternative);
  LayoutChoices next = with_use(*content.kernel, *content.machine, *content.problem, content.choices, wanted);
  LayoutChoices own;  // of this step
  if (const auto layout = next.layouts.find(wanted.value); layout != next.layouts.end()) own.layouts.insert(*layout);
  if (const auto instruction = next.instructions.find(wanted.op); instruction != next.instructions.end())
    own.instructions.insert(*instruction);
  choose_layouts(session, ui, std::move(next), own.empty() ? wanted.value + " by default" : choices_in_words(own));
}

/// The first column of all that can be pressed: "Use", of the row that is taken what it takes to leave it.
void draw_use_in(std::vector<Column<LayoutChoiceRow>>& columns, const Session& session, UiState& ui, const LayoutView& view) {
  Column<LayoutChoiceRow> column = columns.back();
  column.title.clear();  // it is only drawn
  column.about.clear();
  column.number = false;
  column.flags = ImGuiTableColumnFlags_WidthFixed;
  column.width = text_size(fonts().body, "Default").x + px(4);
  column.draw = [&](const LayoutChoiceRow& row) {
    const LayoutAlternative& one = view.alternatives[row.index];
    const LayoutUse wanted = use_of(view, one);
    const LayoutChoices& now = session.content().choices;
    const std::string name = fmt::format("layout/use/{}", row.index);
    if (!row.possible) {
      colored_text(theme().faint, "Use");  // why it cannot be is beside the mouse anywhere in the row
      if (probe::on()) probe::last_item(name);
    } else if (!row.current) {
      if (link(name.c_str(), "Use")) use(session, ui, view, one);
      if (ImGui::IsItemHovered()) tooltip("Use: puts it in force, as a step that can be undone");
    } else if (now.layouts.contains(wanted.value) || now.instructions.contains(wanted.op)) {
      if (link("layout/default", "Default")) layout_by_default(session, ui);
      if (ImGui::IsItemHovered()) tooltip("Default: back to what is taken by default");
    }
  };
  columns.insert(columns.end() - 1, std::move(column));
}

}  // namespace

const LayoutAlternative* find_alternative(const LayoutView& view, const LayoutTabState& s) {
  const auto found = std::find_if(view.alternatives.begin(), view.alternatives.end(), [&](const LayoutAlternative& a) {
    return a.layout == s.alternative && choice_text(a.instruction) == s.alternative_instruction;
  });
  return found == view.alternatives.end() ? nullptr : &*found;
}

void choose_layouts(const Session& session, UiState& ui, LayoutChoices choices, std::string what) {
  if (choices == session.content().choices) return;
  ui.commands.push(ChooseLayouts{std::move(choices), std::move(what), ui.of<WhatIfState>().solve_on_release});
}

void use_layout_beside(const Session& session, UiState& ui) {
  const LayoutTabState& s = ui.of<LayoutTabState>();
  const LayoutView* view = s.own ? nullptr : s.a.view();
  const LayoutAlternative* beside = view && s.beside == LayoutBeside::Alternative ? find_alternative(*view, s) : nullptr;
  if (beside && beside->refused.empty()) return use(session, ui, *view, *beside);
  ui.commands.push(show_notice(beside ? beside->refused : "no alternative stands beside what is taken: click a row of the table first"));
}

void layout_by_default(const Session& session, UiState& ui) {
  const LayoutTabState& s = ui.of<LayoutTabState>();
  const LayoutView* view = s.own ? nullptr : s.a.view();
  const LayoutUse here = view ? use_of(*view, {}) : LayoutUse{};
  LayoutChoices next = without(session.content().choices, here.value, here.op);
  if (view && next != session.content().choices) return choose_layouts(session, ui, std::move(next), here.value + " by default");
  ui.commands.push(show_notice("what is looked at is as by default"));
}

void draw_layout_choices(const Session& session, UiState& ui) {
  const LayoutChoices& now = session.content().choices;
  // A line where there is height for it, so that the first choice moves nothing.
  if (now.empty() && ImGui::GetContentRegionAvail().y < px(260)) return;
  if (now.empty()) {
    caption("chosen");
    ImGui::SameLine(0, px(4));
    caption("nothing: all by default");
    return;
  }
  const std::vector<ChoiceWords> words = words_of(now);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(4), px(4)));
  caption("chosen");
  const float all = piece_width("All by default");
  std::size_t shown = 0;
  for (; shown < words.size(); ++shown) {
    const ChoiceWords& one = words[shown];
    ImGui::SameLine(0, px(4));
    const float more = shown + 1 < words.size() ? piece_width("and 99 more") + px(4) : 0;
    if (shown > 0 && ImGui::GetContentRegionAvail().x < piece_width(one.text) + px(4) + more + all) break;
    const std::string label = fitted(fonts().small, one.text, std::max(ImGui::GetContentRegionAvail().x - all - more - px(18), px(60)));
    const std::string& of = one.value.empty() ? one.op : one.value;
    if (piece("layout/chosen/" + of, label, true, one.text + ": a click takes it back"))
      choose_layouts(session, ui, without(now, one.value, one.op), of + " by default");
  }
  if (shown < words.size()) {
    const std::string more = fmt::format("and {} more", words.size() - shown);
    caption(more);
    if (ImGui::IsItemHovered()) tooltip(choices_in_words(now));
  }
  if (words.size() > 1) {
    ImGui::SameLine(0, px(4));
    if (piece("layout/all_default", "All by default", false, "takes all of them back"))
      choose_layouts(session, ui, {}, "layouts by default");
  }
  ImGui::PopStyleVar();
}

void draw_layout_alternatives(const Session& session, UiState& ui, const LayoutView& view, bool with_bounds, LayoutTabState& s) {
  std::vector<LayoutChoiceRow> rows = layout_choice_rows(view);
  if (rows.empty()) {
    const bool known = s.a.answer && s.a.answer->of.alternatives;
    return wrapped_text(fonts().body, theme().dim, known ? "no other choice is known for this op" : "being worked out");
  }
  const auto all = layout_choice_columns();
  std::vector<Column<LayoutChoiceRow>> columns(all.begin(), all.end());
  for (auto& column : columns) {
    column.width = text_size(fonts().small_bold, column.title).x + px(14);
    column.flags = ImGuiTableColumnFlags_WidthFixed;
  }
  columns.front().width = text_size(fonts().bold, "panels 128").x + px(6);
  column_of(columns, "instruction").width = text_size(fonts().body, "st.shared.8 x2/3").x + px(6);
  column_of(columns, "bytes").width = std::max(column_of(columns, "bytes").width, px(56));
  column_of(columns, "why not").flags = ImGuiTableColumnFlags_WidthStretch;
  column_of(columns, "why not").width = 1;
  column_of(columns, "ways").ink = [](const LayoutChoiceRow& row) { return row.cost.ways > 1 ? theme().bad : theme().text; };
  draw_use_in(columns, session, ui, view);
  // Where the room is short the least interesting ones go; a row says all of them beside the mouse.
  const float room = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize - px(240);
  for (const char* least : {"bytes", "regs", "issue", "port", "ways"}) {
    float needed = 0;
    for (const auto& column : columns) needed += column.flags == ImGuiTableColumnFlags_WidthFixed ? column.width + px(10) : 0;
    if (needed <= room) break;
    std::erase_if(columns, [&](const auto& column) { return column.title == least; });
  }
  const auto words = [](const char* title, std::vector<Column<LayoutChoiceRow>>& list) {
    Column<LayoutChoiceRow>& column = column_of(list, title);
    column.draw = [text = column.text](const LayoutChoiceRow& row) {
      const std::string whole = text(row), shown = fitted(fonts().body, whole, ImGui::GetContentRegionAvail().x);
      colored_text(row.possible ? theme().text : theme().dim, shown);
      if (shown != whole && ImGui::IsItemHovered()) tooltip(whole);
    };
  };
  words("instruction", columns);
  words("why not", columns);
  if (!with_bounds) column_of(columns, "II at least").text = [](const LayoutChoiceRow&) { return std::string("..."); };
  TableLook look;
  look.flags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings;
  look.size = ImGui::GetContentRegionAvail();
  look.order = &s.order;
  // Where its bar is, there is no room for letters.
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (probe::on())
    probe::item("layout/scrollbar", corner.x + look.size.x - ImGui::GetStyle().ScrollbarSize, corner.y, corner.x + look.size.x,
                corner.y + look.size.y);
  const auto heading = [&](const Column<LayoutChoiceRow>& column) {
    if (!column.title.empty()) draw_heading(column, "layout/sort", s.order);
  };
  draw_table(TableOf("layout_alternatives", look, columns), rows, heading, [&](const LayoutChoiceRow& row, std::size_t) {
    const bool beside =
        s.beside == LayoutBeside::Alternative && s.alternative == row.layout && s.alternative_instruction == row.instruction;
    const float left = ImGui::GetCursorPosX();
    if (table_row(fmt::format("layout/alternative/{}", row.index), beside, ImGuiSelectableFlags_AllowItemOverlap)) {
      if (beside || row.current) {
        s.beside = LayoutBeside::Nothing;
      } else {
        s.beside = LayoutBeside::Alternative;
        s.alternative = row.layout;
        s.alternative_instruction = row.instruction;
      }
    }
    allow_overlap_after_item();
    if (ImGui::IsItemHovered() && !tooltips_rest()) tooltip(row_tip(row));
    ImGui::SameLine(0, 0);
    ImGui::SetCursorPosX(left);
    const std::string& whole = row.layout;
    const FontScope font(row.current ? fonts().bold : fonts().body);
    const std::string shown = fitted(row.current ? fonts().bold : fonts().body, whole, ImGui::GetContentRegionAvail().x);
    colored_text(row.possible ? theme().text : theme().dim, shown);
    if (shown != whole && ImGui::IsItemHovered()) tooltip(whole);
  });
}

}  // namespace heddle::app
