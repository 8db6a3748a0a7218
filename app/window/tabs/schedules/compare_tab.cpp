// The Compare tab: numbers of A and B side by side, and the ops that differ.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/schedules/compare_state.h"
#include "app/window/tabs/schedules/paper_view.h"
#include "app/window/tabs/schedules/race_view.h"
#include "app/window/tabs/schedules/scoreboard_view.h"
#include "core/answers/difference.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

/// Files of the library that hold schedules of this kernel with these parameters on this machine; looked up once per problem.
const std::vector<LibraryEntry>& shelf_schedules(const std::shared_ptr<const Problem>& problem, CompareTabState& state) {
  if (state.shelf_of == problem) return state.shelf;
  state.shelf_of = problem;
  state.shelf = list_library(Shelf::Schedules);
  std::erase_if(state.shelf, [&](const LibraryEntry& entry) {
    if (!entry.name.starts_with(problem->kernel + "/")) return true;
    const auto target = read_schedule_head(entry.path);
    const auto same = [&](const auto& param) {
      const auto found = problem->params.find(param.first);
      return found != problem->params.end() && found->second == param.second;
    };
    return !target || target->machine != problem->machine || !std::all_of(target->params.begin(), target->params.end(), same);
  });
  return state.shelf;
}

void draw_empty(const Session& session, UiState& ui) {
  const Content& content = session.content();
  if (!content.problem) return colored_text(theme().dim, "Open a kernel and a machine; then two schedules can be held against each other.");
  colored_text(theme().text, "Compare: A is the schedule that is shown, B another one.");
  wrapped_text(
      fonts().small, theme().dim,
      fmt::format("Press {} on a schedule, Ctrl+click it in the list, or drag its row onto the letter B: both then stand on one time axis.",
                  keys_of("set_b")));
  ImGui::Dummy(ImVec2(0, px(4)));
  bool first = true;
  const auto room_for = [&](const std::string& label) {
    if (!std::exchange(first, false)) same_line_if_room(button_width(label));
  };
  if (!content.entry()) {
    const Action& solve = *find_action("solve");
    room_for("Solve  F5");
    if (button("compare/solve", "Solve  F5", ButtonKind::Primary, why_not(solve, session))) perform(solve, session, ui);
  } else if (content.schedules.size() > 1) {
    const std::size_t shown = *content.shown, other = shown > 0 ? shown - 1 : 1;
    const std::string label = "Compare with " + fitted_middle(fonts().body, content.schedules[other]->name, px(200));
    room_for(label);
    if (button("compare/previous", label, ButtonKind::Primary)) ui.commands.push(SetBaseline{other});
  }
  for (const LibraryEntry& entry : shelf_schedules(content.problem, ui.of<CompareTabState>())) {
    // All of them are of this kernel: what comes after its name tells them apart.
    const std::string label = (content.entry() ? "Compare with " : "Open ") + entry.name.substr(content.problem->kernel.size() + 1);
    room_for(label);
    if (button(("compare/shelf/" + entry.name).c_str(), label)) ui.commands.push(OpenSchedule{entry.path, true});
    if (ImGui::IsItemHovered()) tooltip(entry.name);
  }
  room_for("Open a schedule file ...");
  if (button("compare/open", "Open a schedule file ...")) ui.commands.push(show_open_dialog());
}

