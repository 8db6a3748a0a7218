// The Graph tab: the picture of the dataflow with what stands around it, or its edges as a table.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/graph/graph_edit.h"
#include "app/window/tabs/graph/graph_state.h"
#include "app/window/tabs/graph/graph_view.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/dot.h"

namespace heddle::app {
namespace {

constexpr std::size_t kKnownLayouts = 8;
constexpr float kLimitWidth = 420;  // pixels: less room than that is a line of its own

/// Finds, starts or takes in the layout of this input; null while there is none.
std::shared_ptr<const GraphLayout> find_layout(GraphState& s, const GraphInput& input) {
  if (s.job)
    if (const auto answer = s.job->take()) {
      if (*answer) {
        s.known.push_back({s.job->input(), std::make_shared<const GraphLayout>(std::move(**answer))});
        if (s.known.size() > kKnownLayouts) s.known.erase(s.known.begin());
      } else {
        s.failed = s.job->input();
        s.error = answer->error();
      }
      s.job.reset();
    }
  for (auto known = s.known.rbegin(); known != s.known.rend(); ++known)
    if (known->input == input) return known->layout;
  const bool too_large = input.node_widths.size() > kMostGraphOps && s.anyway != input;
  if (s.failed == input || too_large) return nullptr;
  if (s.job && s.job->input() == input) return nullptr;
  s.job = std::make_unique<LayoutJob>(input, s.program);  // one at a time: an older one is ended
  return nullptr;
}

void rebuild(const Session& session, const EndOps& ends, GraphState& s, const std::shared_ptr<const GraphLayout>& layout) {
  if (s.model && s.shown == layout && s.built_revision == session.revision() && s.built_cycle == s.cycle) return;
  const Content& content = session.content();
  const ScheduleEntry* entry = content.entry();
  if (s.shown != layout) {
    s.view.zoom = 0;  // fits again
    s.hovered.reset();
    s.hovered_arc.reset();
    s.pressed.reset();
  }
  s.model = build_graph({*content.problem, ends, *content.bounds, entry ? &entry->schedule : nullptr, entry ? &entry->period : nullptr},
                        s.cycle, *layout);
  s.shown = layout;
  s.built_revision = session.revision();
  s.built_cycle = s.cycle;
}

/// A button that stays pressed.
bool view_choice(const char* name, const char* label, bool on, const char* about) {
  const ImVec2 size = text_size(fonts().small, label);
  const ImVec2 at = ImGui::GetCursorScreenPos(), box(size.x + px(16), px(22));
  ImGui::PushID(name);
  const bool clicked = ImGui::InvisibleButton("choice", box);
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + box.x, at.y + box.y}, on ? theme().raised : hovered ? theme().hovered : theme().card, px(4));
  if (on) list.AddRect(at, {at.x + box.x, at.y + box.y}, theme().border, px(4));
  paint_text(fonts().small, {at.x + px(8), at.y + (box.y - size.y) / 2}, on ? theme().text : theme().dim, label);
  if (hovered) tooltip(about);
  ImGui::SameLine(0, px(4));
  return clicked;
}

