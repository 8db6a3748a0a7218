#include "app/window/parts/time_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/answers/simulation.h"

namespace heddle::app {
namespace {

/// Each part of the time has its colour, whatever other parts there are.
RoleColor piece_color(std::string_view name) {
  constexpr std::pair<std::string_view, UnitRole> kRoles[] = {
      {"tensor", UnitRole::Tensor},    {"work", UnitRole::Tensor}, {"waits", UnitRole::Sync},          {"arithmetic", UnitRole::Float},
      {"barriers", UnitRole::Special}, {"L2", UnitRole::Copy},     {"fill and drain", UnitRole::Smem}, {"idle SMs", UnitRole::Other},
      {"clock", UnitRole::Alu},        {"DRAM", UnitRole::Tmem}};
  for (const auto& [part, role] : kRoles)
    if (part == name) return role_color(role);
  return name == "launch" ? RoleColor{theme().dim, theme().card} : RoleColor{theme().second, theme().second_text};
}

/// All parts in a row, and where the measurement is; the piece under the mouse.
std::optional<std::size_t> draw_stack(const std::string& name, const TimeBar& bar) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = px(24), line = text_size(fonts().small, "X").y;
  const double whole = std::max({bar.predicted, bar.measured, 1e-9});
  const auto x_of = [&](double us) { return at.x + static_cast<float>(us / whole) * (width - px(2)); };
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  ImGui::Dummy({width, height + px(6) + line});
  const bool hovered = ImGui::IsItemHovered();
  if (probe::on()) probe::item(name + "/bar", at.x, at.y, at.x + width, at.y + height);
  std::optional<std::size_t> under;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (std::size_t i = 0; i < bar.pieces.size(); ++i) {
    const TimePiece& piece = bar.pieces[i];
    const RoleColor color = piece_color(piece.name);
    const float x0 = x_of(piece.from), x1 = std::max(x_of(piece.to), x0 + px(1));
    draw.AddRectFilled({x0, at.y}, {x1, at.y + height}, color.fill);
    if (i > 0) draw.AddLine({x0, at.y}, {x0, at.y + height}, theme().card, px(1));
    const ImVec2 text = text_size(fonts().small, piece.name);
    if (text.x + px(8) <= x1 - x0)
      paint_text(fonts().small, {x0 + (x1 - x0 - text.x) / 2, at.y + (height - text.y) / 2}, color.text, piece.name);
    if (hovered && mouse.x >= x0 && mouse.x < x1 && mouse.y < at.y + height) under = i;
  }
  if (bar.measured > 0) {
    const float x = std::round(x_of(bar.measured));
    draw.AddLine({x, at.y - px(2)}, {x, at.y + height + px(5)}, theme().card, px(4));
    draw.AddLine({x, at.y - px(2)}, {x, at.y + height + px(5)}, theme().text, px(2));
    const std::string text = "measured " + time_text(bar.measured);
    const float label = text_size(fonts().small, text).x, left = std::clamp(x - label / 2, at.x, std::max(at.x, at.x + width - label));
    paint_text(fonts().small, {left, at.y + height + px(5)}, theme().text, text);
  }
  return under;
}

/// A line per part: colour, name, time, share, and the speed that would be left if nothing after it were there.
void draw_pieces(const std::string& name, const TimeBar& bar, std::optional<std::size_t> under) {
  const float width = ImGui::GetContentRegionAvail().x,
              line = std::max(text_size(fonts().small, "X").y, text_size(fonts().mono_small, "X").y);
  const std::array<const char*, 3> kTitles{"time", "share", width >= px(350) ? "TFLOP/s so far" : "TFLOP/s"};
  // Numbers end where their titles end.
  std::array<float, 3> ends{};
  float right = width;
  for (std::size_t c = kTitles.size(); c-- > 0;) {
    ends[c] = right;
    right -= std::max(text_size(fonts().small_bold, kTitles[c]).x, px(50)) + px(10);
  }
  const ImVec2 head = ImGui::GetCursorScreenPos();
  for (std::size_t c = 0; c < kTitles.size(); ++c)
    paint_text_right(fonts().small_bold, head.x + ends[c], head.y, theme().heading, kTitles[c]);
  ImGui::Dummy({width, line});
  for (std::size_t i = 0; i < bar.pieces.size(); ++i) {
    const TimePiece& piece = bar.pieces[i];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy({width, line});
    if (probe::on()) probe::last_item(name + "/part/" + piece.name);
    const bool hovered = ImGui::IsItemHovered();
    if (hovered || under == i) ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + line}, theme().hovered, px(3));
    const float side = px(10), top = at.y + (line - side) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + side, top + side}, piece_color(piece.name).fill, px(2));
    paint_text(fonts().small, {at.x + px(16), at.y}, theme().text, fitted(fonts().small, piece.name, std::max(right - px(16), px(20))));
    const std::array<const std::string*, 3> cells{&piece.time, &piece.share, &piece.speed};
    for (std::size_t c = 0; c < cells.size(); ++c) paint_text_right(fonts().mono_small, at.x + ends[c], at.y, theme().text, *cells[c]);
    if (hovered) tooltip(drawable(about_piece(piece)));
  }
}

}  // namespace

void draw_time_bar(const std::string& name, const TimeBar& bar) {
  const auto under = draw_stack(name, bar);
  if (under) tooltip(drawable(about_piece(bar.pieces[*under])));
  draw_pieces(name, bar, under);
}

}  // namespace heddle::app
