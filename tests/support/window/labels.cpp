// Rectangles against rectangles; the probe knows them all.
#include "tests/support/window/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/window/kit/probe.h"

namespace heddle::test {
namespace {

using app::probe::Rect;
using app::probe::SeenLabel;

// Boxes of letters are a little higher and wider than their ink.
constexpr float kTouchX = 2, kTouchY = 4, kLine = 24, kEdge = 14;

bool overlap(const Rect& a, const Rect& b) {
  return std::min(a.x1, b.x1) - std::max(a.x0, b.x0) > kTouchX && std::min(a.y1, b.y1) - std::max(a.y0, b.y0) > kTouchY;
}
bool contains(const Rect& outer, const Rect& inner) {
  return outer.x0 <= inner.x0 + 1 && outer.y0 <= inner.y0 + 1 && outer.x1 >= inner.x1 - 1 && outer.y1 >= inner.y1 - 1;
}
bool same(const Rect& a, const Rect& b) { return contains(a, b) && contains(b, a); }

std::string where(const SeenLabel& l) {
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
bool has_room(const SeenLabel& label, const std::vector<SeenLabel>& all) {
  const Rect needed{label.seen.x1 + 1, label.seen.y0 + 2, label.seen.x1 + label.missing + 8, label.seen.y1 - 2};
  if (needed.x1 > pane_of(label.seen).x1 - kEdge) return false;
  const auto meets = [&](const Rect& other) {
    return std::min(other.x1, needed.x1) > std::max(other.x0, needed.x0) && std::min(other.y1, needed.y1) > std::max(other.y0, needed.y0);
  };
  for (const SeenLabel& other : all)
    if (&other != &label && meets(other.seen)) return false;
  for (const auto& [name, box] : app::probe::last_frame()) {
    const bool around = contains(box, label.seen);
    // A name does not leave its bar.
    if (around ? name.find("/bar/") != std::string::npos && box.x1 < needed.x1 : meets(box)) return false;
  }
  return true;
}

/// Lies over the content on purpose, and hides what is under it.
bool on_sheet(const SeenLabel& label) {
  return label.window.find("/notices_") != std::string::npos || label.window.find("/marks_") != std::string::npos;
}

std::size_t letters_of(const std::string& cut) {
  return static_cast<std::size_t>(
      std::count_if(cut.begin(), cut.end(), [](char c) { return c != '.' && c != ' ' && (c & 0xc0) != 0x80 && (c & 0x80) == 0; }));
}

/// Whose ends have gone so far that something else could be meant.
void look_for_ambiguous(const std::vector<SeenLabel>& all, std::vector<std::string>& faults) {
  for (const auto& [shown, wholes] : app::probe::last_cuts()) {
    if (wholes.size() < 2 || letters_of(shown) == 0) continue;
    if (std::none_of(all.begin(), all.end(), [&, shown = shown](const SeenLabel& label) { return label.text == shown; })) continue;
    faults.push_back(fmt::format("'{}' stands for '{}' and for '{}'", shown, *wholes.begin(), *std::next(wholes.begin())));
  }
}

/// Names in bars are whole from the top of their letters to the tail of a Q, whatever is drawn around them.
void look_for_covered(const std::vector<SeenLabel>& all, std::vector<std::string>& faults) {
  for (const auto& [name, box] : app::probe::last_frame()) {
    const std::size_t bar = name.find("/bar/");
    if (!name.starts_with("gantt") || bar == std::string::npos) continue;
    const std::string op = name.substr(bar + 5, name.rfind('@') - bar - 5);
    for (const SeenLabel& label : all) {
      const float middle = (label.rect.x0 + label.rect.x1) / 2, line = label.rect.y1 - label.rect.y0,
                  of_line = (label.rect.y0 + label.rect.y1) / 2;
      if (label.text != op || middle < box.x0 || middle > box.x1 || of_line < box.y0 || of_line > box.y1) continue;
      if (label.rect.y0 + 0.13f * line < box.y0 - 1.01f || label.rect.y1 > box.y1 + 1.01f)
        faults.push_back(fmt::format("{} is cut by the edge of its bar, {:.1f} to {:.1f}", where(label), box.y0, box.y1));
    }
  }
}

}  // namespace

std::vector<std::string> label_faults() {
  const std::vector<SeenLabel>& all = app::probe::last_labels();
  std::vector<std::string> faults;
  look_for_ambiguous(all, faults);
  look_for_covered(all, faults);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SeenLabel& a = all[i];
    for (std::size_t k = i + 1; k < all.size(); ++k)  // the comparison of numbers first: all pairs are compared in every frame
      if (overlap(a.seen, all[k].seen) && on_sheet(a) == on_sheet(all[k]) && !(a.text == all[k].text && same(a.seen, all[k].seen)))
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