void draw_head(const Session& session, const CompareModel& model, const std::vector<OpDifferenceRow>& rows, UiState& ui) {
  const float height = px(26), gap = px(6);
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const Action& divergence = *find_action("first_divergence");
  const std::string part = fmt::format("First divergence  {}", keys_of("first_divergence"));
  const float button_width = text_size(fonts().body, part).x + px(24), copy = text_size(fonts().body, "Copy").x + px(24),
              command = text_size(fonts().body, "Copy as command").x + px(24);
  const float buttons = button_width + copy + command + 2 * gap;
  const bool one_line = width - buttons > px(260);
  const float room = one_line ? width - buttons - px(16) : width;
  const std::string text =
      drawable(pretty(model.difference.first ? model.relation + ": " + model.difference.first->sentence : model.relation));
  paint_text(fonts().bold, ImVec2(begin.x, begin.y + px(4)), theme().text, fitted(fonts().bold, text, room));
  ImGui::Dummy(ImVec2(room, height));
  if (probe::on()) probe::last_item("compare/relation");
  if (ImGui::IsItemHovered()) tooltip(text);
  if (one_line) ImGui::SetCursorScreenPos(ImVec2(begin.x + width - buttons, begin.y));
  if (button("compare/first", part, ButtonKind::Plain, why_not(divergence, session), {button_width, height}))
    perform(divergence, session, ui);
  ImGui::SameLine(0, gap);
  if (button("compare/copy", "Copy", ButtonKind::Plain, {}, {copy, height}))
    ui.commands.push(copy_text(compare_tsv(*session.content().problem, model, rows)));
  ImGui::SameLine(0, gap);
  copy_command_button("compare/command", session, ui, compare_command(session), {command, height});
}

const char* arrow(const MetricRow& row) {
  if (row.direction == 0 || fonts().built_in) return "";
  return row.direction > 0 ? "▲ " : "▼ ";
}

/// Which ops are in which warp group of both; only where the partitions differ.
void draw_partition(const Problem& problem, const CompareModel& model) {
  const std::vector<PartitionRow> rows = partition_rows(problem, *model.a.schedule, *model.b.schedule, model.difference);
  const bool same = std::all_of(rows.begin(), rows.end(), [](const PartitionRow& r) { return r.only_a.empty() && r.only_b.empty(); });
  section("PARTITION", same ? "the same ops in every group" : "");
  if (same) return;
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings;
  if (!ImGui::BeginTable("partition", 4, kFlags)) return;
  constexpr std::pair<const char*, float> kColumns[] = {{"group", 0.8f}, {"in both", 1.4f}, {"only in A", 1.4f}, {"only in B", 1.4f}};
  for (const auto& [title, weight] : kColumns) ImGui::TableSetupColumn(title, 0, weight);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int c = 0; c < 4; ++c) {
    ImGui::TableSetColumnIndex(c);
    const FontScope scope(fonts().small_bold);
    colored_text(theme().heading, kColumns[c].first);
  }
  for (const PartitionRow& row : rows) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    wrapped_text(fonts().small, theme().text, row.group);
    if (probe::on()) probe::last_item("compare/partition/" + row.group);
    for (const auto* ops : {&row.both, &row.only_a, &row.only_b}) {
      ImGui::TableNextColumn();
      wrapped_text(fonts().small, ops == &row.both || ops->empty() ? theme().dim : theme().text, op_names(problem, *ops));
    }
  }
  ImGui::EndTable();
}

