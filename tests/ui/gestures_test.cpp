// Every gesture and key of the window's contract, one row each: what is done, and what must come of it. The chart shows the
// ping-pong schedule of attention; the solver is one that never ends by itself, so that nothing moves between two frames.
#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <set>

#include "app/session/commands.h"
#include "app/window/kit/focus.h"
#include "core/chart/gantt_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/window/harness.h"
#include "tests/support/window/invariants.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

std::string schedule_file() { return test::repository_path("tests/schedules/attention_ping_pong.json"); }

/// The window, and what it was like before the gesture.
struct Bench : Harness {
  TimeRange before;
  std::string content_before;
  ViewState view_before;
  float scroll_before = 0, row_before = 0, x = 0, y = 0;

  Bench() : Harness(test::solve_until_cancelled, 1600, 900) {
    session().apply(OpenSchedule{schedule_file()});
    REQUIRE(session().content().entry());
    frame(40);
  }
  /// Takes note of everything; after it comes the gesture.
  void ready() {
    settle();
    before = chart().target;
    content_before = test::fingerprint(content());
    view_before = session().view();
    scroll_before = chart().scroll;
    row_before = chart().row_shown;
  }
  void settle() { frame(40); }

  GanttViewState& chart() { return window().ui().chart; }
  const Content& content() { return session().content(); }
  const Selection& selection() { return session().selection(); }
  OpId op(const char* name) { return content().problem->find_op(name); }
  bool selected(const char* name) { return selection().contains(op(name)); }
  double cycle_at(float px) {
    const probe::Rect rows = at("gantt/rows");
    return chart().target.begin + chart().target.length() * static_cast<double>((px - rows.x0) / (rows.x1 - rows.x0));
  }

  /// The longest piece of it that is on screen.
  std::string bar(const char* name) {
    std::string best;
    float most = 0;
    for (const std::string& found : names(std::string("gantt/bar/") + name + "@")) {
      const probe::Rect r = probe::last_frame().find(found)->second;
      if (r.x1 - r.x0 > most) most = r.x1 - r.x0, best = found;
    }
    REQUIRE_FALSE(best.empty());
    return best;
  }
  /// A place on the rows without a bar near it.
  std::pair<float, float> empty() {
    const probe::Rect rows = at("gantt/rows");
    const std::vector<std::string> bars = names("gantt/bar/");
    for (float py = rows.y0 + 12; py < rows.y1 - 12; py += 9)
      for (float px = rows.x0 + (rows.x1 - rows.x0) * 0.3f; px < rows.x1 - 160; px += 16) {
        bool free = true;
        for (const std::string& name : bars) {
          const probe::Rect bar = probe::last_frame().find(name)->second;
          free &= px + 140 < bar.x0 || px - 140 > bar.x1 || py + 6 < bar.y0 || py - 6 > bar.y1;
        }
        if (free) return {px, py};
      }
    FAIL("there is no empty place in the chart");
    return {};
  }
  void wheel_at(float px, float py, float steps, test::Modifiers m = {}) {
    move_to(x = px, y = py);
    feed_modifiers(m.ctrl, m.shift, m.alt);
    frame();
    feed_wheel(steps);
    frame(2);
    feed_modifiers(false, false, false);
    settle();
  }
  void wheel_on(const std::string& name, float steps, test::Modifiers m = {}) {
    const probe::Rect r = at(name);
    wheel_at(r.center_x(), r.center_y(), steps, m);
  }
  void wheel_on_empty(float steps, test::Modifiers m = {}) {
    const auto [px, py] = empty();
    wheel_at(px, py, steps, m);
  }
  void drag_at(float px, float py, float dx, float dy = 0, int button = 0, test::Modifiers m = {}) {
    move_to(px, py);
    feed_modifiers(m.ctrl, m.shift, m.alt);
    frame();
    feed_mouse_button(button, true);
    frame(2);
    for (int i = 1; i <= 8; ++i) move_to(px + dx * static_cast<float>(i) / 8, py + dy * static_cast<float>(i) / 8);
    frame();
    feed_mouse_button(button, false);
    frame(2);
    feed_modifiers(false, false, false);
    settle();
  }
  void drag_empty(float dx, int button = 0, test::Modifiers m = {}) {
    const auto [px, py] = empty();
    drag_at(px, py, dx, 0, button, m);
  }
  void click_empty(int button = 0) {
    const auto [px, py] = empty();
    click_at(px, py, button);
  }
  void double_click_at(float px, float py) {
    move_to(px, py);
    for (int i = 0; i < 2; ++i) {
      feed_mouse_button(0, true);
      frame();
      feed_mouse_button(0, false);
      frame();
    }
    settle();
  }
  void press(Key which, test::Modifiers m = {}) {
    key(which, m);
    settle();
  }
  void select(const char* name) {
    session().apply(SelectOp{op(name)});
    frame(3);
  }

