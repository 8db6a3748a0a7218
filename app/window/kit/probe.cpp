// There is one registry per process, and only the thread that draws uses it.
#include "app/window/kit/probe.h"

#include <imgui.h>

#include <algorithm>

namespace heddle::app::probe {
namespace {
bool enabled_ = false;
Items current_, last_;
std::vector<SeenLabel> labels_, last_labels_;
std::map<std::string, float, std::less<>> missing_;  ///< of cut texts of this frame
Cuts cuts_, last_cuts_;

Rect inside(const ImDrawList& list, Rect of) {
  const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
  return {std::max(of.x0, low.x), std::max(of.y0, low.y), std::min(of.x1, high.x), std::min(of.y1, high.y)};
}
bool empty(const Rect& rect) { return rect.x0 >= rect.x1 || rect.y0 >= rect.y1; }
}  // namespace

bool on() { return enabled_; }

void enable(bool enabled) {
  enabled_ = enabled;
  current_.clear();
  last_.clear();
  labels_.clear();
  last_labels_.clear();
  missing_.clear();
  cuts_.clear();
  last_cuts_.clear();
}

void begin_frame() {
  last_ = std::move(current_);
  current_.clear();
  last_labels_ = std::move(labels_);
  labels_.clear();
  last_cuts_ = std::move(cuts_);
  cuts_.clear();
  missing_.clear();
}

void item(const std::string& name, float x0, float y0, float x1, float y1) {
  if (enabled_) current_.emplace(name, Rect{x0, y0, x1, y1});
}

void last_item(const std::string& name) {
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  // Rows of wide tables go on outside the window.
  const Rect seen = inside(*ImGui::GetWindowDrawList(), {a.x, a.y, b.x, b.y});
  if (!empty(seen))
    item(name, seen.x0, seen.y0, seen.x1, seen.y1);
  else
    item(name, a.x, a.y, b.x, b.y);
}

void label(const ImDrawList& list, std::string_view text, const Rect& rect) {
  if (!enabled_ || text.find_first_not_of(' ') == std::string_view::npos) return;
  const Rect seen = inside(list, rect);
  if (empty(seen)) return;
  const auto cut = missing_.find(text);
  // What scrolls sideways is cut at its edge, whatever stands beside it.
  const float outside = ImGui::GetScrollMaxX() > 0 ? 0 : std::max(0.0f, rect.x1 - seen.x1);
  labels_.push_back(
      {std::string(text), list._OwnerName ? list._OwnerName : "", rect, seen, cut == missing_.end() ? outside : cut->second + outside});
}

void cut(const std::string& shown, std::string_view whole, float missing) {
  if (!enabled_) return;
  missing_[shown] = missing;
  cuts_[shown].emplace(whole);
}

const Items& last_frame() { return last_; }
const std::vector<SeenLabel>& last_labels() { return last_labels_; }
const Cuts& last_cuts() { return last_cuts_; }

}  // namespace heddle::app::probe