void draw_metrics(const Problem& problem, const CompareModel& model, ImVec2 size) {
  WholeRows whole("metrics rows", ImGuiTableFlags_ScrollY, model.metrics.size());
  ImGui::BeginChild("metrics", whole.fitted(size));
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings;
  if (ImGui::BeginTable("metrics", 4, kFlags)) {
    ImGui::TableSetupColumn("number", 0, 1.5f);
    ImGui::TableSetupColumn("A", 0, 1.0f);
    ImGui::TableSetupColumn("B", 0, 1.0f);
    ImGui::TableSetupColumn("B against A", 0, 1.8f);
    const FontScope scope(fonts().small);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int c = 0; c < 4; ++c) {
      ImGui::TableSetColumnIndex(c);
      if (c == 0 || c == 3) {
        const FontScope scope(fonts().small_bold);
        colored_text(theme().heading, c == 0 ? "number" : "B against A");
        continue;
      }
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float badge = px(16), width = ImGui::GetContentRegionAvail().x;
      const std::string name = fitted_middle(fonts().small_bold, c == 1 ? model.a.name : model.b.name, width - badge - px(6));
      const float own = text_size(fonts().small_bold, name).x;
      const float x = at.x + std::max(0.0f, width - own - badge - px(6));
      paint_badge(x, at.y, badge, c == 2);
      paint_text(fonts().small_bold, ImVec2(x + badge + px(6), at.y + px(1)), theme().heading, name);
      ImGui::Dummy(ImVec2(width, badge));
    }
    for (const MetricRow& row : model.metrics) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      whole.see_row(static_cast<std::size_t>(&row - model.metrics.data()));
      colored_text(row.differs() ? theme().text : theme().dim, fitted(fonts().small, row.name, ImGui::GetContentRegionAvail().x));
      const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
      if (probe::on()) probe::item("compare/metric/" + row.name, min.x, min.y, max.x, max.y);
      for (const std::string* value : {&row.a, &row.b}) {
        ImGui::TableNextColumn();
        const bool better = row.better == (value == &row.a ? -1 : 1);
        const std::string text = fitted(fonts().mono_small, *value, ImGui::GetContentRegionAvail().x);
        cell_text(text, true, better ? theme().good : row.differs() ? theme().text : theme().dim);
        if (text != *value && ImGui::IsItemHovered()) tooltip(*value);
      }
      ImGui::TableNextColumn();
      if (!row.change.empty() || row.better != 0) {
        const std::string verdict = row.better > 0 ? ", B better" : row.better < 0 ? ", A better" : "";
        const std::string text = arrow(row) + row.change + verdict;
        colored_text(row.better == 0 ? theme().dim : theme().text, fitted(fonts().small, text, ImGui::GetContentRegionAvail().x));
        if (ImGui::IsItemHovered()) tooltip(text);
      }
    }
    ImGui::EndTable();
  }
  for (const bool b : {false, true}) {
    const ScheduleEntry& entry = b ? *model.entry_b : *model.entry_a;
    wrapped_text(fonts().small, theme().dim, fmt::format("{}: {}", b ? "B" : "A", why_this_ii(entry)));
    if (!entry.verdict.valid())
      wrapped_text(fonts().small, theme().bad,
                   fmt::format("{}: first violation: {}", b ? "B" : "A", entry.verdict.violations.front().message));
  }
  draw_partition(problem, model);
  ImGui::EndChild();
}

void draw_ops(const Session& session, const CompareModel& model, std::vector<OpDifferenceRow>& rows, UiState& ui, ImVec2 size) {
  const Problem& problem = *session.content().problem;
  CompareTabState& state = ui.of<CompareTabState>();
  ImGui::BeginChild("ops", size);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(3), px(1)));
  ImGui::Checkbox("only differences", &state.only_differences);
  ImGui::PopStyleVar();
  if (probe::on()) probe::last_item("compare/only");
  ImGui::SameLine(0, px(14));
  const auto differing =
      std::count_if(model.ops.begin(), model.ops.end(), [](const OpDifferenceRow& row) { return row.difference.differs(); });
  std::string about = fmt::format("{} of {} ops differ", differing, model.ops.size());
  if (ui.chart.range)
    about += fmt::format(" · only cycles {} to {}, the selected range", grouped(ui.chart.range->begin), grouped(ui.chart.range->end));
  if (!model.axis.empty()) about += " · " + model.axis;
  colored_text(ui.chart.range ? theme().warning : theme().dim, fitted(fonts().body, about, ImGui::GetContentRegionAvail().x));
  if (ImGui::IsItemHovered()) tooltip(about);
  std::vector<Column<OpDifferenceRow>> columns = op_difference_columns(problem);
  for (auto& column : columns) {
    const bool of_difference = column.title == "delta" || column.title == "in B";
    column.width = column.title == "in B" ? px(170) : column.number ? px(62) : px(92);
    column.ink = [=](const OpDifferenceRow& row) { return row.difference.differs() && of_difference ? theme().text : theme().dim; };
    if (column.number) continue;
    column.draw = [text = column.text, ink = column.ink](const OpDifferenceRow& row) {
      const FontScope small(fonts().small);
      colored_text(ink(row), text(row));
    };
  }
  column_of(columns, "A start").flags = ImGuiTableColumnFlags_DefaultSort;
  TableLook look;
  look.flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
               ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_Resizable | ImGuiTableFlags_NoSavedSettings;
  look.size = ImVec2(0, ImGui::GetContentRegionAvail().y);
  look.held = 1;
  look.order = &state.order;
  look.none = "none";
  const auto heading = [](const auto& column) { draw_heading(column, "compare/sort", false); };
  draw_table(TableOf("compare_ops", look, columns), rows, heading, [&](const OpDifferenceRow& row, std::size_t) {
    const bool differs = row.difference.differs();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    if (table_row("compare/op/" + problem.op(row.op).name, session.selection().contains(row.op), ImGuiSelectableFlags_AllowDoubleClick)) {
      ui.commands.push(SelectOp{row.op, ImGui::GetIO().KeyCtrl});
      if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ui.commands.push(zoom_to_selection());
    }
    paint_text(differs ? fonts().bold : fonts().body, at, differs ? theme().text : theme().dim,
               fitted_middle(differs ? fonts().bold : fonts().body, problem.op(row.op).name, width));
  });
  ImGui::EndChild();
}