  // What came of it.
  bool zoomed_in() { return chart().target.length() < before.length() * 0.99; }
  bool zoomed_out() { return chart().target.length() > before.length() * 1.01; }
  bool panned(int way) {
    const double moved = chart().target.begin - before.begin;
    return std::abs(chart().target.length() - before.length()) < before.length() * 0.01 && (way > 0 ? moved > 1 : moved < -1);
  }
  bool fits() {
    const GanttModel model = build_gantt(*content().problem, content().entry()->schedule, {});
    return chart().target.begin <= static_cast<double>(model.begin) && chart().target.end >= static_cast<double>(model.end);
  }
  /// The cycle under the mouse stayed there while the view zoomed.
  bool anchored() {
    const probe::Rect rows = at("gantt/rows");
    const double share = static_cast<double>((x - rows.x0) / (rows.x1 - rows.x0));
    return std::abs(before.begin + before.length() * share - cycle_at(x)) < 3;
  }
  bool untouched() { return test::fingerprint(content()) == content_before; }
};

struct Row {
  const char* name;
  std::function<void(Bench&)> given;  ///< before `ready`; may be empty
  std::function<void(Bench&)> input;
  std::function<bool(Bench&)> effect;
};

const std::function<void(Bench&)> nothing;
void zoom(Bench& b) {
  b.press(Key::W);
  b.press(Key::W);
}
void zoom_and_back(Bench& b) {
  zoom(b);
  b.ready();
  b.press(Key::W);
}
void with_b(Bench& b) {
  b.session().apply(OpenSchedule{schedule_file()});
  b.frame(3);
}

