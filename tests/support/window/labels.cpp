// Rectangles against rectangles; the probe knows them all.
#include "tests/support/window/labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/window/kit/probe.h"

namespace heddle::test {
namespace {

using app::probe::Label;
using app::probe::Rect;

// Boxes of letters are a little higher and wider than their ink.
constexpr float kTouchX = 2, kTouchY = 4, kLine = 24, kEdge = 14;

bool overlap(const Rect& a, const Rect& b) {
  return std::min(a.x1, b.x1) - std::max(a.x0, b.x0) > kTouchX && std::min(a.y1, b.y1) - std::max(a.y0, b.y0) > kTouchY;
}
bool contains(const Rect& outer, const Rect& inner) {
  return outer.x0 <= inner.x0 + 1 && outer.y0 <= inner.y0 + 1 && outer.x1 >= inner.x1 - 1 && outer.y1 >= inner.y1 - 1;
}
bool same(const Rect& a, const Rect& b) { return contains(a, b) && contains(b, a); }

std::string where(const Label& l) {
  return fmt::format("'{}' at {:.0f},{:.0f} to {:.0f},{:.0f}", l.text, l.seen.x0, l.seen.y0, l.seen.x1, l.seen.y1);
}

/// The pane that a label is in; the whole window where it is in none.
Rect pane_of(const Rect& rect) {
  Rect pane{0, 0, 1e9f, 1e9f};
  for (const auto& [name, box] : app::probe::last_frame())
    if (name.starts_with("pane/") && contains(box, rect)) pane = box;
  return pane;
}

bool in_pane(const char* name, const Rect& rect) {
  const auto found = app::probe::last_frame().find(name);
  return found != app::probe::last_frame().end() && contains(found->second, rect);
}

/// Nothing stands in the stretch that a cut label would need.
bool has_room(const Label& label, const std::vector<Label>& all) {
  const Rect needed{label.seen.x1 + 1, label.seen.y0 + 2, label.seen.x1 + label.missing + 8, label.seen.y1 - 2};
  if (needed.x1 > pane_of(label.seen).x1 - kEdge) return false;
  const auto meets = [&](const Rect& other) {
    return std::min(other.x1, needed.x1) > std::max(other.x0, needed.x0) && std::min(other.y1, needed.y1) > std::max(other.y0, needed.y0);
  };
  for (const Label& other : all)
    if (&other != &label && meets(other.seen)) return false;
  for (const auto& [name, box] : app::probe::last_frame())
    if (!contains(box, label.seen) && meets(box)) return false;
  return true;
}

}  // namespace

std::vector<std::string> label_faults() {
  const std::vector<Label>& all = app::probe::last_labels();
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Label& a = all[i];
    for (std::size_t k = i + 1; k < all.size(); ++k)
      if (overlap(a.seen, all[k].seen) && !(a.text == all[k].text && same(a.seen, all[k].seen)))
        faults.push_back(fmt::format("{} lies over {}", where(a), where(all[k])));
    if (a.missing > 1 && has_room(a, all)) faults.push_back(fmt::format("{} is cut by {:.0f} beside empty space", where(a), a.missing));
    // Of a line that goes on outside its pane a half would be seen.
    const float hidden = (a.rect.y1 - a.rect.y0) - (a.seen.y1 - a.seen.y0);
    if (hidden > kTouchY && a.rect.y1 - a.rect.y0 < kLine && (in_pane("pane/bottom", a.seen) || in_pane("pane/left", a.seen)))
      faults.push_back(fmt::format("{} is a half row: {:.0f} of it is hidden", where(a), hidden));
  }
  return faults;
}

}  // namespace heddle::test
