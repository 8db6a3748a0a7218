// The What if tab: numbers that are taken differently, the machine, and the selected op's numbers with II as a function of its
// latency.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/files.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/parts/what_if_slider.h"
#include "app/window/parts/what_if_state.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// Reads a sentence as --set does and puts it in force.
void put_in_force(const Session& session, UiState& ui, const std::string& text) {
  WhatIfState& state = ui.of<WhatIfState>();
  state.complaint.clear();
  state.hint.clear();
  const Content& content = session.content();
  const auto change = parse_change(text, *content.kernel, *content.machine);
  if (!change) {
    for (const Fault& fault : change.error().faults) {
      state.complaint += (state.complaint.empty() ? "" : "; ") + fault.message;
      if (!fault.hint.empty()) state.hint += (state.hint.empty() ? "" : "; ") + fault.hint;
    }
    return;
  }
  ui.commands.push(SetChange{*change, state.solve_on_release});
  state.sentence[0] = 0;
}

void draw_sentence_field(const Session& session, UiState& ui) {
  WhatIfState& state = ui.of<WhatIfState>();
  const float width = ImGui::GetContentRegionAvail().x;
  const float add = button_width("Set");
  if (input_field("what_if/sentence", "exp0.latency=600, TC.capacity=+1 ...", state.sentence, sizeof state.sentence, width - add - px(8)))
    state.complaint.clear(), state.hint.clear();
  const bool entered = ImGui::IsItemDeactivated() && key_pressed(Key::Enter);
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
    tooltip(
        "NUMBER=VALUE as for --set: OP.latency, OP.UNIT.duration, a rule of the machine in place of OP, UNIT.capacity, limits.NAME, "
        "handoff.register_copy, handoff.signal, groups; an integer, +N, -N, +P% or -P%");
  ImGui::SameLine();
  const bool pressed = button("what_if/set", "Set", ButtonKind::Plain, state.sentence[0] ? "" : "write a change first");
  if ((entered || pressed) && state.sentence[0]) put_in_force(session, ui, state.sentence);
  if (!state.complaint.empty()) wrapped_text(fonts().small, theme().bad, "! " + state.complaint);
  if (!state.hint.empty()) wrapped_text(fonts().small, theme().dim, state.hint);
}

/// The value of a change as text; a click makes a field of it.
void draw_value(const Session& session, UiState& ui, std::size_t index, const ChangeRow& row, float width) {
  WhatIfState& state = ui.of<WhatIfState>();
  const std::string name = fmt::format("what_if/value/{}", index);
  if (state.edited == index) {
    if (state.edit_opened) ImGui::SetKeyboardFocusHere();
    input_field(name.c_str(), "value", state.value_text, sizeof state.value_text, width);
    if (!state.edit_opened && ImGui::IsItemDeactivated()) {
      if (!key_pressed(Key::Escape) && row.value != state.value_text) put_in_force(session, ui, row.number + "=" + state.value_text);
      state.edited.reset();
    }
    state.edit_opened = false;
    return;
  }
  if (!button(name.c_str(), row.value, ButtonKind::Flat, {}, {width, px(24)})) return;
  state.edited = index;
  state.edit_opened = true;
  std::snprintf(state.value_text, sizeof state.value_text, "%s", row.value.c_str());
}