void draw_bar(const Session& session, const EndOps& ends, UiState& ui, bool down) {
  GraphState& s = ui.of<GraphState>();
  const Content& content = session.content();
  const ScheduleEntry* entry = content.entry();
  const float left = ImGui::GetCursorScreenPos().x, whole = ImGui::GetContentRegionAvail().x;
  float top = ImGui::GetCursorScreenPos().y;
  if (view_choice("graph/picture", "Picture", !s.table, "boxes and lines")) s.table = false;
  if (view_choice("graph/table", "Table", s.table, "the same edges as a table")) s.table = true;
  if (view_choice("graph/edit", "Edit", s.edit, "the chosen op as a form: its kind, what it reads, its result; ops added and removed"))
    s.edit = !s.edit;
  ImGui::SameLine(0, px(10));
  if (!s.table) {
    if (view_choice("graph/direction", down ? "Down" : "Right", false, "the way that data flows in the picture: to the right, or down"))
      s.downwards = !down;
    if (view_choice("graph/follow", "Follow", s.follow, "bring an op into view when it is selected elsewhere")) s.follow = !s.follow;
    if (entry && view_choice("graph/cycle", s.cycle == GraphCycle::Period ? "Bold: limiting cycle" : "Bold: recurrence", false,
                             "what is drawn bold: the cycle that limits this schedule's period, or the recurrence with the greatest bound"))
      s.cycle = s.cycle == GraphCycle::Period ? GraphCycle::Recurrence : GraphCycle::Period;
  }
  const auto copy = [&](const char* name, const char* label, auto&& text) {
    if (button(name, label, ButtonKind::Plain, {}, {0, px(22)})) ui.commands.push(copy_text(text()));
    ImGui::SameLine(0, px(5));
  };
  const FontScope small(fonts().small);
  // On a second line where one is too short.
  if (ImGui::GetCursorScreenPos().x + px(250) > left + whole) ImGui::SetCursorScreenPos({left, top += px(26)});
  copy("graph/copy", "Copy", [&] {
    const std::vector<Column<EdgeRow>> columns = edge_columns(*content.problem);
    return table_as_text(std::span(columns), edge_rows(*content.problem, entry ? &entry->schedule : nullptr));
  });
  copy("graph/copy_dot", "Copy DOT", [&] { return dependence_dot(*content.problem, entry ? &entry->schedule : nullptr, &ends); });
  copy_command_button("graph/copy_command", session, ui, command_line(session, "export", {"--format", "dot"}), {0, px(22)});
  ImGui::SameLine(0, px(12));
  // What is bold: on the same line, or on one of its own. Which, its text has no say in: that comes with the picture, later, and nothing
  // below may move then.
  if (s.model || !s.table) {
    float x = ImGui::GetCursorScreenPos().x;
    if (x + px(kLimitWidth) > left + whole) x = left, top += px(24);
    const std::string limit = s.model ? s.model->limit : std::string(), line = fitted(fonts().small, limit, left + whole - x);
    ImGui::SetCursorScreenPos({x, top});
    ImGui::Dummy({left + whole - x, px(22)});
    if (line != limit && ImGui::IsItemHovered()) tooltip(limit);
    paint_text(fonts().small, {x, top + (px(22) - text_size(fonts().small, "X").y) / 2}, theme().dim, line);
  }
  ImGui::SetCursorScreenPos({left, top + px(27)});
}

void explain_absence(const GraphInput& input, UiState& ui) {
  GraphState& s = ui.of<GraphState>();
  if (s.job) {
    colored_text(theme().dim, fmt::format("Graphviz is laying out {} ops and {} lines: {:.1f} s", input.node_widths.size(),
                                          input.arcs.size(), s.job->seconds()));
    if (input.node_widths.size() > kMostGraphOps && button("graph/stop", "Cancel")) {
      s.job.reset();
      s.anyway.reset();
    }
    return;
  }
  if (s.failed == input) {
    for (const Fault& fault : s.error.faults) {
      wrapped_text(fonts().body, theme().text, fault.message);
      if (!fault.hint.empty()) wrapped_text(fonts().body, theme().dim, fault.hint);
    }
    if (button("graph/again", "Try again")) s.failed.reset();
    ImGui::SameLine(0, px(8));
    if (button("graph/as_table", "Show the edges as a table", ButtonKind::Flat)) s.table = true;
    return;
  }
  wrapped_text(fonts().body, theme().text,
               fmt::format("This graph has {} ops. Pictures of more than {} take long to lay out and are hard to read.",
                           grouped(static_cast<std::int64_t>(input.node_widths.size())), kMostGraphOps));
  if (button("graph/anyway", "Lay it out anyway")) s.anyway = input;
}

