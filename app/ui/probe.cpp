// The registry of named rectangles; one per process, used by the thread that draws.
#include "app/ui/probe.h"

#include <imgui.h>

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
  item(name, a.x, a.y, b.x, b.y);
}

const Items& last_frame() { return last_; }

}  // namespace heddle::app::probe
