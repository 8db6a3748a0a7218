// The Sensitivity tab: which number matters when it is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/parts/what_if_state.h"
#include "app/window/tabs/sensitivity/sensitivity_model.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// What the tab keeps between frames.
struct SensitivityState {
  int percent = 10;
  bool all = false;  ///< numbers without any effect too
  bool layouts_open = false;
  std::string selected;  ///< the number whose ops are lit
};

AskOptions options_of(const SensitivityState& state) {
  AskOptions options;
  options.sensitivity.percent = state.percent;
  options.layouts_open = state.layouts_open;
  return options;
}

Color end_ink(const SensitivityEnd& end, Cycle ii) {
  switch (end.kind) {
    case SensitivityEnd::Kind::Same: return theme().faint;
    case SensitivityEnd::Kind::Open: return theme().warning;
    case SensitivityEnd::Kind::NoSchedule:
    case SensitivityEnd::Kind::Impossible: return theme().bad;
    case SensitivityEnd::Kind::Known: return end.low == ii ? theme().dim : theme().text;
  }
  return theme().text;
}

/// II on both sides of where it is now: what less of the number does is an outline, what more does is filled.
void paint_swing(const SensitivityLine& line, const SensitivityModel& model) {
  const Theme& t = theme();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, px(20)), height = text_size(fonts().body, "X").y;
  const float middle = at.x + width / 2, room = width / 2 - px(9), y = at.y + height / 2, half = px(5);
  draw.AddLine(ImVec2(middle, at.y), ImVec2(middle, at.y + height), t.border, px(1));
  const auto stretch = [&](const SensitivityEnd& end, bool filled) {
    if (end.kind == SensitivityEnd::Kind::Same || end.kind == SensitivityEnd::Kind::Impossible) return;
    if (end.kind == SensitivityEnd::Kind::NoSchedule) {
      // Off the scale.
      const float x = at.x + width - px(2);
      draw.AddTriangleFilled(ImVec2(x - px(7), y - px(5)), ImVec2(x - px(7), y + px(5)), ImVec2(x, y), t.bad);
      return;
    }
    const Cycle to = end.kind == SensitivityEnd::Kind::Open && end.high < kNoFiniteII ? end.high : end.low;
    const auto share = static_cast<float>(static_cast<double>(to - model.ii) / static_cast<double>(std::max<Cycle>(model.reach, 1)));
    const float x = middle + std::clamp(share, -1.0f, 1.0f) * room;
    if (std::abs(x - middle) < px(0.5f)) return;
    const ImVec2 low(std::min(x, middle), y - half), high(std::max(x, middle), y + half);
    const Color color = to < model.ii ? t.good : t.warning;
    if (filled)
      draw.AddRectFilled(low, high, color, px(1));
    else
      draw.AddRect(low, high, color, px(1), 0, px(1.5f));
  };
  stretch(line.less, false);
  stretch(line.more, true);
  ImGui::Dummy(ImVec2(width, height));
}

void select_ops(const SensitivityLine& line, UiState& ui) {
  ui.of<SensitivityState>().selected = line.number;
  ui.commands.push(ClearSelection{});
  for (const OpId op : line.ops) ui.commands.push(SelectOp{op, true});
  Highlight highlight;
  if (!line.ops.empty()) highlight = {line.number + " is a cost of these", line.ops, {}, {}};
  ui.commands.push(show_highlight(std::move(highlight)));
}

/// The number some percent less or more, in force.
void try_it(const Session& session, UiState& ui, const SensitivityLine& line, int percent) {
  const Content& content = session.content();
  const auto change = parse_change(fmt::format("{}={:+}%", line.number, percent), *content.kernel, *content.machine);
  if (change) ui.commands.push(SetChange{*change, ui.of<WhatIfState>().solve_on_release});
}

