// The Pareto tab: what a smaller II costs.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/table.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/pareto/pareto_model.h"
#include "app/window/tabs/pareto/pareto_state.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr Resource kChoices[] = {Resource::Smem, Resource::Registers, Resource::Warps, Resource::Stages, Resource::Tmem};

AskOptions options_of(const ParetoState& state) {
  AskOptions options;
  options.pareto.against = state.against;
  options.layouts_open = state.layouts_open;
  return options;
}

/// Turns a resource on or off; one always stays. An answer that is known already comes back at once.
void draw_resources(const Session& session, UiState& ui) {
  ParetoState& state = ui.of<ParetoState>();
  const Content& content = session.content();
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, "II against");
  ImGui::SameLine();
  for (const Resource r : kChoices) {
    const auto found = std::find(state.against.begin(), state.against.end(), r);
    const bool on = found != state.against.end();
    const bool none = r == Resource::Tmem && content.problem && content.problem->limits.tmem_columns == 0;
    if (none && !on) continue;
    same_line_if_room(button_width(to_string(r)));
    const std::string name = fmt::format("pareto/against/{}", to_string(r));
    if (!choice(name.c_str(), to_string(r), on)) continue;
    // Plain: this one alone; with Ctrl: one more, or one less.
    if (!ImGui::GetIO().KeyCtrl) {
      state.against = {r};
    } else if (!on) {
      state.against.push_back(r);
      std::sort(state.against.begin(), state.against.end());
    } else if (state.against.size() > 1) {
      state.against.erase(found);
    }
    state.axis = 0;
    state.order = {};
    state.plot.chosen.reset();
    if (session.remembers(Topic::Pareto, options_of(state))) ui.commands.push(Ask{Topic::Pareto, options_of(state)});
  }
  if (ImGui::IsItemHovered()) tooltip("with Ctrl several resources at once");
  if (layouts_choice(Topic::Pareto, session, state.layouts_open)) {
    state.layouts_open = !state.layouts_open;
    state.plot.chosen.reset();
    if (session.remembers(Topic::Pareto, options_of(state))) ui.commands.push(Ask{Topic::Pareto, options_of(state)});
  }
  ImGui::SameLine();
}

std::string about(const ParetoModel& model, const ParetoRow& row) {
  std::string text = row.has_point()                           ? "II " + grouped(row.ii)
                     : row.kind == ParetoRow::Kind::Impossible ? "no schedule"
                                                               : "II ≥ " + grouped(row.ii);
  for (std::size_t i = 0; i < model.against.size() && i < row.amounts.size(); ++i)
    if (row.amounts[i] != kNoCap) text += " · " + amount_text(row, row.amounts[i], model.against[i]);
  text += " · " + row.standing;
  if (!row.reason.empty()) text += "\n" + drawable(pretty(row.reason));
  if (row.has_point()) text += "\nClick: show it as A. Right click: compare with it as B.";
  return text;
}

struct Drawn {
  PlotModel plot;
  std::vector<const ParetoRow*> rows;  ///< of each point; null: the shown schedule
};

Drawn plot_of(const ParetoModel& model, std::size_t axis) {
  Drawn drawn;
  PlotModel& plot = drawn.plot;
  const Resource r = model.against[axis];
  plot.y.title = "II";
  plot.x.title = resource_title(r);
  // Ticks of bytes lie on whole KiB where the axis counts those.
  const double unit = r == Resource::Smem ? 1024 : 1;
  if (r == Resource::Smem) plot.x.title += ", KiB";
  if (r == Resource::Tmem) plot.x.title += ", columns";
  const auto x_of = [&](std::int64_t amount) { return static_cast<double>(amount) / unit; };
  std::vector<const ParetoRow*> stairs;
  double most = 0, least = 0;
  bool any = false, impossible = false;
  for (const ParetoRow& row : model.rows) {
    impossible |= row.kind == ParetoRow::Kind::Impossible;
    if (!row.drawn() || row.amounts[axis] == kNoCap) continue;
    PlotPoint point;
    point.x = x_of(row.amounts[axis]);
    point.y = static_cast<double>(row.ii);
    point.mark = row.kind == ParetoRow::Kind::Proved  ? PlotMark::Filled
                 : row.kind == ParetoRow::Kind::Found ? PlotMark::Hollow
                                                      : PlotMark::AtLeast;
    point.current = row.current;
    point.label = row.current ? "A" : row.baseline ? "B" : "";
    point.about = about(model, row);
    if (row.kind == ParetoRow::Kind::BoundOnly) point.color = theme().warning;
    plot.points.push_back(std::move(point));
    drawn.rows.push_back(&row);
    if (row.has_point()) {
      stairs.push_back(&row);
      most = any ? std::max(most, x_of(row.amounts[axis])) : x_of(row.amounts[axis]);
      least = any ? std::min(least, x_of(row.amounts[axis])) : x_of(row.amounts[axis]);
      any = true;
    }
  }
  if (!model.shown.empty()) {
    PlotPoint point;
    point.x = x_of(model.shown[axis]);
    point.y = static_cast<double>(model.shown_ii);
    point.mark = PlotMark::Hollow;
    point.color = theme().text;
    point.current = true;
    point.label = "A";
    point.about =
        fmt::format("{}, which is shown: II {} · {}", model.shown_name, grouped(model.shown_ii), resource_text(model.shown[axis], r));
    most = std::max(most, point.x);
    plot.points.push_back(std::move(point));
    drawn.rows.push_back(nullptr);
  }
  if (!any || model.against.size() > 1) return drawn;
  // With one resource: the least II with that much of it.
  std::sort(stairs.begin(), stairs.end(), [&](const ParetoRow* a, const ParetoRow* b) { return a->amounts[axis] < b->amounts[axis]; });
  const double end = most + std::max((most - least) * 0.12, most * 0.04);
  PlotCurve curve;
  for (std::size_t i = 0; i < stairs.size(); ++i) {
    const double y = static_cast<double>(stairs[i]->ii), from = x_of(stairs[i]->amounts[axis]);
    const double to = i + 1 < stairs.size() ? x_of(stairs[i + 1]->amounts[axis]) : end;
    curve.pieces.push_back({from, to, y, y, stairs[i]->kind == ParetoRow::Kind::Found});
  }
  plot.curves.push_back(std::move(curve));
  if (impossible) plot.lines.push_back({least, "less is impossible", theme().dim, true});
  return drawn;
}

