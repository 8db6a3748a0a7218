// The registry of named rectangles; one per process, used by the thread that draws.
#include "app/window/kit/probe.h"

#include <imgui.h>

#include <algorithm>

namespace heddle::app::probe {
namespace {
bool enabled_ = false;
Items current_, last_;
}  // namespace

bool on() { return enabled_; }

void enable(bool enabled) {
  enabled_ = enabled;
  current_.clear();
  last_.clear();
}

void begin_frame() {
  last_ = std::move(current_);
  current_.clear();
}

void item(const std::string& name, float x0, float y0, float x1, float y1) {
  if (enabled_) current_.emplace(name, Rect{x0, y0, x1, y1});
}

void last_item(const std::string& name) {
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  // Rows of wide tables go on outside the window.
  const ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
  const Rect seen{std::max(a.x, low.x), std::max(a.y, low.y), std::min(b.x, high.x), std::min(b.y, high.y)};
  if (seen.x0 < seen.x1 && seen.y0 < seen.y1)
    item(name, seen.x0, seen.y0, seen.x1, seen.y1);
  else
    item(name, a.x, a.y, b.x, b.y);
}

const Items& last_frame() { return last_; }

}  // namespace heddle::app::probe
