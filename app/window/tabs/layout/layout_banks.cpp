// The strip of banks: for one phase of one instruction, which lanes want which bank, conflicts hatched and counted.
#include <fmt/format.h>

#include <algorithm>

#include "app/window/kit/actions.h"
#include "app/window/kit/chart_paint.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/tabs/layout/layout_views_drawn.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr float kBankWidth = 18;  // pixels at scale 1: two digits of a lane

std::string lanes_text(const ServedWord& word) {
  std::string text = word.lanes.empty() ? "-" : std::to_string(word.lanes.front());
  if (word.lanes.size() > 1) text += "+";
  return text;
}

std::string bank_tip(int bank, const std::vector<ServedWord>& words) {
  std::string text = fmt::format("bank {}", bank);
  if (words.empty()) text += ": nobody wants it in this phase";
  for (std::size_t i = 0; i < words.size() && i < 8; ++i) {
    text += fmt::format("\ncycle {}: word {} for lane{} ", i + 1, words[i].word, words[i].lanes.size() > 1 ? "s" : "");
    text += fmt::format("{}", fmt::join(words[i].lanes, ", "));
  }
  if (words.size() > 8) text += fmt::format("\nand {} words more", words.size() - 8);
  return text;
}

/// One box per bank, 32, 16 or 8 beside each other; a line per cycle in which the bank is asked.
void draw_boxes(const BankStrip& strip, ImVec2 at, float width, float height) {
  const Theme& t = theme();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  ImFont* font = fonts().mono_small;
  const float line = paint::text_height(font) + px(2);
  // As many beside each other as can be read; where the height is short, all of them, and their numbers beside the mouse only.
  int beside = kBanks;
  while (beside > 4 && width / static_cast<float>(beside) < px(kBankWidth) &&
         2 * (2 * line + px(2)) * static_cast<float>(kBanks / beside) <= height)
    beside /= 2;
  const int down = kBanks / beside;
  const float wide = std::floor(width / static_cast<float>(beside)), gap = px(2);
  const bool readable = wide >= px(kBankWidth) - 1;
  std::size_t most = 1;
  for (const auto& words : strip.banks) most = std::max(most, words.size());
  // As many cycles as there is room for; the last line then says how many more.
  const float room = height / static_cast<float>(down) - gap - line;
  const auto fits = static_cast<std::size_t>(std::max(1.0f, std::floor(room / line)));
  const std::size_t lines = std::min(most, fits);
  const float box = line * static_cast<float>(lines + 1) + gap;
  for (int bank = 0; bank < kBanks; ++bank) {
    const auto& words = strip.banks[static_cast<std::size_t>(bank)];
    const float x = at.x + static_cast<float>(bank % beside) * wide, y = at.y + static_cast<float>(bank / beside) * box;
    if (y + box - gap > at.y + height + 1) break;
    const bool meet = words.size() > 1;
    const paint::Box body{x, y + line, x + wide - gap, y + box - gap};
    const std::string number = std::to_string(bank);
    if (readable || bank % 8 == 0)
      paint::text({draw, font, meet ? t.bad : t.dim}, {x + (readable ? (wide - gap - paint::text_width(font, number)) / 2 : 0), y}, number);
    draw.AddRectFilled(body.low(), body.high(), meet ? t.bad_fill : words.empty() ? t.row_alternate : t.good_fill, px(2));
    if (meet) paint::hatch(draw, body, {1, body.x0, px(6), with_alpha(t.bad, 0.55f), px(1)});
    draw.AddRect(body.low(), body.high(), meet ? t.bad : t.border, px(2), 0, meet ? px(2) : px(1));
    for (std::size_t i = 0; readable && i < words.size() && i < lines; ++i) {
      const bool last = i + 1 == lines && words.size() > lines;
      const std::string text = last ? fmt::format("+{}", words.size() - lines + 1) : lanes_text(words[i]);
      const float half = paint::text_width(font, text) / 2, y0 = body.y0 + line * static_cast<float>(i);
      const float middle = (body.x0 + body.x1) / 2;
      if (meet) draw.AddRectFilled({middle - half - px(1), y0 + px(1)}, {middle + half + px(1), y0 + line - px(1)}, t.bad_fill, px(2));
      paint::text({draw, font, t.text}, {middle - half, y0 + px(1)}, text);
    }
    const ImVec2 low(x, y), high(body.x1, body.y1);
    if (probe::on()) probe::item(fmt::format("layout/bank/{}", bank), low.x, low.y, high.x, high.y);
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(low, high) && !tooltips_rest()) {
      ImGui::BeginTooltip();
      ImGui::TextUnformatted(bank_tip(bank, words).c_str());
      ImGui::EndTooltip();
    }
  }
}

