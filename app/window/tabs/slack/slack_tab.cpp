// The Slack tab: a range per op, drawn to scale, and how slack is spread.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/slack/slack_model.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// What the tab remembers between frames.
struct SlackTabState {
  char filter[128] = "";
};

Command ask_slack(bool exact) {
  AskOptions options;
  options.slack.exact = exact;
  return Ask{Topic::Slack, options};
}

void draw_head(const Session& session, const SlackModel& model, UiState& ui) {
  const QuestionState& asked = session.question(Topic::Slack);
  const bool asking = asked.active() && session.answered(Topic::Slack);
  const std::string why = session.why_no_question(Topic::Slack);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(8), px(2)));
  input_field("slack/filter", "filter", ui.of<SlackTabState>().filter, sizeof ui.of<SlackTabState>().filter, px(130));
  ImGui::SameLine(0, px(6));
  if (asking) {
    if (button("slack/cancel", "Cancel")) ui.commands.push(CancelAsk{Topic::Slack});
  } else if (button("slack/ask", model.exact && model.proved == model.rows.size() ? "Ask again" : "Ask exact",
                    model.exact ? ButtonKind::Plain : ButtonKind::Primary, why)) {
    ui.commands.push(ask_slack(true));
  }
  ImGui::SameLine(0, px(6));
  if (button("slack/copy", "Copy")) ui.commands.push(copy_text(slack_as_text(model.rows)));
  ImGui::SameLine(0, px(6));
  AskOptions options;
  options.slack.exact = model.exact;
  copy_command_button("slack/command", session, ui, ask_command(session, Topic::Slack, options));
  ImGui::SameLine(0, px(6));
  if (button("slack/whiskers", session.view().whiskers ? "Hide on bars  L" : "Show on bars  L")) ui.commands.push(ToggleWhiskers{});
  ImGui::PopStyleVar();
  // Two different things: one op by itself, and any schedule at all.
  std::string text = "slack: the op alone, all else stays · room: over all schedules at this II · " + model.note;
  Color ink = theme().dim;
  if (asking) {
    text = fmt::format("{} · {}", asked.doing, seconds_text(asked.seconds));
    ink = theme().accent;
  } else if (!asked.failure.empty()) {
    text = "the question failed: " + asked.failure;
    ink = theme().bad;
  } else if (!model.caveat.empty()) {
    text = model.caveat;
    ink = theme().warning;
  } else if (model.exact) {
    text = fmt::format("{} of {} proved · {}", model.proved, model.rows.size(), text);
  }
  if (ImGui::GetContentRegionAvail().y > px(150)) return wrapped_text(fonts().small, ink, text);
  // Where the height is short the rows come first.
  const std::string shown = fitted(fonts().small, text, ImGui::GetContentRegionAvail().x);
  const FontScope scope(fonts().small);
  colored_text(ink, shown);
  if (shown != text && ImGui::IsItemHovered()) tooltip(text);
}