/// The number, which is also the handle of the line.
void draw_number(const Session& session, UiState& ui, const SensitivityModel& model, const SensitivityLine& line) {
  const std::string name = "sensitivity/row/" + line.number;
  if (table_row(name, ui.of<SensitivityState>().selected == line.number, ImGuiSelectableFlags_AllowItemOverlap)) select_ops(line, ui);
  allow_overlap_after_item();
  if (ImGui::IsItemHovered()) {
    std::string text = line.number;
    if (!line.ops.empty()) {
      text += ": a cost of";
      for (const OpId op : line.ops)
        if (op.index() < session.content().problem->ops.size()) text += " " + session.content().problem->op(op).name;
    }
    for (const auto& [end, sign] : {std::pair(&line.less, "-"), std::pair(&line.more, "+")})
      text += fmt::format("\n{}{} %{}{}: {}{}", sign, model.percent, end->values.empty() ? "" : ", ", end->values,
                          end->kind == SensitivityEnd::Kind::Known || end->kind == SensitivityEnd::Kind::Open ? "II " : "", end->text);
    text += line.proved() ? "\nproved" : "\nnot proved";
    tooltip(text);
  }
  ImGui::SameLine();
  colored_text(line.without_effect() ? theme().dim : theme().text,
               fitted_middle(fonts().body, line.number, std::max(ImGui::GetContentRegionAvail().x, px(30))));
}

/// Links that put the number some percent less, or more, in force.
void draw_links(const Session& session, UiState& ui, const SensitivityModel& model, const SensitivityLine& line) {
  if (line.effect == SensitivityEffect::TooSmall) return;
  for (const int percent : {-model.percent, model.percent}) {
    const SensitivityEnd& end = percent < 0 ? line.less : line.more;
    if (percent > 0) ImGui::SameLine();
    if (end.kind == SensitivityEnd::Kind::Impossible || end.kind == SensitivityEnd::Kind::Same) {
      ImGui::Dummy(ImVec2(px(34), px(4)));
    } else if (link(fmt::format("sensitivity/try/{}/{}", line.number, percent < 0 ? "less" : "more").c_str(),
                    fmt::format("{:+} %", percent))) {
      try_it(session, ui, line, percent);
    }
    if (ImGui::IsItemHovered()) tooltip("try it: puts this change in force");
  }
}

void draw_lines(const Session& session, UiState& ui, const SensitivityModel& model, bool current) {
  using Line = SensitivityLine;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (room.y < px(40)) return;
  std::vector<Line> lines = model.lines;
  if (!ui.of<SensitivityState>().all) std::erase_if(lines, [](const Line& line) { return line.without_effect(); });
  constexpr int kNoSort = ImGuiTableColumnFlags_NoSort;
  constexpr float kWidths[] = {2.4f, 0.8f, 1.1f, 1.2f, 1.1f, 0.8f, 2.4f};
  std::vector<Column<Line>> columns = sensitivity_columns(model);
  for (std::size_t c = 0; c < columns.size(); ++c)
    columns[c] = columns[c].wide(kWidths[c], columns[c].key || columns[c].before ? 0 : kNoSort);
  Column<Line>&now = columns[1], &less = columns[2], &swing = columns[3], &more = columns[4], &status = columns[5], &order = columns[6];
  now.ink = [](const Line&) { return theme().dim; };
  less.ink = [&](const Line& line) { return end_ink(line.less, model.ii); };
  more.ink = [&](const Line& line) { return end_ink(line.more, model.ii); };
  swing.draw = [&](const Line& line) { paint_swing(line, model); };
  swing.flags = ImGuiTableColumnFlags_DefaultSort | ImGuiTableColumnFlags_PreferSortDescending;
  if (!fonts().built_in) swing.title = "less | more";
  swing.about = "outline: II with less of the number; filled: with more";
  status.ink = [](const Line& line) {
    return line.effect == SensitivityEffect::TooSmall ? theme().faint : line.proved() ? theme().good : theme().warning;
  };
  order.draw = [](const Line& line) {
    colored_text(line.order == "stays good" ? theme().dim : theme().text,
                 fitted(fonts().body, line.order, std::max(ImGui::GetContentRegionAvail().x, px(30))));
  };
  columns.push_back(Column<Line>{"try it"}
                        .wide(text_size(fonts().body, "-20 % +20 %").x + px(24), kNoSort | ImGuiTableColumnFlags_WidthFixed)
                        .drawn([&](const Line& line) {
                          if (current) draw_links(session, ui, model, line);
                        }));
  TableLook look = scrolling_look(room, px(880), ImGuiTableFlags_Sortable);
  look.every_row = true;
  const auto heading = [&](const Column<Line>& column) {
    const FontScope scope(fonts().small_bold);
    ImGui::TableHeader(column.title.c_str());
    if (!column.about.empty() && ImGui::IsItemHovered()) tooltip(column.about);
    if (probe::on()) probe::last_item(fmt::format("sensitivity/column/{}", &column - columns.data()));
  };
  draw_table(TableOf("sensitivity_table", look, columns), lines, heading,
             [&](const Line& line, std::size_t) { draw_number(session, ui, model, line); });
}

}  // namespace

