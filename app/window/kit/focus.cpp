// Counts the stations of the focused pane while it is drawn; arrows change which of them is the current one.
#include "app/window/kit/focus.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/window/kit/theme.h"

namespace heddle::app::focus {
namespace {

FocusPane current_ = FocusPane::Chart;
std::array<int, kFocusPanes> cursor_{};
int count_ = 0;
bool inside_ = false;   // the focused pane is being drawn
bool moved_ = false;    // the cursor moved in the last frame: bring it into view
bool arrived_ = false;  // the key that led to the pane moves nothing in it
bool taking_ = false;   // something else wants Enter: in this frame, and as the last one ended
bool taken_ = false;
bool still_moving_ = false;  // it is on a row that is drawn only in the next frame

bool listening() {
  return !ImGui::GetIO().WantTextInput && !in_dialog() &&
         !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

int& cursor() { return cursor_[static_cast<std::size_t>(current_)]; }

}  // namespace

FocusPane pane() { return current_; }

void set(FocusPane pane) {
  arrived_ = pane != current_;
  current_ = pane;
  moved_ = true;
}

void move(int direction, const std::array<bool, kFocusPanes>& on_screen) {
  int next = static_cast<int>(current_);
  for (int i = 0; i < kFocusPanes; ++i) {
    next = (next + direction + kFocusPanes) % kFocusPanes;
    if (on_screen[static_cast<std::size_t>(next)]) break;
  }
  set(static_cast<FocusPane>(next));
}

void begin(FocusPane pane) {
  inside_ = pane == current_ && pane != FocusPane::Chart;
  count_ = 0;
}

void end() {
  if (!inside_) return;
  inside_ = false;
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  if (listening())
    list.AddRect(ImVec2(at.x + px(2), at.y + px(2)), ImVec2(at.x + size.x - px(2), at.y + size.y - px(2)), theme().accent, px(4), 0, px(2));
  moved_ = std::exchange(still_moving_, false);
  taken_ = std::exchange(taking_, false);
  if (std::exchange(arrived_, false) || !listening() || ImGui::GetIO().KeyCtrl || ImGui::GetIO().KeyAlt) return;
  const int before = cursor();
  // Cards and buttons stand side by side there.
  const bool side_by_side = current_ == FocusPane::Welcome || current_ == FocusPane::Notices;
  if (key_pressed(Key::Down, true) || (side_by_side && key_pressed(Key::Right, true))) ++cursor();
  if (key_pressed(Key::Up, true) || (side_by_side && key_pressed(Key::Left, true))) --cursor();
  if (key_pressed(Key::Home)) cursor() = 0;
  if (key_pressed(Key::End)) cursor() = count_ - 1;
  cursor() = std::clamp(cursor(), 0, std::max(0, count_ - 1));
  moved_ |= cursor() != before;
}

void take_enter() { taking_ = true; }

void skip(int begin, int end, float row_height) {
  if (!inside_ || end <= begin) return;
  const int first = count_;
  count_ += end - begin;
  if (!moved_ || cursor() < first || cursor() >= count_) return;
  const float at = static_cast<float>(begin + cursor() - first) * row_height;
  ImGui::SetScrollY(at < ImGui::GetScrollY() ? at : at - ImGui::GetWindowHeight() + 3 * row_height);
  still_moving_ = true;
}

Station station() {
  if (!inside_) return {};
  const bool here = count_++ == cursor();
  if (!here) return {};
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const float top = ImGui::GetWindowPos().y, bottom = top + ImGui::GetWindowHeight();
  // A row of a table is wider than the cell that it is drawn in.
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(ImVec2(low.x, std::max(low.y - 1, top)), ImVec2(high.x, std::min(high.y + 1, bottom)), false);
  list.AddRect(ImVec2(low.x + 1, low.y), ImVec2(high.x - 1, high.y), theme().accent, px(4), 0, std::max(1.0f, px(1.5f)));
  list.PopClipRect();
  // As far as is needed, so that rows do not jump.
  if (moved_ && (low.y < top + (high.y - low.y) || high.y > bottom)) ImGui::SetScrollHereY(low.y < top + (high.y - low.y) ? 0.25f : 0.75f);
  const bool enter = listening() && ((!taken_ && key_pressed(Key::Enter)) || key_pressed(Key::Space));
  return {true, enter};
}

}  // namespace heddle::app::focus
