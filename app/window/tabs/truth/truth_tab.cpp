// The Truth tab: predictions against published measurements.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/truth_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/truth/truth_tab_state.h"
#include "app/window/tabs/truth/truth_views.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

using Phase = Task<TruthAnswer>::Phase;

/// Brings what is worked out up to date with the answer and the choice.
void refresh(const TruthState& truth, TruthTabState& s) {
  const std::shared_ptr<const TruthAnswer> answer = truth.answer() ? truth.task().answer() : nullptr;
  if (answer != s.seen) {
    s.seen = answer;
    s.model = answer ? build_truth(*answer) : TruthModel();
    if (s.only && *s.only >= s.model.kinds.size()) s.only.reset();
    s.plot.chosen.reset();
  } else if (s.only == s.seen_only) {
    return;
  }
  if (s.only != s.seen_only) s.plot.chosen.reset();
  s.seen_only = s.only;
  s.rows = s.model.rows;
  if (s.only) std::erase_if(s.rows, [&](const TruthRow& row) { return !row.has_point() || row.color != *s.only; });
}

/// The page that is shown instead of one that is on the screen anyway: above the tables where there is height, beside them where there is
/// width.
TruthPage shown_page(TruthPage page, bool wide, bool tall) {
  if (wide && page == TruthPage::Row) page = TruthPage::Plot;
  return tall && page == TruthPage::Plot ? TruthPage::Rows : page;
}

std::string page_as_text(const TruthTabState& s) {
  if (s.page == TruthPage::Kinds) {
    const auto columns = kind_columns();
    return table_as_text(std::span(columns), s.model.kind_rows);
  }
  if (s.page == TruthPage::Pairs) {
    const auto columns = pair_columns();
    return table_as_text(std::span(columns), s.model.pairs);
  }
  const auto columns = truth_columns();
  return table_as_text(std::span(columns), s.rows);
}

void draw_bar(const Session& session, UiState& ui, bool wide, bool tall) {
  TruthTabState& s = ui.of<TruthTabState>();
  const float height = px(26);
  const bool active = session.truth().task().active();
  if (active) {
    if (button("truth/cancel", "Cancel", ButtonKind::Plain, {}, {0, height})) ui.commands.push(CancelValidation{});
  } else {
    if (button("truth/validate", "Validate", s.seen ? ButtonKind::Plain : ButtonKind::Primary, session.truth().why_no_validation(),
               {0, height}))
      ui.commands.push(Validate{});
    if (ImGui::IsItemHovered()) tooltip("simulates every published measurement that something here stands for; takes seconds");
  }
  if (s.seen) {
    constexpr std::pair<TruthPage, const char*> kPages[] = {{TruthPage::Plot, "Plot"},
                                                            {TruthPage::Rows, "Rows"},
                                                            {TruthPage::Kinds, "Kinds"},
                                                            {TruthPage::Pairs, "Pairs"},
                                                            {TruthPage::Row, "Chosen row"}};
    for (const auto& [page, label] : kPages) {
      if (shown_page(page, wide, tall) != page) continue;
      same_line_if_room(button_width(label));
      if (choice((std::string("truth/page/") + label).c_str(), label, shown_page(s.page, wide, tall) == page)) s.page = page;
    }
    same_line_if_room(button_width("Copy"));
    if (button("truth/copy", "Copy", ButtonKind::Plain, {}, {0, height})) ui.commands.push(copy_text(page_as_text(s)));
    if (ImGui::IsItemHovered()) tooltip("the table, tab-separated");
  }
  same_line_if_room(button_width("Copy as command"));
  copy_command_button("truth/command", session, ui, validate_command(session), {0, height});
}