void draw_sensitivity_tab(const Session& session, const Models&, UiState& ui) {
  SensitivityState& state = ui.of<SensitivityState>();
  const QuestionState& asked = session.question(Topic::Sensitivity);
  const auto* answer = asked.as<Sensitivity>();
  const bool have = answer && asked.problem && session.content().problem;
  // An answer that is known already comes back at once.
  const auto recall = [&] {
    if (session.remembers(Topic::Sensitivity, options_of(state))) ui.commands.push(Ask{Topic::Sensitivity, options_of(state)});
  };
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, "every number off by");
  for (const int percent : {5, 10, 20}) {
    same_line_if_room(button_width("20 %"));
    if (choice(fmt::format("sensitivity/percent/{}", percent).c_str(), fmt::format("{} %", percent), state.percent == percent)) {
      state.percent = percent;
      recall();
    }
  }
  if (layouts_choice(Topic::Sensitivity, session, state.layouts_open)) {
    state.layouts_open = !state.layouts_open;
    recall();
  }
  same_line_if_room(px(90));
  draw_question_bar(session, ui, Topic::Sensitivity, options_of(state), "Try all");
  SensitivityModel model;
  if (have) {
    model = build_sensitivity(*asked.problem, *answer);
    draw_copy_buttons(
        "sensitivity", session, ui, [&] { return sensitivity_as_text(model); }, ask_command(session, Topic::Sensitivity, asked.options));
    if (model.without_effect > 0) {
      if (choice("sensitivity/all", fmt::format("all {}", model.lines.size()), state.all)) state.all = !state.all;
      if (ImGui::IsItemHovered()) tooltip(fmt::format("{} numbers change neither II nor the best order", model.without_effect));
      ImGui::SameLine();
    }
  }
  draw_question_state(session, Topic::Sensitivity);
  if (!have) {
    if (asked.active()) return;
    ImGui::Dummy(ImVec2(0, px(4)));
    wrapped_text(fonts().body, theme().text, "Which number, if it were some percent wrong, would change the answer?");
    wrapped_text(
        fonts().small, theme().dim,
        "Every latency, duration, capacity, limit and hand-off is tried that much smaller and greater: whether II moves, and whether "
        "the present order of the ops stays the best. Those that matter are worth measuring.");
    return;
  }
  ImGui::NewLine();
  const bool old = !session.answered(Topic::Sensitivity), other = answer->percent != state.percent;
  colored_text(old || other ? theme().warning : theme().dim,
               fitted(fonts().small, model.headline + (other ? "   (press Try all for the other percentage)" : ""),
                      ImGui::GetContentRegionAvail().x));
  if (model.lines.empty() && !answer->explanation.empty()) wrapped_text(fonts().small, theme().text, answer->explanation);
  if (old) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 0.55f);
  draw_lines(session, ui, model, !old);
  if (old) ImGui::PopStyleVar();
}

}  // namespace heddle::app