const Row kMouse[] = {
    {"hover, empty canvas: hair-line and cycle", nothing,
     [](Bench& b) {
       const auto [x, y] = b.empty();
       b.move_to(x, y);
       b.frame(2);
     },
     [](Bench& b) { return b.chart().hovered_cycle && !b.chart().hovered; }},
    {"hover, bar: it lights up, and the tooltip comes after 0.15 s", nothing,
     [](Bench& b) {
       b.move_to(b.bar("QK1"));
       b.frame(2);
       CHECK_FALSE(b.has("gantt/tooltip"));
       b.frame(12);
     },
     [](Bench& b) { return b.chart().hovered && b.chart().hovered_for >= 0.15 && b.has("gantt/tooltip"); }},
    {"hover, ruler: the exact cycle", nothing,
     [](Bench& b) {
       b.move_to("gantt/ruler");
       b.frame(2);
     },
     [](Bench& b) {
       return b.chart().hovered_cycle &&
              std::abs(static_cast<double>(*b.chart().hovered_cycle) - b.cycle_at(b.at("gantt/ruler").center_x())) < 3;
     }},

    {"wheel, empty canvas: zooms at the cursor", nothing, [](Bench& b) { b.wheel_on_empty(2); },
     [](Bench& b) { return b.zoomed_in() && b.anchored(); }},
    {"wheel back, empty canvas: zooms out", zoom, [](Bench& b) { b.wheel_on_empty(-1); }, [](Bench& b) { return b.zoomed_out(); }},
    {"wheel, bar: zooms at the cursor", nothing, [](Bench& b) { b.wheel_on(b.bar("QK1"), 2); },
     [](Bench& b) { return b.zoomed_in() && b.anchored(); }},
    {"wheel, ruler: zooms", nothing, [](Bench& b) { b.wheel_on("gantt/ruler", 2); },
     [](Bench& b) { return b.zoomed_in() && b.anchored(); }},
    {"wheel, minimap: zooms", nothing, [](Bench& b) { b.wheel_on("gantt/minimap", 2); }, [](Bench& b) { return b.zoomed_in(); }},
    {"Shift + wheel, empty canvas: pans in time", zoom, [](Bench& b) { b.wheel_on_empty(-1, {.shift = true}); },
     [](Bench& b) { return b.panned(1); }},
    {"Shift + wheel, bar: pans in time", zoom, [](Bench& b) { b.wheel_on(b.names("gantt/bar/").front(), -1, {.shift = true}); },
     [](Bench& b) { return b.panned(1); }},
    {"Shift + wheel, ruler: pans in time", zoom, [](Bench& b) { b.wheel_on("gantt/ruler", 1, {.shift = true}); },
     [](Bench& b) { return b.panned(-1); }},
    {"Shift + wheel, minimap: pans in time", zoom, [](Bench& b) { b.wheel_on("gantt/minimap", 1, {.shift = true}); },
     [](Bench& b) { return b.panned(-1); }},
    {"Ctrl + wheel: zooms finely at the cursor", nothing, [](Bench& b) { b.wheel_on_empty(1, {.ctrl = true}); },
     [](Bench& b) { return b.zoomed_in() && b.anchored() && b.chart().target.length() > b.before.length() / 1.2; }},
    {"Ctrl + wheel, bar: the same", nothing, [](Bench& b) { b.wheel_on(b.bar("QK1"), 1, {.ctrl = true}); },
     [](Bench& b) { return b.zoomed_in() && b.chart().target.length() > b.before.length() / 1.2; }},
    {"Alt + wheel: row height", nothing, [](Bench& b) { b.wheel_on_empty(2, {.alt = true}); },
     [](Bench& b) { return b.chart().row_shown > b.row_before && !b.zoomed_in(); }},
    {"Alt + wheel, bar: row height", nothing, [](Bench& b) { b.wheel_on(b.bar("QK1"), -2, {.alt = true}); },
     [](Bench& b) { return b.chart().row_shown < b.row_before; }},
    {"wheel over row labels: scrolls rows", [](Bench& b) { b.wheel_on_empty(20, {.alt = true}); },
     [](Bench& b) {
       const probe::Rect rows = b.at("gantt/rows");
       b.wheel_at(rows.x0 - 40, rows.y0 + 30, -2);
     },
     [](Bench& b) { return b.chart().scroll > b.scroll_before && !b.zoomed_in() && !b.zoomed_out(); }},

    {"left click, empty canvas: clears the selection", [](Bench& b) { b.select("QK1"); }, [](Bench& b) { b.click_empty(); },
     [](Bench& b) { return b.selection().empty(); }},
    {"left click, bar: selects", nothing, [](Bench& b) { b.click(b.bar("QK1")); },
     [](Bench& b) { return b.selection().ops.size() == 1 && b.selected("QK1"); }},
    {"Ctrl + click, bar: adds", [](Bench& b) { b.select("QK1"); }, [](Bench& b) { b.click(b.bar("PV1"), 0, {.ctrl = true}); },
     [](Bench& b) { return b.selected("QK1") && b.selected("PV1"); }},
    {"Shift + click, bar: extends along the row", [](Bench& b) { b.click(b.bar("QK1")); },
     [](Bench& b) { b.click(b.bar("PV1"), 0, {.shift = true}); }, [](Bench& b) { return b.selected("QK1") && b.selected("PV1"); }},
    {"left click, ruler: plants a flag", nothing, [](Bench& b) { b.click("gantt/ruler"); },
     [](Bench& b) { return b.content().flags.size() == 1; }},
    {"double click, empty canvas: fits all", zoom,
     [](Bench& b) {
       const auto [x, y] = b.empty();
       b.double_click_at(x, y);
     },
     [](Bench& b) { return b.fits(); }},
    {"double click, bar: zooms to it", nothing,
     [](Bench& b) {
       const probe::Rect r = b.at(b.bar("QK1"));
       b.double_click_at(r.center_x(), r.center_y());
     },
     [](Bench& b) { return b.zoomed_in() && b.untouched(); }},
    {"double click, ruler: fits all", zoom,
     [](Bench& b) {
       const probe::Rect r = b.at("gantt/ruler");
       b.double_click_at(r.center_x(), r.center_y());
     },
     [](Bench& b) { return b.fits(); }},
    {"double click, minimap: fits all", zoom,
     [](Bench& b) {
       const probe::Rect r = b.at("gantt/minimap");
       b.double_click_at(r.center_x(), r.center_y());
     },
     [](Bench& b) { return b.fits(); }},

    {"left drag, empty canvas: a range, which stays", nothing, [](Bench& b) { b.drag_empty(120); },
     [](Bench& b) { return b.chart().range && b.chart().range->end > b.chart().range->begin; }},
    {"its edges can be dragged on", [](Bench& b) { b.drag_empty(120); },
     [](Bench& b) {
       REQUIRE(b.chart().range);
       const probe::Rect rows = b.at("gantt/rows");
       const float x =
           rows.x0 + static_cast<float>((static_cast<double>(b.chart().range->end) - b.chart().target.begin) / b.chart().target.length()) *
                         (rows.x1 - rows.x0);
       const auto [ex, ey] = b.empty();
       b.x = static_cast<float>(b.chart().range->end);
       b.drag_at(x, ey, 60);
     },
     [](Bench& b) { return b.chart().range && static_cast<float>(b.chart().range->end) > b.x; }},
    {"left drag, bar: proposes a pin", nothing, [](Bench& b) { b.drag(b.bar("QK1"), 60, 0); },
     [](Bench& b) { return !b.content().constraints.empty() && b.session().live().active(); }},
    {"left drag, bar, then Esc: nothing", nothing,
     [](Bench& b) {
       const probe::Rect r = b.at(b.bar("QK1"));
       b.move_to(r.center_x(), r.center_y());
       feed_mouse_button(0, true);
       b.frame(2);
       for (int i = 1; i <= 6; ++i) b.move_to(r.center_x() + 10.0f * static_cast<float>(i), r.center_y());
       b.key(Key::Escape);
       feed_mouse_button(0, false);
       b.frame(3);
     },
     [](Bench& b) { return b.untouched() && b.chart().drag == ChartDrag::None; }},
    {"left drag, minimap: moves the view", zoom,
     [](Bench& b) {
       const probe::Rect r = b.at("gantt/minimap");
       b.drag_at(r.center_x(), r.center_y(), 150);
     },
     [](Bench& b) { return b.panned(1); }},
    {"left drag, ruler: moves the view", zoom,
     [](Bench& b) {
       const probe::Rect r = b.at("gantt/ruler");
       b.drag_at(r.center_x(), r.center_y(), -150);
     },
     [](Bench& b) { return b.panned(1) && b.content().flags.empty(); }},
    {"right drag: pans", zoom,
     [](Bench& b) {
       const auto r = b.at("gantt/rows");
       b.drag_at(r.center_x(), r.center_y(), -150, 0, 1);
     },
     [](Bench& b) { return b.panned(1) && b.untouched(); }},
    {"Space + left drag: pans", zoom,
     [](Bench& b) {
       feed_key(Key::Space, true);
       const auto r = b.at("gantt/rows");
       b.drag_at(r.center_x(), r.center_y(), -150);
       feed_key(Key::Space, false);
     },
     [](Bench& b) { return b.panned(1) && b.untouched() && !b.chart().range; }},
    {"Shift + left drag, empty canvas: pans", zoom,
     [](Bench& b) {
       const auto r = b.at("gantt/ruler");
       b.drag_at(r.center_x(), r.center_y(), -150, 0, 0, {.shift = true});
     },
     [](Bench& b) { return b.panned(1) && !b.chart().range; }},
    {"middle drag: zooms to the range", nothing,
     [](Bench& b) {
       const auto r = b.at("gantt/rows");
       b.drag_at(r.center_x(), r.center_y(), 200, 0, 2);
     },
     [](Bench& b) { return b.zoomed_in(); }},
    {"Ctrl + middle drag: zooms out", zoom,
     [](Bench& b) {
       const auto r = b.at("gantt/rows");
       b.drag_at(r.center_x(), r.center_y(), 300, 0, 2, {.ctrl = true});
     },
     [](Bench& b) { return b.zoomed_out(); }},
    {"middle click, bar: zooms to it", nothing,
     [](Bench& b) {
       b.click(b.bar("QK1"), 2);
       b.settle();
     },
     [](Bench& b) { return b.zoomed_in(); }},
    {"right click, empty canvas: a menu of the view", nothing, [](Bench& b) { b.click_empty(1); },
     [](Bench& b) { return b.has("chart_menu/fit") && !b.has("chart_menu/pin"); }},
    {"right click, bar: pin, group, unpin, latency, why, earliest, latest, graph, CUDA, copy", nothing,
     [](Bench& b) { b.click(b.bar("QK1"), 1); },
     [](Bench& b) {
       for (const char* item : {"pin", "unpin", "group", "latency", "why", "earliest", "latest", "graph", "cuda", "copy"}) {
         INFO(item);
         CHECK(b.has(std::string("chart_menu/") + item));
       }
       return true;
     }},
    {"right click with a range: its menu", [](Bench& b) { b.drag_empty(120); }, [](Bench& b) { b.click("gantt/ruler", 1); },
     [](Bench& b) { return b.has("chart_menu/zoom_range") && b.has("chart_menu/copy_range") && b.has("chart_menu/clear_range"); }},
    {"why here, of the bar's menu: what holds it", nothing,
     [](Bench& b) {
       b.click(b.bar("QK1"), 1);
       b.click("chart_menu/why");
       b.frame(3);
     },
     [](Bench& b) { return b.session().view().highlight.why.find("QK1 starts at ") == 0 && b.session().view().highlight.ops.size() > 1; }},
    {"a range snaps to the edge of a bar nearby", nothing,
     [](Bench& b) {
       const probe::Rect bar = b.at(b.bar("QK1"));
       const auto [x, y] = b.empty();
       b.drag_at(x, y, bar.x1 + 4 - x, bar.center_y() - y);
     },
     [](Bench& b) {
       const Schedule& s = b.content().entry()->schedule;
       Cycle end = 0;
       for (const GanttBar& bar : build_gantt(*b.content().problem, s, {}).bars)
         if (bar.label == "QK1" && !bar.wraps_right) end = bar.end;
       return b.chart().range && (b.chart().range->begin == end || b.chart().range->end == end);
     }},
    {"with Alt it does not", nothing,
     [](Bench& b) {
       const probe::Rect bar = b.at(b.bar("QK1"));
       const auto [x, y] = b.empty();
       b.drag_at(x, y, bar.x1 + 4 - x, bar.center_y() - y, 0, {.alt = true});
     },
     [](Bench& b) {
       const double under = b.cycle_at(b.at(b.bar("QK1")).x1 + 4);
       return b.chart().range && (std::abs(static_cast<double>(b.chart().range->begin) - under) < 2 ||
                                  std::abs(static_cast<double>(b.chart().range->end) - under) < 2);
     }},
};