void draw_plot_of(const Session& session, UiState& ui, const Pareto& front, const ParetoModel& model, ImVec2 size) {
  ParetoState& state = ui.of<ParetoState>();
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  state.axis = std::min(state.axis, model.against.size() - 1);
  if (model.against.size() > 1) {
    ImGui::AlignTextToFramePadding();
    colored_text(theme().dim, "II over");
    for (std::size_t i = 0; i < model.against.size(); ++i) {
      ImGui::SameLine(0, px(6));
      const std::string name = to_string(model.against[i]);
      if (choice(("pareto/axis/" + name).c_str(), name, state.axis == i)) {
        state.axis = i;
        state.plot.chosen.reset();
      }
    }
    ImGui::SetCursorScreenPos(ImVec2(begin.x, begin.y + px(30)));
    size.y -= px(30);
  }
  const Drawn drawn = plot_of(model, state.axis);
  const PlotAnswer answer = draw_plot("pareto/plot", drawn.plot, size, state.plot);
  if (!answer.picked || !drawn.rows[*answer.picked]) return;
  if (auto command = take_point(session, front, *drawn.rows[*answer.picked], answer.secondary)) ui.commands.push(std::move(*command));
}

/// The same marks as in the plot.
void paint_mark(const ParetoRow& row, ImVec2 center) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  switch (row.kind) {
    case ParetoRow::Kind::Proved: draw.AddCircleFilled(center, px(4.5f), theme().accent); break;
    case ParetoRow::Kind::Found: draw.AddCircle(center, px(4.5f), theme().accent, 0, px(1.6f)); break;
    case ParetoRow::Kind::BoundOnly:
      draw.AddLine(ImVec2(center.x, center.y + px(5)), ImVec2(center.x, center.y - px(2)), theme().warning, px(1.6f));
      draw.AddTriangleFilled(ImVec2(center.x - px(4), center.y - px(1)), ImVec2(center.x + px(4), center.y - px(1)),
                             ImVec2(center.x, center.y - px(7)), theme().warning);
      break;
    case ParetoRow::Kind::Impossible:
      draw.AddLine(ImVec2(center.x - px(4), center.y - px(4)), ImVec2(center.x + px(4), center.y + px(4)), theme().dim, px(1.6f));
      draw.AddLine(ImVec2(center.x - px(4), center.y + px(4)), ImVec2(center.x + px(4), center.y - px(4)), theme().dim, px(1.6f));
      break;
  }
  if (row.current) draw.AddCircle(center, px(7.5f), theme().outline, 0, px(1.2f));
}

