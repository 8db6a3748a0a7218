#include "app/window/kit/widgets.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"

namespace heddle::app {
namespace {

ImVec2 operator+(ImVec2 a, ImVec2 b) { return {a.x + b.x, a.y + b.y}; }

const char* begin_of(std::string_view text) { return text.data(); }
const char* end_of(std::string_view text) { return text.data() + text.size(); }

}  // namespace

Color tone_ink(Tone tone) {
  switch (tone) {
    case Tone::Good: return theme().good;
    case Tone::Warning: return theme().warning;
    case Tone::Bad: return theme().bad;
    case Tone::Busy: return theme().accent;
    case Tone::Neutral: return theme().dim;
  }
  return theme().dim;
}

Color tone_fill(Tone tone) {
  switch (tone) {
    case Tone::Good: return theme().good_fill;
    case Tone::Warning: return theme().warning_fill;
    case Tone::Bad: return theme().bad_fill;
    case Tone::Busy: return theme().selected;
    case Tone::Neutral: return theme().raised;
  }
  return theme().raised;
}

Color slack_ink(std::optional<Cycle> slack, Color normal) {
  if (!slack || *slack > 0) return normal;
  return *slack < 0 ? theme().bad : theme().warning;
}

ImVec2 text_size(ImFont* font, std::string_view text) {
  const FontScope scope(font);
  return text.empty() ? ImVec2(0, ImGui::GetFontSize()) : ImGui::CalcTextSize(begin_of(text), end_of(text));
}

void paint_text(ImFont* font, ImVec2 at, Color color, std::string_view text) {
  if (text.empty()) return;
  const FontScope scope(font);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddText(ImVec2(std::floor(at.x), std::floor(at.y)), color, begin_of(text), end_of(text));
  if (!probe::on()) return;
  const ImVec2 size = ImGui::CalcTextSize(begin_of(text), end_of(text));
  probe::label(list, text, {at.x, at.y, at.x + size.x, at.y + size.y});
}

float paint_wrapped(ImFont* font, ImVec2 at, Color color, const std::string& text, float width) {
  const FontScope scope(font);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, width);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddText(font, ImGui::GetFontSize(), at, color, text.c_str(), nullptr, width);
  if (probe::on()) probe::label(list, text, {at.x, at.y, at.x + size.x, at.y + size.y});
  return size.y;
}

void paint_text_right(ImFont* font, float right, float top, Color color, std::string_view text) {
  paint_text(font, ImVec2(right - text_size(font, text).x, top), color, text);
}

std::string drawable(std::string text) {
  if (!fonts().built_in) return text;
  constexpr std::pair<std::string_view, std::string_view> kStandIns[] = {{"→", "->"}, {"←", "<-"}, {"…", "..."}, {"−", "-"},
                                                                         {"–", "-"},  {"≤", "<="}, {"≥", ">="},  {"×", "x"}};
  for (const auto& [theirs, ours] : kStandIns)
    for (std::size_t at = text.find(theirs); at != std::string::npos; at = text.find(theirs, at + ours.size()))
      text.replace(at, theirs.size(), ours);
  return text;
}

namespace {

/// The probe hears how much is missing.
std::string noted(ImFont* font, std::string cut, std::string_view whole) {
  if (probe::on()) probe::cut(cut, whole, text_size(font, whole).x - text_size(font, cut).x);
  return cut;
}

}  // namespace

std::string fitted(ImFont* font, std::string_view text, float width) {
  if (text_size(font, text).x <= width) return std::string(text);
  const std::string dots = fonts().built_in ? "..." : "…";
  std::string cut(text);
  while (!cut.empty()) {
    // Never in the middle of a UTF-8 sequence.
    while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0) == 0x80) cut.pop_back();
    if (!cut.empty()) cut.pop_back();
    if (text_size(font, cut + dots).x <= width) break;
  }
  return noted(font, cut + dots, text);
}