const Row kKeys[] = {
    {"W: zooms in at the mouse",
     [](Bench& b) {
       const auto r = b.at("gantt/rows");
       b.move_to(b.x = r.x0 + 200, r.center_y());
     },
     [](Bench& b) { b.press(Key::W); }, [](Bench& b) { return b.zoomed_in() && b.anchored(); }},
    {"S: zooms out", zoom, [](Bench& b) { b.press(Key::S); }, [](Bench& b) { return b.zoomed_out(); }},
    {"A: pans left", zoom, [](Bench& b) { b.press(Key::A); }, [](Bench& b) { return b.panned(-1); }},
    {"D: pans right", zoom, [](Bench& b) { b.press(Key::D); }, [](Bench& b) { return b.panned(1); }},
    {"Left: pans left", zoom, [](Bench& b) { b.press(Key::Left); }, [](Bench& b) { return b.panned(-1); }},
    {"Right: pans right", zoom, [](Bench& b) { b.press(Key::Right); }, [](Bench& b) { return b.panned(1); }},
    {"Shift + D: a page", zoom, [](Bench& b) { b.press(Key::D, {.shift = true}); }, [](Bench& b) { return b.panned(1); }},
    {"Shift + Left: a page back", zoom, [](Bench& b) { b.press(Key::Left, {.shift = true}); }, [](Bench& b) { return b.panned(-1); }},
    {"Down: the next row", [](Bench& b) { b.click(b.bar("QK0")); }, [](Bench& b) { b.press(Key::Down); },
     [](Bench& b) { return !b.selection().empty() && !b.selected("QK0"); }},
    {"Up: the previous row", [](Bench& b) { b.click(b.bar("QK1")); }, [](Bench& b) { b.press(Key::Up); },
     [](Bench& b) { return !b.selection().empty() && !b.selected("QK1"); }},
    {".: the next op on the row", [](Bench& b) { b.click(b.bar("QK1")); }, [](Bench& b) { b.press(Key::Period); },
     [](Bench& b) { return !b.selection().empty() && !b.selected("QK1"); }},
    {",: the previous op on the row", [](Bench& b) { b.click(b.bar("PV1")); }, [](Bench& b) { b.press(Key::Comma); },
     [](Bench& b) { return !b.selection().empty() && !b.selected("PV1"); }},
    {"]: along a dependence to its consumer", [](Bench& b) { b.click(b.bar("QK1")); }, [](Bench& b) { b.press(Key::RightBracket); },
     [](Bench& b) {
       for (const Edge& e : b.content().problem->edges)
         if (e.from == b.op("QK1") && b.selection().primary() == e.to) return true;
       return false;
     }},
    {"[: along a dependence to its producer", [](Bench& b) { b.click(b.bar("PV1")); }, [](Bench& b) { b.press(Key::LeftBracket); },
     [](Bench& b) {
       for (const Edge& e : b.content().problem->edges)
         if (e.to == b.op("PV1") && b.selection().primary() == e.from) return true;
       return false;
     }},
    {"F: centres the selection",
     [](Bench& b) {
       zoom(b);
       b.select("QK1");
     },
     [](Bench& b) { b.press(Key::F); },
     [](Bench& b) { return std::abs(b.chart().target.begin - b.before.begin) > 0.5 || b.zoomed_in() || b.zoomed_out(); }},
    {"F again: fits",
     [](Bench& b) {
       zoom(b);
       b.select("QK1");
       b.press(Key::F);
     },
     [](Bench& b) { b.press(Key::F); }, [](Bench& b) { return b.fits(); }},
    {"Home: fits all", zoom, [](Bench& b) { b.press(Key::Home); }, [](Bench& b) { return b.fits(); }},
    {"0: fits all", zoom, [](Bench& b) { b.press(Key::Num0); }, [](Bench& b) { return b.fits(); }},
    {"Backspace: undoes the zoom", zoom_and_back, [](Bench& b) { b.press(Key::Backspace); }, [](Bench& b) { return b.zoomed_out(); }},
    {"Ctrl+F: finds an op", nothing,
     [](Bench& b) {
       b.press(Key::F, {.ctrl = true});
       b.type("QK1");
     },
     [](Bench& b) { return b.has("palette/op/QK1"); }},
    {"Ctrl+P: palette, > for commands", nothing,
     [](Bench& b) {
       b.press(Key::P, {.ctrl = true});
       b.type(">solve");
     },
     [](Bench& b) { return b.has("palette/action/solve"); }},
    {"F5: solves", nothing, [](Bench& b) { b.press(Key::F5); },
     [](Bench& b) { return b.session().live().phase == LiveSolve::Phase::Running; }},
    {"Shift+F5: cancels", [](Bench& b) { b.press(Key::F5); },
     [](Bench& b) {
       b.key(Key::F5, {.shift = true});
       b.wait_for_solver();
     },
     [](Bench& b) { return b.session().live().cancelled; }},
    {"E: why not II-1", nothing, [](Bench& b) { b.press(Key::E); }, [](Bench& b) { return b.session().view().tab == BottomTab::Explain; }},
    {"C: the critical overlay, on and off", nothing,
     [](Bench& b) {
       b.press(Key::C);
       CHECK(b.session().view().critical);
       b.press(Key::C);
     },
     [](Bench& b) { return !b.session().view().critical; }},
    {"P: pins the selected op", [](Bench& b) { b.select("QK1"); }, [](Bench& b) { b.press(Key::P); },
     [](Bench& b) { return !b.content().constraints.empty(); }},
    {"P again: unpins it",
     [](Bench& b) {
       b.select("QK1");
       b.press(Key::P);
     },
     [](Bench& b) { b.press(Key::P); }, [](Bench& b) { return b.content().constraints.empty(); }},
    {"L: slack whiskers, on and off", nothing,
     [](Bench& b) {
       b.press(Key::L);
       CHECK(b.session().view().whiskers);
       b.press(Key::L);
     },
     [](Bench& b) { return !b.session().view().whiskers; }},
    {"U: steady, unrolled, full, and round again", nothing,
     [](Bench& b) {
       b.press(Key::U);
       CHECK(b.session().view().mode == GanttMode::Unrolled);
       b.press(Key::U);
       CHECK(b.session().view().mode == GanttMode::Pipeline);
       b.press(Key::U);
       CHECK(b.session().view().mode == GanttMode::Contended);
       b.press(Key::U);
     },
     [](Bench& b) { return b.session().view().mode == GanttMode::Steady; }},
    {"M: a ruler from the selection", [](Bench& b) { b.select("QK1"); }, [](Bench& b) { b.press(Key::M); },
     [](Bench& b) { return b.chart().range.has_value(); }},
    {"B: the schedule becomes B", with_b, [](Bench& b) { b.press(Key::B); }, [](Bench& b) { return b.content().baseline.has_value(); }},
    {"X: swaps A and B",
     [](Bench& b) {
       with_b(b);
       b.press(Key::B);
     },
     [](Bench& b) {
       b.x = static_cast<float>(*b.content().shown);
       b.press(Key::X);
     },
     [](Bench& b) { return static_cast<float>(*b.content().baseline) == b.x; }},
    {"N: a note", nothing, [](Bench& b) { b.press(Key::N); }, [](Bench& b) { return b.has("note/text"); }},
    {"Ctrl+Z: undo", [](Bench& b) { b.session().apply(ToggleFlag{100}); }, [](Bench& b) { b.press(Key::Z, {.ctrl = true}); },
     [](Bench& b) { return b.content().flags.empty(); }},
    {"Ctrl+Y: redo",
     [](Bench& b) {
       b.session().apply(ToggleFlag{100});
       b.session().apply(Undo{});
     },
     [](Bench& b) { b.press(Key::Y, {.ctrl = true}); }, [](Bench& b) { return b.content().flags.size() == 1; }},
    {"Ctrl+O: open", nothing, [](Bench& b) { b.press(Key::O, {.ctrl = true}); }, [](Bench&) { return in_dialog(); }},
    {"Ctrl+S: save, which asks for a name first", nothing, [](Bench& b) { b.press(Key::S, {.ctrl = true}); },
     [](Bench& b) { return in_dialog() && b.has("write/path"); }},
    {"Ctrl+E: export", nothing, [](Bench& b) { b.press(Key::E, {.ctrl = true}); }, [](Bench& b) { return b.has("export/go"); }},
    {"F1: the keys", nothing, [](Bench& b) { b.press(Key::F1); }, [](Bench& b) { return b.session().view().keys_overlay; }},
    {"?: the keys", nothing, [](Bench& b) { b.press(Key::Slash, {.shift = true}); },
     [](Bench& b) { return b.session().view().keys_overlay; }},
    {"Tab: the next pane", nothing, [](Bench& b) { b.press(Key::Tab); }, [](Bench&) { return focus::pane() == FocusPane::Bottom; }},
    {"Shift+Tab: the previous pane", nothing, [](Bench& b) { b.press(Key::Tab, {.shift = true}); },
     [](Bench&) { return focus::pane() == FocusPane::Left; }},
    {"Esc: clears the selection", [](Bench& b) { b.select("QK1"); }, [](Bench& b) { b.press(Key::Escape); },
     [](Bench& b) { return b.selection().empty(); }},
    {"Esc: closes a popup, and only that",
     [](Bench& b) {
       b.select("QK1");
       b.press(Key::E, {.ctrl = true});
     },
     [](Bench& b) { b.press(Key::Escape); }, [](Bench& b) { return !in_dialog() && b.selected("QK1"); }},
    {"keys are letters while a text field has the focus", [](Bench& b) { b.click("log/filter"); },
     [](Bench& b) {
       b.key(Key::C);
       b.key(Key::U);
     },
     [](Bench& b) { return !b.session().view().critical && b.session().view().mode == GanttMode::Steady; }},
};