/// For the scoreboard, the race and the paper the cursor is behind the choices, where there is room for what they begin with, else below
/// them.
CompareView choose_view(CompareView& view) {
  constexpr std::tuple<CompareView, const char*, const char*> kViews[] = {{CompareView::Pair, "compare/pair", "A against B"},
                                                                          {CompareView::Board, "compare/board", "Scoreboard"},
                                                                          {CompareView::Race, "compare/race", "Race"},
                                                                          {CompareView::Paper, "compare/paper", "Twill paper"}};
  for (const auto& [each, name, label] : kViews) {
    if (each != CompareView::Pair) ImGui::SameLine(0, px(4));
    if (choice(name, label, view == each)) view = each;
  }
  if (view == CompareView::Board) same_line_if_room(button_width("Simulate again") + button_width("Copy as command") + px(120));
  if (view == CompareView::Race) same_line_if_room(button_width("Cancel the race"));
  if (view == CompareView::Paper) same_line_if_room(px(200));
  return view;
}

}  // namespace

void draw_compare_tab(const Session& session, const Models& models, UiState& ui) {
  const CompareView view = choose_view(ui.of<CompareTabState>().view);
  if (view == CompareView::Paper) return draw_paper_view(session, ui);
  if (view == CompareView::Board) return draw_scoreboard(session, ui);
  if (view == CompareView::Race) return draw_race_view(session, ui);
  if (!models.compare) return draw_empty(session, ui);
  const CompareModel& model = *models.compare;
  std::vector<OpDifferenceRow> rows = filtered(model, *models.gantt, {ui.of<CompareTabState>().only_differences, ui.chart.range});
  const std::vector<Column<OpDifferenceRow>> columns = op_difference_columns(*session.content().problem);
  sort_by(rows, std::span(columns), ui.of<CompareTabState>().order);  // what is copied is in the order of the table
  draw_head(session, model, rows, ui);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (room.x > px(760)) {
    const float left = std::floor(std::min(room.x * 0.48f, px(560)));
    draw_metrics(*session.content().problem, model, ImVec2(left, ImGui::GetContentRegionAvail().y));
    ImGui::SameLine(0, px(14));
    draw_ops(session, model, rows, ui, ImVec2(0, 0));
  } else {
    // One below the other; the tab scrolls.
    draw_metrics(*session.content().problem, model, ImVec2(0, std::max(px(110), room.y * 0.5f)));
    draw_ops(session, model, rows, ui, ImVec2(0, std::max(px(130), room.y * 0.5f)));
  }
}

}  // namespace heddle::app
