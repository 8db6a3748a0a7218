// The Explain tab: cards of reasons, and bound against best over time.
#include <fmt/format.h>

#include <algorithm>

#include "app/ui/panels.h"
#include "app/ui/probe.h"
#include "app/ui/widgets.h"
#include "app/viewmodel/explain_model.h"
#include "core/report/chart_layout.h"

namespace heddle::app {
namespace {

void draw_card(const std::string& name, const ExplainCard& card, float width, UiState& ui) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = px(12), edge = px(4);
  const float link_room = card.ops.empty() ? 0 : text_size(fonts().body, "show").x + px(20);
  const float wrap = width - 2 * pad - edge - link_room;
  const auto height_of = [&](ImFont* font, const std::string& text) {
    const FontScope scope(font);
    return text.empty() ? 0 : ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap).y;
  };
  const float first = height_of(fonts().body, card.sentence), second = height_of(fonts().small, card.detail);
  const float height = px(9) + first + (second > 0 ? px(4) + second : 0) + px(9);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), t.card, px(4));
  const Color edge_color = card.tone == Tone::Neutral ? role_color(card.role).fill : tone_ink(card.tone);
  list.AddRectFilled(at, ImVec2(at.x + edge, at.y + height), edge_color, px(2));
  const auto write = [&](ImFont* font, Color color, const std::string& text, float y) {
    const FontScope scope(font);
    list.AddText(font, ImGui::GetFontSize(), ImVec2(at.x + edge + pad, y), color, text.c_str(), nullptr, wrap);
  };
  write(fonts().body, t.text, card.sentence, at.y + px(9));
  if (second > 0) write(fonts().small, t.dim, card.detail, at.y + px(9) + first + px(4));
  if (!card.ops.empty()) {
    ImGui::SetCursorScreenPos(ImVec2(at.x + width - link_room, at.y + px(9)));
    if (link(name.c_str(), "show")) {
      ui.commands.push(ClearSelection{});
      for (OpId op : card.ops) ui.commands.push(SelectOp{op, true});
    }
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, height + px(2)));
}

/// Bound and best over time as steps.
void draw_progress_plot(const LiveSolve& live, float width, float height) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), t.card, px(4));
  paint_text(fonts().small, ImVec2(at.x + px(10), at.y + px(6)), t.dim, "bound and best over time");
  Cycle low = live.history.front().bound, high = low;
  for (const LiveSolve::Point& p : live.history) {
    low = std::min(low, p.bound);
    high = std::max({high, p.bound, p.best.value_or(p.bound)});
  }
  const double seconds = std::max(live.seconds, 1e-3);
  const float left = at.x + px(64), right = at.x + width - px(14), top = at.y + px(32), floor = at.y + height - px(24);
  const double span = std::max<double>(static_cast<double>(high - low), 1);
  const auto x = [&](double s) {
    return left + static_cast<float>(std::clamp(s / seconds, 0.0, 1.0)) * (right - left);
  };
  const auto y = [&](Cycle c) {
    return floor - static_cast<float>(static_cast<double>(c - low) / span) * (floor - top);
  };
  paint_text_right(fonts().mono_small, left - px(6), y(low) - px(7), t.faint, grouped(low));
  if (high > low) paint_text_right(fonts().mono_small, left - px(6), y(high) - px(7), t.faint, grouped(high));
  list.AddLine(ImVec2(left, floor + px(4)), ImVec2(right, floor + px(4)), t.grid);
  paint_text(fonts().mono_small, ImVec2(left, floor + px(6)), t.faint, "0");
  paint_text_right(fonts().mono_small, right, floor + px(6), t.faint, seconds_text(live.seconds));
  const float thick = px(1.6f);
  for (std::size_t i = 0; i < live.history.size(); ++i) {
    const LiveSolve::Point& p = live.history[i];
    const float x0 = x(p.seconds), x1 = i + 1 < live.history.size() ? x(live.history[i + 1].seconds) : right;
    list.AddLine(ImVec2(x0, y(p.bound)), ImVec2(x1, y(p.bound)), t.accent, thick);
    if (p.best) list.AddLine(ImVec2(x0, y(*p.best)), ImVec2(x1, y(*p.best)), t.good, thick);
    if (i + 1 == live.history.size()) continue;
    const LiveSolve::Point& q = live.history[i + 1];
    list.AddLine(ImVec2(x1, y(p.bound)), ImVec2(x1, y(q.bound)), t.accent, thick);
    if (p.best && q.best) list.AddLine(ImVec2(x1, y(*p.best)), ImVec2(x1, y(*q.best)), t.good, thick);
    if (!p.best && q.best) list.AddCircleFilled(ImVec2(x1, y(*q.best)), px(3), t.good);
  }
  float legend = right;
  for (const auto& [word, color] : {std::pair{"best", t.good}, std::pair{"bound", t.accent}}) {
    legend -= text_size(fonts().small, word).x;
    paint_text(fonts().small, ImVec2(legend, at.y + px(6)), color, word);
    legend -= px(14);
  }
  ImGui::Dummy(ImVec2(width, height));
}

/// Fewer than three different points say nothing.
bool worth_a_plot(const LiveSolve& live) {
  int points = 0;
  for (std::size_t i = 0; i < live.history.size(); ++i)
    points += i == 0 || live.history[i].bound != live.history[i - 1].bound ||
              live.history[i].best != live.history[i - 1].best;
  return points >= 3;
}

}  // namespace

void draw_explain_tab(const Session& session, const Models&, UiState& ui) {
  const ExplainModel model = build_explain(session);
  const bool plot = worth_a_plot(session.live()) && ImGui::GetContentRegionAvail().y > px(90);
  const float whole = ImGui::GetContentRegionAvail().x, plot_width = plot ? std::min(px(300), whole * 0.3f) : 0;
  const float height = ImGui::GetContentRegionAvail().y;
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  ImGui::BeginChild("reasons", ImVec2(whole - plot_width - (plot ? px(12) : 0), height));
  wrapped_text(fonts().bold, theme().text, model.title);
  if (ImGui::GetItemRectSize().x + text_size(fonts().small, model.note).x + px(20) < ImGui::GetWindowSize().x)
    ImGui::SameLine();
  wrapped_text(fonts().small, theme().dim, model.note);
  const float width = ImGui::GetContentRegionAvail().x;
  for (std::size_t i = 0; i < model.cards.size(); ++i)
    draw_card("explain/show/" + std::to_string(i), model.cards[i], width, ui);
  if (!model.next.empty()) {
    colored_text(theme().dim, "Next limits, if this one were gone:");
    ImGui::SameLine();
    wrapped_text(fonts().body, theme().text, model.next);
  }
  ImGui::EndChild();
  if (plot) {
    ImGui::SetCursorScreenPos(ImVec2(begin.x + whole - plot_width, begin.y));
    draw_progress_plot(session.live(), plot_width, std::min(height - px(6), px(180)));
  }
}

}  // namespace heddle::app