void draw_changes(const Session& session, UiState& ui) {
  WhatIfState& state = ui.of<WhatIfState>();
  const Content& content = session.content();
  if (state.changes_of != content.problem || state.changes.size() != content.changes.size()) {
    state.changes_of = content.problem;
    state.changes = change_rows(content);
  }
  if (state.changes.empty()) {
    wrapped_text(fonts().small, theme().dim,
                 "All numbers are as kernel and machine say. Drag a slider, write a change below, or try a machine.");
    return;
  }
  const float width = ImGui::GetContentRegionAvail().x, remove = px(24), value = std::min(px(90), width * 0.25f);
  for (std::size_t i = 0; i < state.changes.size(); ++i) {
    const ChangeRow& row = state.changes[i];
    ImGui::PushID(static_cast<int>(i));
    bool enabled = content.changes[i].enabled;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(2), px(2)));
    if (ImGui::Checkbox("##on", &enabled)) ui.commands.push(ToggleChange{i});
    ImGui::PopStyleVar();
    if (probe::on()) probe::last_item(fmt::format("what_if/on/{}", i));
    ImGui::SameLine();
    const float left = ImGui::GetCursorPosX();
    const float was = row.was.empty() ? 0 : text_size(fonts().small, "was " + row.was).x + px(10);
    const bool room_for_was = width - left - value - remove - was > px(100);
    const float name = width - left - value - remove - (room_for_was ? was : 0) - px(6);
    ImGui::AlignTextToFramePadding();
    colored_text(content.changes[i].enabled ? theme().text : theme().faint,
                 fitted_middle(fonts().body, row.number, std::max(name, px(30))));
    ImGui::SameLine(left + std::max(name, px(30)));
    draw_value(session, ui, i, row, value);
    if (room_for_was && was > 0) {
      ImGui::SameLine();
      ImGui::AlignTextToFramePadding();
      const FontScope scope(fonts().small);
      colored_text(theme().dim, "was " + row.was);
    }
    ImGui::SameLine(width - remove);
    if (button(fmt::format("what_if/remove/{}", i).c_str(), "x", ButtonKind::Flat, {}, {remove, px(24)}))
      ui.commands.push(RemoveChange{i, false});
    if (ImGui::IsItemHovered()) tooltip("take it back");
    ImGui::PopID();
  }
}

void draw_machines(const Session& session, UiState& ui) {
  const Content& content = session.content();
  if (ui.machines_of != content.kernel) {
    ui.machines_of = content.kernel;
    ui.machines = machines_for(*content.kernel, content.overrides);
  }
  section("MACHINE");
  for (std::size_t i = 0; i < ui.machines.size(); ++i) {
    const std::string& name = ui.machines[i];
    if (i > 0) same_line_if_room(button_width(name));
    if (choice(("what_if/machine/" + name).c_str(), name, content.machine && content.machine->name == name) &&
        content.machine->name != name)
      ui.commands.push(SwitchMachine{name, ui.of<WhatIfState>().solve_on_release});
    if (ImGui::IsItemHovered())
      tooltip("what if it were " + name + ": changes, constraints and parameters stay, schedules that fit are checked again");
  }
}

/// The heading, with the switch at its right end.
void draw_heading(const Session& session, UiState& ui) {
  const float top = ImGui::GetCursorPosY(), width = ImGui::GetContentRegionAvail().x;
  section("CHANGES OF NUMBERS");
  const float below = ImGui::GetCursorPosY();
  const bool solve = !ui.of<WhatIfState>().solve_on_release && button_width("Solve F5") < width;
  const char* text = "solve at once";
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(2), px(1)));
  const float box = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x + text_size(fonts().small, text).x;
  ImGui::SetCursorPos(ImVec2(width - box, top + px(3)));
  {
    const FontScope scope(fonts().small);
    ImGui::Checkbox(text, &ui.of<WhatIfState>().solve_on_release);
  }
  ImGui::PopStyleVar();
  if (probe::on()) probe::last_item("what_if/solve_at_once");
  if (ImGui::IsItemHovered()) tooltip("off: schedules are only checked again, until you press F5");
  ImGui::SetCursorPosY(below);
  if (!solve) return;
  const Action& action = *find_action("solve");
  if (button("what_if/solve", "Solve  F5", ButtonKind::Primary, why_not(action, session), {0, px(24)})) perform(action, session, ui);
}

void draw_left(const Session& session, UiState& ui) {
  draw_heading(session, ui);
  draw_changes(session, ui);
  draw_sentence_field(session, ui);
  draw_machines(session, ui);
}