/// How it stands; what is wrong with files.
void draw_state(const TruthState& truth, const TruthTabState& s) {
  const auto& task = truth.task();
  bool said = false;
  const auto line = [&](Color color, const std::string& text, const char* name) {
    const FontScope small(fonts().small);
    said = true;
    ImGui::AlignTextToFramePadding();
    const std::string shown = fitted(fonts().small, text, std::max(ImGui::GetContentRegionAvail().x, px(40)));
    colored_text(color, shown);
    if (probe::on()) probe::last_item(name);
    if (ImGui::IsItemHovered() && shown != text) tooltip(text);
  };
  if (task.active())
    line(theme().text, fmt::format("{} · {}", task.doing().empty() ? "reading" : drawable(task.doing()), seconds_text(task.seconds())),
         "truth/doing");
  else if (task.phase() == Phase::Failed)
    line(theme().bad, "! " + drawable(task.failure()), "truth/failed");
  else if (task.phase() == Phase::Cancelled && !s.seen)
    line(theme().dim, "cancelled", "truth/doing");
  if (s.seen && !task.active())
    line(s.model.holds ? theme().dim : theme().warning,
         (s.model.holds ? "" : "! ") + drawable(s.model.headline) + (task.phase() == Phase::Cancelled ? " (of the time before)" : ""),
         "truth/state");
  if (!said) ImGui::NewLine();
}

void draw_faults(const std::vector<Fault>& faults) {
  ImGui::BeginChild("faults", {0, 0});
  for (const Fault& fault : faults) wrapped_text(fonts().small, theme().bad, "! " + drawable(printable(to_string(fault))));
  if (probe::on()) probe::last_item("truth/fault");
  ImGui::EndChild();
}

void draw_nothing_validated() {
  ImGui::Dummy({0, px(4)});
  wrapped_text(fonts().body, theme().text, "How far can predictions be trusted, and why is a kernel as fast as it is and no faster?");
  wrapped_text(
      fonts().small, theme().dim,
      "Validate simulates the kernels that others have measured and published: predicted speed against measured as points, the "
      "spread of every kind of kernel, pairs that differ in one thing. Click a point to see what its time is made of; double-click "
      "it to open its kernel, machine and schedule.");
}

}  // namespace

void draw_truth_tab(const Session& session, const Models&, UiState& ui) {
  TruthTabState& s = ui.of<TruthTabState>();
  const TruthState& truth = session.truth();
  refresh(truth, s);
  const ImVec2 whole = ImGui::GetContentRegionAvail();
  const bool wide = whole.x > px(760), tall = whole.y > px(560);
  draw_bar(session, ui, wide, tall);
  same_line_if_room(px(whole.y < px(220) ? 160 : 420));
  draw_state(truth, s);
  if (!s.seen) {
    if (!truth.faults().empty() && !truth.task().active()) return draw_faults(truth.faults());
    return truth.task().active() ? void() : draw_nothing_validated();
  }
  ImGui::Dummy({0, px(1)});
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (room.y < px(40)) return;
  const float side = wide ? std::clamp(room.x * 0.36f, px(300), px(480)) : 0, gap = px(12);
  const float left = wide ? room.x - side - gap : room.x;
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  float below = room.y;
  if (tall) {
    const float plot = std::floor(room.y * 0.58f);
    draw_truth_plot(session, ui, {left, plot});
    ImGui::SetCursorScreenPos({begin.x, begin.y + plot + px(6)});
    below = room.y - plot - px(6);
  }
  switch (shown_page(s.page, wide, tall)) {
    case TruthPage::Plot: draw_truth_plot(session, ui, {left, below}); break;
    case TruthPage::Rows: draw_truth_rows(session, ui, {left, below}); break;
    case TruthPage::Kinds: draw_truth_kinds(ui, {left, below}); break;
    case TruthPage::Pairs: draw_truth_pairs(session, ui, {left, below}); break;
    case TruthPage::Row: draw_truth_row(session, ui); break;
  }
  if (!wide) return;
  ImGui::SetCursorScreenPos({begin.x + left + gap, begin.y});
  ImGui::BeginChild("chosen", {side, room.y});
  draw_truth_row(session, ui);
  ImGui::EndChild();
}

}  // namespace heddle::app