/// Path range thin, exact range thick, the bar where it is; the first and the last mark are where the axis says.
void draw_range(const SlackModel& model, const SlackRow& row, ImVec2 at, float width, float height) {
  const Theme& t = theme();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const double span = static_cast<double>(std::max<Cycle>(1, model.high - model.low));
  const auto x = [&](Cycle c) { return at.x + static_cast<float>(static_cast<double>(c - model.low) / span) * width; };
  const float middle = at.y + height / 2;
  for (Cycle boundary = 0; boundary <= model.high; boundary += model.ii)
    list.AddLine(ImVec2(x(boundary), at.y - px(2)), ImVec2(x(boundary), at.y + height + px(2)), with_alpha(t.ii_line, 0.5f));
  const OpRange& r = row.range;
  list.AddRectFilled(ImVec2(x(r.start), at.y + px(3)), ImVec2(std::max(x(r.start + row.length), x(r.start) + px(2)), at.y + height - px(3)),
                     with_alpha(role_color(row.role).fill, 0.75f), px(1));
  const auto line = [&](Cycle from, Cycle to, float thick, Color color) {
    list.AddRectFilled(ImVec2(x(from), middle - thick / 2), ImVec2(std::max(x(to), x(from) + 1), middle + thick / 2), color);
  };
  const auto cap = [&](Cycle c, Color color) {
    list.AddRectFilled(ImVec2(x(c), middle - px(4)), ImVec2(x(c) + px(1.5f), middle + px(4)), color);
  };
  line(r.path_earliest, r.path_latest, px(1.2f), t.dim);
  cap(r.path_earliest, t.dim);
  cap(r.path_latest, t.dim);
  if (row.exact && r.earliest.seen && r.latest.seen) line(*r.earliest.seen, *r.latest.seen, px(3.5f), t.accent);
  if (row.exact && r.earliest.seen && r.earliest.proved()) cap(*r.earliest.seen, t.accent);
  if (row.exact && r.latest.seen && r.latest.proved()) cap(*r.latest.seen, t.accent);
}

void draw_axis(const SlackModel& model, ImVec2 at, float width) {
  const double span = static_cast<double>(std::max<Cycle>(1, model.high - model.low));
  const std::string low = grouped(model.low), high = grouped(model.high);
  paint_text(fonts().mono_small, at, theme().faint, low);
  paint_text_right(fonts().mono_small, at.x + width, at.y, theme().faint, high);
  const float ii = at.x + static_cast<float>(static_cast<double>(model.ii - model.low) / span) * width;
  const std::string text = fmt::format("II {}", grouped(model.ii));
  const float half = text_size(fonts().mono_small, text).x / 2;
  if (ii - half > at.x + text_size(fonts().mono_small, low).x + px(8) &&
      ii + half < at.x + width - text_size(fonts().mono_small, high).x - px(8))
    paint_text(fonts().mono_small, ImVec2(ii - half, at.y), theme().ii_line, text);
}

void draw_rows(const Session& session, SlackModel& model, float width, UiState& ui) {
  // Wide enough for every heading with its mark of the order; what is over goes to all of them.
  std::vector<Column<SlackRow>> columns = slack_columns_of(model.rows);
  for (auto& column : columns) column.width = text_size(fonts().small_bold, column.title).x + px(24);
  columns.front().width = px(130);
  column_of(columns, "start").flags = ImGuiTableColumnFlags_DefaultSort;
  column_of(columns, "room").ink = [](const SlackRow& row) { return row.room() == 0 ? theme().warning : theme().text; };
  const auto range = [&](const SlackRow& row) {
    draw_range(model, row, ImGui::GetCursorScreenPos(), ImGui::GetContentRegionAvail().x - px(6), px(18));
  };
  columns.push_back(Column<SlackRow>{"range"}.wide(px(170), ImGuiTableColumnFlags_NoSort).drawn(range));
  float needed = 0;
  for (const auto& column : columns) needed += column.width + px(10);
  TableLook look = scrolling_look(ImVec2(width, ImGui::GetContentRegionAvail().y), needed, ImGuiTableFlags_Sortable);
  look.held = 1;
  const auto heading = [&](const Column<SlackRow>& column) {
    if (!column.draw) return draw_heading(column, "slack/sort");
    const FontScope scope(fonts().small_bold);
    draw_axis(model, ImGui::GetCursorScreenPos(), ImGui::GetContentRegionAvail().x - px(6));
  };
  draw_table(TableOf("slack_table", look, columns), model.rows, heading, [&](const SlackRow& row, std::size_t) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (table_row("slack/op/" + row.name, session.selection().contains(row.op))) {
      ui.commands.push(SelectOp{row.op, ImGui::GetIO().KeyCtrl});
      if (!ImGui::GetIO().KeyCtrl) ui.commands.push(zoom_to_selection());
    }
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(at.x, at.y + px(4)), ImVec2(at.x + px(10), at.y + px(14)), role_color(row.role).fill,
                                              px(2));
    const float name_room = ImGui::GetContentRegionAvail().x - px(18);
    paint_text(fonts().body, ImVec2(at.x + px(18), at.y), theme().text,
               fitted_middle(fonts().body, row.anchor ? row.name + " (held)" : row.name, name_room));
  });
}