void play(const Row& row) {
  INFO(row.name);
  Bench bench;
  bench.session().apply(show_tab(BottomTab::Log));
  bench.frame(3);
  if (row.given) row.given(bench);
  bench.ready();
  row.input(bench);
  CHECK(row.effect(bench));
  feed_mouse_button(0, false);
  CHECK(test::broken_invariants(bench.session()) == std::vector<std::string>());
}

}  // namespace

TEST_CASE("every gesture of the mouse does what the contract says", "[ui]") {
  for (const Row& row : kMouse) play(row);
}

TEST_CASE("every key does what the contract says", "[ui]") {
  for (const Row& row : kKeys) play(row);
}

TEST_CASE("the zoom keys zoom at the mouse over the lower of two charts too", "[ui]") {
  Bench b;
  with_b(b);
  b.session().apply(SetBaseline{0});
  b.settle();
  const probe::Rect rows = b.at("gantt_b/rows");
  b.move_to(b.x = rows.x0 + 150, rows.center_y());
  b.ready();
  b.press(Key::W);
  CHECK(b.zoomed_in());
  CHECK(b.anchored());
}

TEST_CASE("where two charts do not fit, the fallback is said", "[ui]") {
  Bench b;
  with_b(b);
  b.session().apply(SetBaseline{0});
  b.session().apply(use_scale(200, false));
  b.settle();
  if (!b.has("gantt/pair")) CHECK(b.has("gantt/no_room"));
  b.session().apply(use_scale(100, false));
  b.settle();
  CHECK(b.has("gantt/pair"));
  CHECK_FALSE(b.has("gantt/no_room"));
}