std::string fitted_middle(ImFont* font, std::string_view text, float width) {
  if (text_size(font, text).x <= width) return std::string(text);
  const std::string dots = fonts().built_in ? "..." : "…";
  const auto inside = [&](std::size_t i) { return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
  for (std::size_t keep = text.size(); keep-- > 2;) {
    std::size_t head = (keep + 1) / 2, tail = text.size() - keep / 2;
    while (head > 0 && inside(head)) --head;
    while (inside(tail)) ++tail;
    std::string cut = std::string(text.substr(0, head)) + dots + std::string(text.substr(tail));
    if (text_size(font, cut).x <= width) return noted(font, std::move(cut), text);
  }
  return noted(font, dots, text);
}

void colored_text(Color color, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(begin_of(text), end_of(text));
  ImGui::PopStyleColor();
  label_last_item(text);
}

void label_last_item(std::string_view text) {
  if (!probe::on()) return;
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  probe::label(*ImGui::GetWindowDrawList(), text, {low.x, low.y, high.x, high.y});
}

void wrapped_text(ImFont* font, Color color, std::string_view text) {
  const FontScope scope(font);
  ImGui::PushTextWrapPos(0);
  colored_text(color, text);
  ImGui::PopTextWrapPos();
}

void section(std::string_view title, std::string_view right) {
  ImGui::Dummy(ImVec2(0, px(4)));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = text_size(fonts().small_bold, "X").y;
  paint_text(fonts().small_bold, at, theme().heading, title);
  const bool both = text_size(fonts().small_bold, title).x + text_size(fonts().small, right).x + px(10) <= width;
  if (!right.empty() && both) paint_text_right(fonts().small, at.x + width, at.y, theme().faint, right);
  ImGui::Dummy(ImVec2(width, height + px(2)));
}

void fact_line(std::string_view label, std::string_view value, Color value_color) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 left = text_size(fonts().small, label), right = text_size(fonts().mono_small, value);
  const float line = std::max(left.y, right.y);
  paint_text(fonts().small, at, theme().dim, label);
  if (left.x + right.x + px(10) <= width) {
    paint_text_right(fonts().mono_small, at.x + width, at.y + (line - right.y) / 2, value_color, value);
    ImGui::Dummy(ImVec2(width, line));
    return;
  }
  ImGui::Dummy(ImVec2(width, line - px(3)));
  ImGui::Indent(px(10));
  wrapped_text(fonts().mono_small, value_color, value);
  ImGui::Unindent(px(10));
}

bool button(const char* name, std::string_view label, ButtonKind kind, const std::string& why_not, ImVec2 size) {
  const Theme& t = theme();
  const bool enabled = why_not.empty();
  if (kind == ButtonKind::Primary && enabled) {
    ImGui::PushStyleColor(ImGuiCol_Button, t.accent);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, with_alpha(t.accent, 0.88f));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, with_alpha(t.accent, 0.75f));
    ImGui::PushStyleColor(ImGuiCol_Text, t.accent_text);
  } else if (kind == ButtonKind::Flat) {
    ImGui::PushStyleColor(ImGuiCol_Button, Color{0});
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, t.hovered);
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, t.selected);
    ImGui::PushStyleColor(ImGuiCol_Text, t.text);
  } else {
    ImGui::PushStyleColor(ImGuiCol_Button, t.raised);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, ImGui::GetStyleColorVec4(ImGuiCol_ButtonHovered));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, ImGui::GetStyleColorVec4(ImGuiCol_ButtonActive));
    ImGui::PushStyleColor(ImGuiCol_Text, t.text);
  }
  const FontScope scope(kind == ButtonKind::Primary ? fonts().bold : fonts().body);
  ImGui::BeginDisabled(!enabled);
  const std::string text = std::string(label) + "##" + name;
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0.0f);
  const bool pressed = ImGui::Button(text.c_str(), size);
  ImGui::PopStyleVar();
  ImGui::EndDisabled();
  ImGui::PopStyleColor(4);
  if (probe::on()) {
    probe::last_item(name);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax(), size = ImGui::CalcTextSize(begin_of(label), end_of(label));
    const float x = (low.x + high.x - size.x) / 2, y = (low.y + high.y - size.y) / 2;
    probe::label(*ImGui::GetWindowDrawList(), label, {x, y, x + size.x, y + size.y});
  }
  if (!enabled && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) tooltip(why_not);
  return (focus::station().pressed || pressed) && enabled;
}

bool link(const char* name, std::string_view label) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImVec2 size = text_size(fonts().body, label);
  size.x = std::max(size.x, 1.0f);  // where there is no room for a letter
  ImGui::PushID(name);
  const bool pressed = ImGui::InvisibleButton("link", size);
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  if (probe::on()) probe::last_item(name);
  const bool entered = focus::station().pressed;
  paint_text(fonts().body, at, theme().accent, label);
  if (hovered) {
    ImGui::GetWindowDrawList()->AddLine(ImVec2(at.x, at.y + size.y), at + size, theme().accent);
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  }
  return pressed || entered;
}