void draw_histogram(const SlackModel& model, ImVec2 at, float width, float height) {
  const Theme& t = theme();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), t.card, px(4));
  paint_text(fonts().small, ImVec2(at.x + px(10), at.y + px(6)), t.dim, fitted(fonts().small, "ops by room, cycles", width - px(20)));
  int most = 1;
  float label = 0;
  for (const SlackBin& bin : model.histogram) {
    most = std::max(most, bin.ops);
    label = std::max(label, text_size(fonts().mono_small, bin.label).x);
  }
  const float top = at.y + px(28),
              step = std::min(px(22), (height - px(34)) / static_cast<float>(std::max<std::size_t>(1, model.histogram.size())));
  const float left = at.x + px(16) + label, full = at.x + width - px(34) - left;
  for (std::size_t b = 0; b < model.histogram.size(); ++b) {
    const SlackBin& bin = model.histogram[b];
    const float y = top + static_cast<float>(b) * step;
    paint_text_right(fonts().mono_small, left - px(6), y, t.dim, bin.label);
    const float long_ = full * static_cast<float>(bin.ops) / static_cast<float>(most);
    list.AddRectFilled(ImVec2(left, y + px(2)), ImVec2(left + std::max(long_, px(1)), y + step - px(4)), bin.fixed ? t.warning : t.accent,
                       px(2));
    paint_text(fonts().mono_small, ImVec2(left + long_ + px(6), y), t.text, std::to_string(bin.ops));
  }
}

}  // namespace

void draw_slack_tab(const Session& session, const Models&, UiState& ui) {
  const Content& content = session.content();
  const ScheduleEntry* entry = content.entry();
  const QuestionState& asked = session.question(Topic::Slack);
  const std::string why = session.why_no_question(Topic::Slack);
  // Longest paths cost next to nothing: they are always there.
  if (!session.answered(Topic::Slack) && why.empty() && !session.live().active()) ui.commands.push(ask_slack(false));
  const auto* answer = asked.as<SlackRanges>();
  if (!entry || !answer || !session.answered(Topic::Slack)) {
    wrapped_text(fonts().body, theme().dim,
                 "How far every op can move at this II: alone while all else stays (slack), and over all legal schedules (room).");
    if (asked.active() && session.answered(Topic::Slack)) {
      colored_text(theme().accent, asked.doing);
      ImGui::SameLine(0, px(10));
      if (button("slack/cancel", "Cancel")) ui.commands.push(CancelAsk{Topic::Slack});
    } else if (button("slack/ask", "Ask exact", ButtonKind::Primary, why)) {
      ui.commands.push(ask_slack(true));
    }
    if (!why.empty()) wrapped_text(fonts().small, theme().faint, why);
    if (!asked.failure.empty()) wrapped_text(fonts().small, theme().bad, "the question failed: " + asked.failure);
    return;
  }
  SlackModel model = build_slack(*content.problem, entry->schedule, *answer);
  draw_head(session, model, ui);
  filter_slack(model.rows, ui.of<SlackTabState>().filter);
  const float whole = ImGui::GetContentRegionAvail().x;
  const bool plot = whole > px(1180);
  const float plot_width = plot ? px(180) : 0;
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetContentRegionAvail().y;
  draw_rows(session, model, whole - plot_width - (plot ? px(10) : 0), ui);
  if (plot) draw_histogram(model, ImVec2(begin.x + whole - plot_width, begin.y), plot_width, std::min(height - px(4), px(190)));
}

}  // namespace heddle::app