void draw_rows(const Session& session, UiState& ui, const Pareto& front, ParetoModel model, ImVec2 size) {
  ParetoState& state = ui.of<ParetoState>();
  std::vector<Column<ParetoRow>> columns = pareto_columns(model);
  // Where room is short, what the schedule takes besides is left out; the copied table has it.
  const std::size_t status = 1 + model.against.size();
  const bool wide = size.x > px(620);
  if (!wide) columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(status) + 1, columns.end() - 1);
  // As wide as the widest of heading (with the mark of the order) and cells: headings of one's own do not count by themselves.
  for (std::size_t c = 0; c <= status; ++c) {
    float width = text_size(fonts().small_bold, columns[c].title).x + px(14);
    for (const ParetoRow& row : model.rows) {
      const std::string text = columns[c].text(row);
      width = std::max({width, text_size(fonts().body, text).x, text_size(fonts().mono_small, text).x});
    }
    columns[c] = columns[c].wide(width + px(2), ImGuiTableColumnFlags_WidthFixed);
  }
  columns.front().draw = [text = columns.front().text](const ParetoRow& row) {
    cell_text(row.kind == ParetoRow::Kind::Impossible ? "-" : text(row), true, theme().text);
  };
  columns[status].ink = [](const ParetoRow& row) {
    return row.kind == ParetoRow::Kind::Proved ? theme().good : row.kind == ParetoRow::Kind::Impossible ? theme().dim : theme().warning;
  };
  for (std::size_t c = status + 1; c < columns.size(); ++c) columns[c].ink = [](const ParetoRow&) { return theme().dim; };
  columns.back().flags = ImGuiTableColumnFlags_WidthStretch;
  columns.back().draw = [](const ParetoRow& row) { wrapped_text(fonts().small, theme().dim, drawable(pretty(row.reason))); };
  columns.insert(columns.begin(), Column<ParetoRow>().wide(px(18)));
  TableLook look;
  look.flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_RowBg;
  look.size = size;
  look.every_row = true;
  look.order = &state.order;
  const auto heading = [&](const Column<ParetoRow>& column) {
    column.key || column.before ? draw_heading(column, "pareto/sort", state.order) : draw_heading(column);
  };
  draw_table(TableOf("pareto_table", look, columns), model.rows, heading, [&](const ParetoRow& row, std::size_t i) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (table_row(fmt::format("pareto/row/{}", i), row.current))
      if (auto command = take_point(session, front, row, false)) ui.commands.push(std::move(*command));
    if (ImGui::IsItemClicked(ImGuiMouseButton_Right))
      if (auto command = take_point(session, front, row, true)) ui.commands.push(std::move(*command));
    if (ImGui::IsItemHovered()) tooltip(about(model, row));
    paint_mark(row, ImVec2(at.x + px(7), at.y + text_size(fonts().body, "X").y / 2));
  });
}

}  // namespace

void draw_pareto_tab(const Session& session, const Models&, UiState& ui) {
  const QuestionState& asked = session.question(Topic::Pareto);
  const auto* front = asked.as<Pareto>();
  const AskOptions options = options_of(ui.of<ParetoState>());
  const bool have = front && asked.problem && !front->against.empty();
  const bool same =
      have && front->against == ui.of<ParetoState>().against && asked.options.layouts_open == ui.of<ParetoState>().layouts_open;
  const bool goes_on = same && session.answered(Topic::Pareto) && !front->complete && !front->steps.empty();
  draw_resources(session, ui);
  same_line_if_room(px(90));
  draw_question_bar(session, ui, Topic::Pareto, options, goes_on ? "Go on" : "Sweep");
  ParetoModel model;
  if (have) model = build_pareto(*asked.problem, *front, session.content());
  if (have) {
    draw_copy_buttons(
        "pareto", session, ui, [&] { return pareto_as_text(model); }, ask_command(session, Topic::Pareto, asked.options));
  }
  draw_question_state(session, Topic::Pareto);
  if (!have) {
    if (asked.active()) return;
    ImGui::Dummy(ImVec2(0, px(4)));
    wrapped_text(fonts().body, theme().text, "What does a smaller II cost, and what would a leaner schedule lose?");
    wrapped_text(
        fonts().small, theme().dim,
        "A sweep finds the least II for every amount of shared memory, registers, warps, stages or tensor memory: each point is "
        "a schedule that you can look at, and each step says why it cannot be lower. It takes seconds to minutes, and you can go on "
        "working meanwhile.");
    return;
  }
  ImGui::NewLine();
  if (!front->refusal.empty()) return wrapped_text(fonts().body, theme().warning, front->refusal);
  // Points of other layouts are schedules of another problem: it has to be put in force first.
  if (const auto other = layouts_to_use(session.content(), *front); other && session.answered(Topic::Pareto)) {
    if (button("pareto/use_layouts", "Use these layouts")) ui.commands.push(ChooseLayouts{*other, front->layouts, true});
    ImGui::SameLine();
    colored_text(theme().dim, fitted(fonts().small, "the front's schedules have " + front->layouts, ImGui::GetContentRegionAvail().x));
  }
  const bool old = !session.answered(Topic::Pareto);
  std::string line = model.headline;
  if (!same) line += "   (of the last sweep; press Sweep for what is chosen above)";
  colored_text(old || !same ? theme().warning : theme().dim, fitted(fonts().small, line, ImGui::GetContentRegionAvail().x));
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (room.y < px(40)) return;
  if (old) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 0.55f);
  const bool beside = room.x > px(560) && room.y > px(80);
  const float plot_width = beside ? std::clamp(room.x * 0.42f, px(240), px(560)) : 0;
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  if (beside) {
    draw_plot_of(session, ui, *front, model, ImVec2(plot_width, std::min(room.y - px(2), px(420))));
    ImGui::SetCursorScreenPos(ImVec2(begin.x + plot_width + px(12), begin.y));
  }
  draw_rows(session, ui, *front, model, ImVec2(room.x - plot_width - (beside ? px(12) : 0), room.y));
  if (old) ImGui::PopStyleVar();
}

}  // namespace heddle::app