/// A line that is cut where it is too long; all of it beside the mouse.
void cut_line(Color color, const std::string& text) {
  const FontScope small(fonts().small);
  const std::string shown = fitted(fonts().small, text, std::max(ImGui::GetContentRegionAvail().x, px(30)));
  colored_text(color, shown);
  if (shown != text && ImGui::IsItemHovered()) tooltip(text);
}

}  // namespace

void step_phase(const LayoutView& view, LayoutTabState& s, int direction) {
  const std::int64_t steps = phase_steps(view);
  if (steps == 0) return;
  const std::int64_t now = std::clamp<std::int64_t>(s.step.value_or(worst_step(view)), 0, steps - 1);
  s.step = (now + steps + direction) % steps;
}

float layout_banks_height(const LayoutView& view, float width) {
  const float line = paint::text_height(fonts().mono_small) + px(2), gap = px(2);
  int beside = kBanks;
  while (beside > 4 && width / static_cast<float>(beside) < px(kBankWidth)) beside /= 2;
  const auto ways = static_cast<float>(std::clamp(view.cost.ways, 1, 8));
  const float wraps = std::floor(text_size(fonts().small, view.why).x / std::max(width, 1.0f));
  return px(22) + (2 + wraps) * ImGui::GetTextLineHeightWithSpacing() + static_cast<float>(kBanks / beside) * (line * (ways + 1) + gap) +
         px(8);
}

void draw_layout_banks(const LayoutView& view, LayoutTabState& s) {
  if (phase_steps(view) == 0) {
    wrapped_text(fonts().body, theme().dim, view.why.empty() ? "no op moves it between registers and shared memory" : view.why);
    return;
  }
  const std::int64_t steps = phase_steps(view), now = std::clamp<std::int64_t>(s.step.value_or(worst_step(view)), 0, steps - 1);
  const BankStrip strip = phase_at(view, now);
  const float button_height = px(22);
  const std::string one = steps == 1 ? "there is only this phase" : "";
  if (button("layout/phase/previous", "<", ButtonKind::Plain, one, {px(26), button_height})) step_phase(view, s, -1);
  if (ImGui::IsItemHovered() && one.empty()) tooltip("previous phase  " + keys_of("follow_back"));
  ImGui::SameLine(0, px(4));
  if (button("layout/phase/next", ">", ButtonKind::Plain, one, {px(26), button_height})) step_phase(view, s, 1);
  if (ImGui::IsItemHovered() && one.empty()) tooltip("next phase  " + keys_of("follow_on"));
  ImGui::SameLine(0, px(4));
  if (button("layout/phase/worst", "Worst", ButtonKind::Plain, {}, {0, button_height})) s.step.reset();
  if (ImGui::IsItemHovered()) tooltip("the first phase in which most lanes meet");
  ImGui::SameLine(0, px(8));
  ImGui::AlignTextToFramePadding();
  cut_line(strip.ways > 1 ? theme().bad : theme().text, phase_text(view, strip));
  if (ImGui::GetContentRegionAvail().y > px(150))
    wrapped_text(fonts().small, theme().dim, view.why);
  else
    cut_line(theme().dim, view.why);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  if (room.y < px(28)) return;
  draw_boxes(strip, at, room.x, room.y);
  ImGui::Dummy({room.x, std::max(room.y - px(2), 1.0f)});
  if (probe::on()) probe::last_item("layout/banks");
}

}  // namespace heddle::app