float pill_width(ImFont* font, std::string_view text) { return text_size(font, text).x + px(16); }

float paint_pill(ImVec2 at, float height, ImFont* font, std::string_view text, Tone tone) {
  const ImVec2 size = text_size(font, text);
  const float width = size.x + px(16);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), tone_fill(tone), height / 2);
  paint_text(font, ImVec2(at.x + px(8), at.y + (height - size.y) / 2), tone_ink(tone), text);
  return width;
}

RowArea pick_row(const char* name, bool selected, float height) {
  RowArea row;
  row.min = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0f);
  row.max = row.min + ImVec2(width, height);
  ImGui::PushID(name);
  ImGui::InvisibleButton("row", ImVec2(width, height));
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  row.hovered = ImGui::IsItemHovered();
  row.clicked = ImGui::IsItemClicked();
  row.double_clicked = row.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  if (selected || row.hovered)
    ImGui::GetWindowDrawList()->AddRectFilled(row.min, row.max, selected ? theme().selected : theme().hovered, px(4));
  row.clicked = focus::station().pressed || row.clicked;
  return row;
}

bool input_field(const char* name, const char* hint, char* buffer, std::size_t size, float width) {
  ImGui::SetNextItemWidth(width);
  const std::string id = std::string("##") + name;
  const bool changed = ImGui::InputTextWithHint(id.c_str(), hint, buffer, size);
  if (probe::on()) probe::last_item(name);
  return changed;
}

bool splitter(const char* name, const SplitterLine& between, const SplitterRange& range, double& ratio) {
  const auto& [vertical, at, length] = between;
  const auto& [extent, low, high, usual] = range;
  const float thickness = px(7);
  const ImVec2 size = vertical ? ImVec2(thickness, length) : ImVec2(length, thickness);
  const ImVec2 corner = vertical ? ImVec2(at.x - thickness / 2, at.y) : ImVec2(at.x, at.y - thickness / 2);
  ImGui::SetCursorScreenPos(corner);
  // A window of its own: it must lie over the panes that it separates.
  ImGui::BeginChild(name, size, false, ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::InvisibleButton("splitter", size);
  if (probe::on()) probe::last_item(name);
  const bool active = ImGui::IsItemActive();
  const bool hot = active || ImGui::IsItemHovered();
  const bool twice = ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  ImGui::EndChild();
  if (hot) ImGui::SetMouseCursor(vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
  const float line = std::max(1.0f, std::round(fonts().scale));
  const Color color = hot ? theme().accent : theme().separator;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (vertical)
    list.AddRectFilled(ImVec2(at.x - line / 2, at.y), ImVec2(at.x + line / 2, at.y + length), color);
  else
    list.AddRectFilled(ImVec2(at.x, at.y - line / 2), ImVec2(at.x + length, at.y + line / 2), color);
  if (twice) {
    ratio = usual;
  } else if (active && extent != 0) {
    const ImVec2 delta = ImGui::GetIO().MouseDelta;
    ratio = std::clamp(ratio + static_cast<double>((vertical ? delta.x : delta.y) / extent), low, high);
  }
  return active;
}

namespace {

double wheel_moved = -1;  // seconds
bool resting = false;
ImVec2 rested_at;
int watched_frame = -1;
const ImGuiContext* watched_context = nullptr;

}  // namespace

void watch_hand() {
  const ImGuiIO& io = ImGui::GetIO();
  if (watched_context != ImGui::GetCurrentContext()) resting = false;
  watched_frame = ImGui::GetFrameCount();
  watched_context = ImGui::GetCurrentContext();
  if (io.MouseWheel != 0) wheel_moved = ImGui::GetTime();
  if (any_key_pressed() || ImGui::IsAnyMouseDown()) {
    resting = true;
    rested_at = io.MousePos;
  } else if (resting && std::abs(io.MousePos.x - rested_at.x) + std::abs(io.MousePos.y - rested_at.y) > px(6)) {
    resting = false;
  }
}

float whole_rows(float room, float row) { return room > row ? std::floor(room / row) * row : room; }

void settle_on_rows(float row) {
  constexpr double kRest = 0.2;  // seconds: a wheel that turns slowly is not held back
  if (row <= 0 || ImGui::IsAnyMouseDown() || ImGui::GetTime() - wheel_moved < kRest) return;
  const float at = ImGui::GetScrollY(), whole = std::round(at / row) * row;
  if (std::abs(at - whole) > 0.5f && whole <= ImGui::GetScrollMaxY() + 0.5f) ImGui::SetScrollY(whole);
}

bool tooltips_rest() {
  const int since = ImGui::GetFrameCount() - watched_frame;  // below 0: another context
  return resting && watched_context == ImGui::GetCurrentContext() && since >= 0 && since <= 1;
}

void tooltip(std::string_view text) {
  if (tooltips_rest()) return;
  ImGui::PushStyleColor(ImGuiCol_PopupBg, theme().tooltip);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(px(420));
  ImGui::TextUnformatted(begin_of(text), end_of(text));
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
  ImGui::PopStyleColor();
}

void cell_text(std::string_view text, bool number, Color color) {
  if (!number) {
    colored_text(color, text);
    return;
  }
  const FontScope scope(fonts().mono_small);
  const float room = ImGui::GetContentRegionAvail().x;
  const float width = ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room - width));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(1));
  colored_text(color, text);
}

