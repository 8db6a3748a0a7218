// Named rectangles for tests: while drawing, widgets that matter register where they are ("toolbar/solve",
// "gantt/bar/QK1@0"), and the harness aims at names, never at pixels. Text registers too, so that a test can see what lies over what and
// what is cut. Off in the running program, where `on()` is false and callers should not even build the name.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct ImDrawList;

namespace heddle::app::probe {

struct Rect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float center_x() const { return (x0 + x1) / 2; }
  float center_y() const { return (y0 + y1) / 2; }
};
using Items = std::map<std::string, Rect, std::less<>>;

/// A piece of text that can be seen.
struct SeenLabel {
  std::string text, window;  ///< that it is drawn in: "heddle/pane/child", with numbers between
  Rect rect, seen;           ///< all of it; what its window shows of it
  float missing = 0;         ///< so many pixels more it would need for all its letters
};

bool on();
/// Switches recording on or off for the whole process.
void enable(bool enabled);
/// Call at the start of every frame: what was recorded becomes `last_frame()`.
void begin_frame();
/// Records a rectangle in screen coordinates; a name may be recorded once per frame, the first one counts.
void item(const std::string& name, float x0, float y0, float x1, float y1);
/// Records what can be seen of the last ImGui item; all of it when nothing can.
void last_item(const std::string& name);
/// Records text of that list, unless nothing of it can be seen.
void label(const ImDrawList& list, std::string_view text, const Rect& rect);
/// A text was cut to `shown` and would need so many pixels more.
void cut(const std::string& shown, std::string_view whole, float missing);
/// Everything of the last complete frame.
const Items& last_frame();
const std::vector<SeenLabel>& last_labels();
/// What cut texts of that frame were: more than one where several became the same.
using Cuts = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;
const Cuts& last_cuts();

}  // namespace heddle::app::probe
