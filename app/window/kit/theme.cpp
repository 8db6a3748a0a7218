#include "app/window/kit/theme.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "core/chart/role_palette.h"

namespace heddle::app {
namespace {

constexpr Color rgb(std::uint32_t hex, std::uint32_t alpha = 255) {
  return (alpha << 24) | ((hex & 0xff) << 16) | (hex & 0xff00) | (hex >> 16);
}

constexpr Theme kDark{.window = rgb(0x0d0f13),
                      .panel = rgb(0x171a21),
                      .card = rgb(0x1d212a),
                      .raised = rgb(0x2a2f3a),
                      .input = rgb(0x101218),
                      .border = rgb(0x2b303b),
                      .edge = rgb(0x646d7d),
                      .separator = rgb(0x262b35),
                      .text = rgb(0xe6e9ef),
                      .dim = rgb(0xa4acba),
                      .faint = rgb(0x949cab),
                      .heading = rgb(0xaeb5c1),
                      .accent = rgb(0x4c9bff),
                      .accent_text = rgb(0x07111f),
                      .second = rgb(0xc08bff),
                      .second_text = rgb(0x140824),
                      .selected = rgb(0x223248),
                      .hovered = rgb(0x1f2632),
                      .good = rgb(0x3ecf8e),
                      .good_fill = rgb(0x12372a),
                      .warning = rgb(0xe8b339),
                      .warning_fill = rgb(0x3a2f12),
                      .bad = rgb(0xff6b5e),
                      .bad_fill = rgb(0x43201d),
                      .chart = rgb(0x101318),
                      .row = rgb(0x14171d),
                      .row_alternate = rgb(0x191d24),
                      .grid = rgb(0x252a33),
                      .ii_line = rgb(0x4c9bff),
                      .hairline = rgb(0xb8c0cc),
                      .hatch = rgb(0x000000, 110),
                      .outline = rgb(0xffffff),
                      .arrow = rgb(0x8fd0f5),
                      .carried_arrow = rgb(0xf0a860),
                      .tooltip = rgb(0x0a0c10)};

constexpr Theme kLight{.window = rgb(0xe4e7ec),
                       .panel = rgb(0xf6f7f9),
                       .card = rgb(0xffffff),
                       .raised = rgb(0xe3e7ee),
                       .input = rgb(0xffffff),
                       .border = rgb(0xc4cad4),
                       .edge = rgb(0x7d8594),
                       .separator = rgb(0xd5dae2),
                       .text = rgb(0x16191f),
                       .dim = rgb(0x48505e),
                       .faint = rgb(0x596170),
                       .heading = rgb(0x3f4754),
                       .accent = rgb(0x1261c4),
                       .accent_text = rgb(0xffffff),
                       .second = rgb(0x6f2cb5),
                       .second_text = rgb(0xffffff),
                       .selected = rgb(0xd3e4fa),
                       .hovered = rgb(0xe8edf5),
                       .good = rgb(0x0c6b45),
                       .good_fill = rgb(0xd0efdf),
                       .warning = rgb(0x7d5600),
                       .warning_fill = rgb(0xf7e8c2),
                       .bad = rgb(0xb3261e),
                       .bad_fill = rgb(0xf9d9d6),
                       .chart = rgb(0xffffff),
                       .row = rgb(0xf8f9fb),
                       .row_alternate = rgb(0xf0f2f6),
                       .grid = rgb(0xd9dde5),
                       .ii_line = rgb(0x1261c4),
                       .hairline = rgb(0x4d5563),
                       .hatch = rgb(0x000000, 90),
                       .outline = rgb(0x101010),
                       .arrow = rgb(0x1f6fa8),
                       .carried_arrow = rgb(0xa85a10),
                       .tooltip = rgb(0xffffff),
                       .light = true};

constexpr Theme kHighContrast{.window = rgb(0x000000),
                              .panel = rgb(0x000000),
                              .card = rgb(0x0c0c0c),
                              .raised = rgb(0x1c1c1c),
                              .input = rgb(0x000000),
                              .border = rgb(0xffffff),
                              .edge = rgb(0xffffff),
                              .separator = rgb(0xb0b0b0),
                              .text = rgb(0xffffff),
                              .dim = rgb(0xe4e4e4),
                              .faint = rgb(0xcccccc),
                              .heading = rgb(0xffffff),
                              .accent = rgb(0xffe14a),
                              .accent_text = rgb(0x000000),
                              .second = rgb(0xd9b3ff),
                              .second_text = rgb(0x000000),
                              .selected = rgb(0x002f73),
                              .hovered = rgb(0x2a2a2a),
                              .good = rgb(0x5cff9d),
                              .good_fill = rgb(0x003d1c),
                              .warning = rgb(0xffd447),
                              .warning_fill = rgb(0x3d2f00),
                              .bad = rgb(0xff8a80),
                              .bad_fill = rgb(0x4d0000),
                              .chart = rgb(0x000000),
                              .row = rgb(0x000000),
                              .row_alternate = rgb(0x101010),
                              .grid = rgb(0x5a5a5a),
                              .ii_line = rgb(0xffe14a),
                              .hairline = rgb(0xffffff),
                              .hatch = rgb(0x000000, 150),
                              .outline = rgb(0xffffff),
                              .arrow = rgb(0x9adcff),
                              .carried_arrow = rgb(0xffb870),
                              .tooltip = rgb(0x000000)};

ThemeName current_ = ThemeName::Dark;

double linear(std::uint32_t channel) {
  const double c = channel / 255.0;
  return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(Color c) { return 0.2126 * linear(c & 0xff) + 0.7152 * linear((c >> 8) & 0xff) + 0.0722 * linear((c >> 16) & 0xff); }

Color mix(Color a, Color b, float share) {
  Color out = 0xff000000u;
  for (int shift : {0, 8, 16}) {
    const float x = static_cast<float>((a >> shift) & 0xff), y = static_cast<float>((b >> shift) & 0xff);
    out |= static_cast<Color>(x + (y - x) * share) << shift;
  }
  return out;
}

}  // namespace

const Theme& theme_named(ThemeName name) {
  switch (name) {
    case ThemeName::Dark: return kDark;
    case ThemeName::Light: return kLight;
    case ThemeName::HighContrast: return kHighContrast;
  }
  return kDark;
}

const Theme& theme() { return theme_named(current_); }

RoleColor role_color(UnitRole role) {
  const RolePaint paint = role_paint(role);
  return {rgb(paint.fill), rgb(paint.text)};
}

namespace {

/// The role's colour, moved away from the surfaces until it stands out from each of them.
Color moved_away(UnitRole role, const Theme& t, double least, std::initializer_list<Color> surfaces) {
  const Color fill = role_color(role).fill, towards = t.light ? rgb(0x000000) : rgb(0xffffff);
  Color ink = fill;
  const auto lost = [&] { return std::any_of(surfaces.begin(), surfaces.end(), [&](Color s) { return contrast(ink, s) < least; }); };
  for (int step = 1; step <= 19 && lost(); ++step) ink = mix(fill, towards, 0.05f * static_cast<float>(step));
  return ink;
}

}  // namespace

Color role_ink(UnitRole role, ThemeName name) {
  const Theme& t = theme_named(name);
  return moved_away(role, t, 4.5, {t.panel, t.chart, t.row, t.row_alternate, t.tooltip, t.card});
}
Color role_ink(UnitRole role) { return role_ink(role, current_); }

Color role_edge(UnitRole role, ThemeName name) {
  const Theme& t = theme_named(name);
  return moved_away(role, t, 3, {t.chart, t.row, t.row_alternate});
}
Color role_edge(UnitRole role) { return role_edge(role, current_); }

Color with_alpha(Color color, float alpha) { return (color & 0x00ffffffu) | (static_cast<Color>(alpha * 255 + 0.5f) << 24); }

double contrast(Color a, Color b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

void apply_theme(ThemeName name) {
  current_ = name;
  const Theme& t = theme();
  ImGuiStyle style;
  style.WindowRounding = 0;
  style.ChildRounding = 0;
  style.FrameRounding = 4;
  style.PopupRounding = 6;
  style.GrabRounding = 4;
  style.ScrollbarRounding = 6;
  style.ScrollbarSize = 11;
  style.WindowBorderSize = 0;
  style.ChildBorderSize = 0;
  style.PopupBorderSize = 1;
  style.FrameBorderSize = 1;  // fields and boxes to tick are white on white in the light theme
  style.WindowPadding = ImVec2(12, 10);
  style.FramePadding = ImVec2(10, 5);
  style.ItemSpacing = ImVec2(8, 6);
  style.ItemInnerSpacing = ImVec2(6, 4);
  style.CellPadding = ImVec2(6, 3);
  style.IndentSpacing = 16;
  style.ScaleAllSizes(fonts().scale);

  const auto set = [&](int slot, Color c) { style.Colors[slot] = ImGui::ColorConvertU32ToFloat4(c); };
  set(ImGuiCol_Text, t.text);
  set(ImGuiCol_TextDisabled, t.faint);
  set(ImGuiCol_WindowBg, t.panel);
  set(ImGuiCol_ChildBg, rgb(0, 0));
  set(ImGuiCol_PopupBg, t.card);
  set(ImGuiCol_Border, t.edge);
  set(ImGuiCol_BorderShadow, rgb(0, 0));
  set(ImGuiCol_FrameBg, t.input);
  set(ImGuiCol_FrameBgHovered, t.hovered);
  set(ImGuiCol_FrameBgActive, t.selected);
  set(ImGuiCol_TitleBg, t.card);
  set(ImGuiCol_TitleBgActive, t.card);
  set(ImGuiCol_TitleBgCollapsed, t.card);
  set(ImGuiCol_MenuBarBg, t.window);
  set(ImGuiCol_ScrollbarBg, rgb(0, 0));
  set(ImGuiCol_ScrollbarGrab, t.raised);
  set(ImGuiCol_ScrollbarGrabHovered, t.border);
  set(ImGuiCol_ScrollbarGrabActive, t.faint);
  set(ImGuiCol_CheckMark, t.accent);
  set(ImGuiCol_SliderGrab, t.accent);
  set(ImGuiCol_SliderGrabActive, t.accent);
  set(ImGuiCol_Button, t.raised);
  set(ImGuiCol_ButtonHovered, mix(t.raised, t.text, 0.12f));
  set(ImGuiCol_ButtonActive, mix(t.raised, t.text, 0.2f));
  set(ImGuiCol_Header, t.selected);
  set(ImGuiCol_HeaderHovered, t.hovered);
  set(ImGuiCol_HeaderActive, t.selected);
  set(ImGuiCol_Separator, t.separator);
  set(ImGuiCol_SeparatorHovered, t.accent);
  set(ImGuiCol_SeparatorActive, t.accent);
  set(ImGuiCol_Tab, rgb(0, 0));
  set(ImGuiCol_TabHovered, t.hovered);
  set(ImGuiCol_TabActive, t.card);
  set(ImGuiCol_TableHeaderBg, t.panel);
  set(ImGuiCol_TableBorderStrong, t.separator);
  set(ImGuiCol_TableBorderLight, t.separator);
  set(ImGuiCol_TableRowBg, rgb(0, 0));
  set(ImGuiCol_TableRowBgAlt, rgb(0, 0));
  set(ImGuiCol_TextSelectedBg, t.selected);
  set(ImGuiCol_DragDropTarget, t.accent);
  set(ImGuiCol_NavHighlight, t.accent);
  set(ImGuiCol_ModalWindowDimBg, rgb(0, t.light ? 70 : 150));
  ImGui::GetStyle() = style;
}

}  // namespace heddle::app