PlotModel plot_of(const LatencyRange& answer, const std::vector<LatencyRow>& rows) {
  PlotModel plot;
  plot.title = "by latency of " + answer.op;
  plot.y.title = "least II";
  plot.x.title = "latency, cycles";
  PlotCurve curve;
  for (const LatencyRow& row : rows) {
    const LatencyStep& s = row.segment.step;
    if (s.ii >= kNoFiniteII) {
      if (s.lower_bound < kNoFiniteII)
        plot.points.push_back({static_cast<double>(s.low + s.high) / 2, static_cast<double>(s.lower_bound), PlotMark::AtLeast,
                               theme().warning, false, "", "no schedule found, II ≥ " + grouped(s.lower_bound)});
      continue;
    }
    const double low = static_cast<double>(s.low), high = static_cast<double>(s.high) + (s.high < answer.to ? 1 : 0);
    curve.pieces.push_back({low, high, static_cast<double>(s.ii), static_cast<double>(row.segment.last_ii()), !s.proved()});
  }
  plot.curves.push_back(std::move(curve));
  plot.lines.push_back({static_cast<double>(answer.latency), "now " + grouped(answer.latency), theme().text, false});
  if (answer.valid_to && *answer.valid_to <= answer.to && *answer.valid_to > answer.latency)
    plot.lines.push_back({static_cast<double>(*answer.valid_to), "this schedule: up to " + grouped(*answer.valid_to), theme().good, true});
  plot.x.low = static_cast<double>(answer.from);
  plot.x.high = static_cast<double>(answer.to);
  return plot;
}

void draw_steps(std::vector<LatencyRow> rows, WhatIfState& state, ImVec2 size) {
  std::vector<Column<LatencyRow>> columns = latency_columns();
  column_of(columns, "status").ink = [](const LatencyRow& row) { return row.segment.step.proved() ? theme().good : theme().warning; };
  columns.back().flags = ImGuiTableColumnFlags_WidthStretch;
  columns.back().draw = [](const LatencyRow& row) {
    const std::string why = drawable(pretty(row.segment.step.why));
    colored_text(theme().dim, fitted(fonts().body, why, std::max(ImGui::GetContentRegionAvail().x, px(20))));
    if (ImGui::IsItemHovered()) tooltip(why);
  };
  TableLook look;
  look.flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_RowBg;
  look.size = size;
  look.every_row = true;
  look.order = &state.order;
  const auto heading = [&](const auto& column) { draw_heading(column, "latency/sort", state.order); };
  draw_table(TableOf("latency_table", look, columns), rows, heading, [&](const LatencyRow& row, std::size_t) {
    colored_text(theme().text, columns.front().text(row));
    if (probe::on()) probe::last_item("latency/row/" + row.latencies);
  });
}

const LatencyRange* answer_about_op(const Session& session, const WhatIfState& state) {
  const QuestionState& asked = session.question(Topic::Latency);
  return asked.options.latency.op == state.op && asked.problem == state.problem ? asked.as<LatencyRange>() : nullptr;
}

/// Sliders and what is said about them; the question about II, its state.
void draw_numbers(const Session& session, UiState& ui, const LatencyRange* answer) {
  WhatIfState& state = ui.of<WhatIfState>();
  const WhatIfNumber& latency = state.numbers.front();
  section("OF " + latency.number.op, "drag; a double click resets");
  for (std::size_t i = 0; i < state.numbers.size(); ++i) {
    draw_what_if_slider(session, ui, i, "what_if");
    const bool dragged = state.dragged && *state.dragged == state.numbers[i];
    if (dragged || (!state.dragged && i == 0)) draw_what_if_words(session, ui, i);
  }
  Ask ask{Topic::Latency, {}};
  ask.options.latency.op = state.op;
  ask.options.latency.from = latency.low;
  ask.options.latency.to = latency.high;
  const QuestionState& asked = session.question(Topic::Latency);
  if (!asked.active() && !(answer && session.answered(Topic::Latency)) && session.remembers(Topic::Latency, ask.options))
    ui.commands.push(ask);
  draw_question_bar(session, ui, Topic::Latency, ask.options, "II by latency");
  if (answer)
    draw_copy_buttons(
        "latency", session, ui, [&] { return latency_as_text(*answer); }, ask_command(session, Topic::Latency, ask.options));
  if (answer || asked.active() || !session.why_no_question(Topic::Latency).empty()) draw_question_state(session, Topic::Latency);
  ImGui::NewLine();
  if (!answer)
    wrapped_text(fonts().small, theme().dim,
                 fmt::format("asks for the least II at every latency from {} to {}", grouped(latency.low), grouped(latency.high)));
  else if (!answer->fault.empty())
    wrapped_text(fonts().small, theme().bad, answer->fault);
  else
    wrapped_text(fonts().small, theme().text, latency_sentence(*answer));
}