bool table_row(const std::string& name, bool selected, int flags) {
  const bool pressed = ImGui::Selectable(("##" + name).c_str(), selected, ImGuiSelectableFlags_SpanAllColumns | flags);
  if (probe::on()) probe::last_item(name);
  return focus::station().pressed || pressed;
}

bool sort_heading(const char* name, const char* label, bool number, bool current, bool& descending) {
  const FontScope scope(fonts().small_bold);
  const ImVec2 text = ImGui::CalcTextSize(label);
  // Where there is no room for a mark beside it, the title comes first.
  const float room = ImGui::GetContentRegionAvail().x, mark = number ? std::clamp(room - text.x, 0.0f, px(12)) : px(12);
  const float width = std::max(text.x + mark, 1.0f);
  if (number) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room - width));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(name);
  bool pressed = ImGui::InvisibleButton("sort", ImVec2(width, text.y));
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  const bool hovered = ImGui::IsItemHovered();
  pressed = focus::station().pressed || pressed;
  if (pressed) descending = current && !descending;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float x = number ? at.x + mark : at.x;
  list.AddText(ImVec2(x, at.y), hovered ? theme().text : theme().heading, label);
  if (probe::on()) probe::label(list, label, {x, at.y, x + text.x, at.y + text.y});
  if (!current) return pressed;
  if (number && mark < px(9)) {
    const float y = descending ? at.y + text.y : at.y;
    list.AddLine(ImVec2(x, y), ImVec2(x + text.x, y), theme().accent, px(1));
    return pressed;
  }
  const float left = (number ? at.x + px(1) : at.x + text.x + px(4)), middle = at.y + text.y / 2, way = descending ? 1.0f : -1.0f;
  list.AddTriangleFilled(ImVec2(left, middle - way * px(2.5f)), ImVec2(left + px(7), middle - way * px(2.5f)),
                         ImVec2(left + px(3.5f), middle + way * px(3)), theme().accent);
  return pressed;
}

bool begin_modal(const char* name, ImVec2 size) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  size.x = std::min(size.x, display.x - px(24));
  if (size.y > 0) size.y = std::min(size.y, display.y - px(24));
  ImGui::SetNextWindowPos(ImVec2(display.x / 2, display.y * 0.48f), ImGuiCond_Always, ImVec2(0.5f, 0.5f));
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(20), px(16)));
  const bool open = ImGui::BeginPopupModal(
      name, nullptr, ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar();
  return open;
}

void dialog_title(const std::string& text) {
  const FontScope scope(fonts().title);
  ImGui::TextUnformatted(text.c_str());
}

void paint_badge(float x, float y, float size, bool b, bool filled) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Color fill = b ? theme().second : theme().accent, ink = b ? theme().second_text : theme().accent_text;
  const ImVec2 low(x, y), high(x + size, y + size);
  if (filled)
    list.AddRectFilled(low, high, fill, px(4));
  else
    list.AddRect(low, high, fill, px(4), 0, px(1.2f));
  const char* letter = b ? "B" : "A";
  const ImVec2 width = text_size(fonts().bold, letter);
  paint_text(fonts().bold, ImVec2(x + (size - width.x) / 2, y + (size - width.y) / 2), filled ? ink : fill, letter);
}

}  // namespace heddle::app