void draw_edge_table(const Session& session, UiState& ui) {
  GraphState& s = ui.of<GraphState>();
  const Content& content = session.content();
  const Problem& problem = *content.problem;
  const ScheduleEntry* entry = content.entry();
  std::vector<EdgeRow> rows = edge_rows(problem, entry ? &entry->schedule : nullptr);
  std::vector<Column<EdgeRow>> columns = edge_columns(problem);
  for (auto& column : columns) {
    column.width = column.number ? 0.7f : 1.2f;
    if (column.number) continue;
    column.draw = [text = column.text](const EdgeRow& row) {
      colored_text(theme().text, fitted(fonts().body, text(row), ImGui::GetContentRegionAvail().x));
    };
  }
  column_of(columns, "distance").ink = [](const EdgeRow& row) { return row.distance > 0 ? theme().text : theme().dim; };
  column_of(columns, "slack").ink = [](const EdgeRow& row) { return slack_ink(row.slack, theme().text); };
  TableLook look;
  look.flags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_ScrollY;
  look.order = &s.order;
  const auto heading = [&](const Column<EdgeRow>& column) {
    const FontScope scope(fonts().small_bold);
    const bool current = s.order.column == column.title;
    const std::string label = column.title + (current ? (s.order.descending ? " ▼" : " ▲") : "");
    const float width = ImGui::CalcTextSize(label.c_str()).x;
    if (column.number) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, ImGui::GetContentRegionAvail().x - width));
    ImGui::PushID(column.title.c_str());
    if (link(("graph/sort/" + column.title).c_str(), label)) s.order = {column.title, current && !s.order.descending};
    ImGui::PopID();
  };
  draw_table(TableOf("edges", look, columns), rows, heading, [&](const EdgeRow& row, std::size_t) {
    const bool picked = session.selection().contains(row.from) && session.selection().contains(row.to);
    ImGui::PushStyleColor(ImGuiCol_Header, theme().selected);
    if (table_row(fmt::format("graph/edge/{}", row.edge.index()), picked)) {
      ui.commands.push(SelectOp{row.from});
      if (row.to != row.from) ui.commands.push(SelectOp{row.to, true});
      const std::string why = printable(problem.op(row.from).name) + " to " + printable(problem.op(row.to).name);
      ui.commands.push(show_highlight(Highlight{why, {row.from, row.to}, {row.edge}, {}}));
    }
    ImGui::PopStyleColor();
    ImGui::SameLine(0, 0);
    columns.front().draw(row);
  });
}

/// The picture, the table, or why there is none.
void draw_rest(const Session& session, const Models& models, UiState& ui, const GraphInput& input,
               const std::shared_ptr<const GraphLayout>& layout) {
  const Content& content = session.content();
  GraphState& s = ui.of<GraphState>();
  if (s.table) return draw_edge_table(session, ui);
  if (!layout) return explain_absence(input, ui);
  const ScheduleEntry* entry = content.entry();
  ImGui::BeginChild("graph", ImVec2(0, 0), false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  draw_graph(
      {*content.problem, models.ends.problem, entry ? &entry->schedule : nullptr, *s.model, session.selection(), session.view().highlight},
      s, ui.chart.requested, ui.commands);
  ImGui::EndChild();
}

}  // namespace

void draw_graph_tab(const Session& session, const Models& models, UiState& ui) {
  const Content& content = session.content();
  GraphState& s = ui.of<GraphState>();
  s.hears_keys = ui.maximized;
  if (!content.problem) return colored_text(theme().dim, "Open a kernel and a machine: its ops and dependences are drawn here as a graph.");
  if (content.problem->ops.empty()) return colored_text(theme().dim, "The loop body has no op.");
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool down = s.downwards.value_or(room.y > 0.5f * room.x);
  const GraphInput input = graph_input(*content.problem, models.ends, down);
  const std::shared_ptr<const GraphLayout> layout = s.table ? nullptr : find_layout(s, input);
  if (layout) rebuild(session, models.ends, s, layout);
  draw_bar(session, models.ends, ui, down);
  if (s.edit) {
    const float width = std::min(px(290), ImGui::GetContentRegionAvail().x * 0.5f);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width);
    const ImVec2 at = ImGui::GetCursorPos();
    ImGui::BeginChild("form", ImVec2(0, 0));
    draw_graph_edit(session, ui);
    ImGui::EndChild();
    ImGui::SetCursorPos({ImGui::GetCursorStartPos().x, at.y});
    ImGui::BeginChild("rest", ImVec2(at.x - ImGui::GetCursorStartPos().x - px(10), 0), false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  }
  draw_rest(session, models, ui, input, layout);
  if (s.edit) ImGui::EndChild();
}

}  // namespace heddle::app