void draw_right(const Session& session, UiState& ui) {
  WhatIfState& state = ui.of<WhatIfState>();
  if (state.numbers.empty()) {
    section("OF ONE OP");
    wrapped_text(fonts().small, theme().dim,
                 "Select an op in the chart or the list: its latency and how long it holds its units become sliders, with the values up to "
                 "which the shown schedule stays valid, and II as a function of the latency.");
    return;
  }
  const LatencyRange* answer = answer_about_op(session, state);
  const bool steps = answer && answer->fault.empty() && !answer->steps.empty();
  const ImVec2 room = ImGui::GetContentRegionAvail(), begin = ImGui::GetCursorScreenPos();
  // The plot beside the sliders where there is room for both, else below them.
  const bool beside = steps && room.x > px(520) && room.y > px(150);
  const float left = beside ? std::clamp(room.x * 0.46f, px(250), px(420)) : room.x;
  // Where all of it has no room the plot goes first: the table says the same.
  const float numbers = px(190), plot = px(150);
  const bool with_plot = beside || room.y >= numbers + plot;
  ImGui::BeginChild("numbers", ImVec2(left, beside || !steps ? room.y : std::min(room.y, numbers)));
  draw_numbers(session, ui, answer);
  std::vector<LatencyRow> rows;
  if (steps) rows = latency_rows(*answer);
  if (beside)
    draw_steps(
        rows, ui.of<WhatIfState>(),
        ImVec2(ImGui::GetContentRegionAvail().x,
               std::max(ImGui::GetContentRegionAvail().y, px(28) + px(24) * static_cast<float>(std::min<std::size_t>(rows.size(), 6)))));
  ImGui::EndChild();
  if (!steps) return;
  if (beside) {
    ImGui::SetCursorScreenPos(ImVec2(begin.x + left + px(14), begin.y + px(4)));
    draw_plot("latency/plot", plot_of(*answer, rows), ImVec2(room.x - left - px(14), std::min(room.y - px(8), px(320))), state.plot);
  } else {
    if (with_plot) draw_plot("latency/plot", plot_of(*answer, rows), ImVec2(room.x, plot), state.plot);
    if (const float rest = ImGui::GetContentRegionAvail().y; rest >= px(60)) draw_steps(rows, ui.of<WhatIfState>(), ImVec2(room.x, rest));
  }
}

}  // namespace

void draw_what_if_tab(const Session& session, const Models&, UiState& ui) {
  const Content& content = session.content();
  if (!content.problem) return colored_text(theme().dim, "Open a kernel and a machine to ask what if a number were different.");
  refresh_what_if(session, ui);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool beside = room.x > px(560);
  const float left = beside ? std::clamp(room.x * 0.32f, px(250), px(400)) : 0;
  if (!beside) {
    ImGui::BeginChild("what_if", room);
    draw_left(session, ui);
    draw_right(session, ui);
    ImGui::EndChild();
    return;
  }
  ImGui::BeginChild("changes", ImVec2(left, room.y));
  draw_left(session, ui);
  ImGui::EndChild();
  ImGui::SameLine(0, px(18));
  ImGui::BeginChild("of_op", ImVec2(room.x - left - px(18), room.y));
  draw_right(session, ui);
  ImGui::EndChild();
}

}  // namespace heddle::app
