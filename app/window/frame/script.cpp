#include "app/window/frame/script.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include "app/platform/imgui_compat.h"
#include "app/session/launch_state.h"
#include "app/session/prediction_state.h"
#include "app/session/triton_state.h"
#include "app/session/truth_state.h"
#include "app/window/kit/probe.h"
#include "app/window/parts/tabs.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/layout/layout_state.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

void frames(AppWindow& window, int count) {
  for (int i = 0; i < count; ++i) window.step();
}

/// The registry swaps at the beginning of a frame, so there are two of them.
Result<probe::Rect> find(AppWindow& window, const std::string& name) {
  frames(window, 2);
  const auto found = probe::last_frame().find(name);
  if (found != probe::last_frame().end()) return found->second;
  // A part of a name will do where only one thing is called so.
  const probe::Rect* only = nullptr;
  for (const auto& [known, rect] : probe::last_frame())
    if (known.find(name) != std::string::npos) {
      if (only)
        return Error::input(fmt::format("more than one thing on the screen is called {}", name), "the step \"list\" prints all names");
      only = &rect;
    }
  if (only) return *only;
  return Error::input(fmt::format("nothing on the screen is called {}", name), "the step \"list\" prints all names");
}

void press(AppWindow& window, int button) {
  feed_mouse_button(button, true);
  frames(window, 2);
  feed_mouse_button(button, false);
  frames(window, 2);
}

Result<Ok> point_at(AppWindow& window, const std::string& name) {
  const auto rect = find(window, name);
  if (!rect) return rect.error();
  feed_mouse_position(rect->center_x(), rect->center_y());
  frames(window, 2);
  return Ok{};
}

Result<Ok> drag(AppWindow& window, const std::string& what) {
  const std::size_t second = what.rfind(':');
  const std::size_t first = second == std::string::npos ? second : what.rfind(':', second - 1);
  float dx = 0, dy = 0;
  if (first == std::string::npos || std::sscanf(what.c_str() + first, ":%f:%f", &dx, &dy) != 2)
    return Error::input("a drag is drag:NAME:DX:DY, in pixels");
  const std::string name = what.substr(0, first);
  const auto rect = find(window, name);
  if (!rect) return rect.error();
  if (const auto there = point_at(window, name); !there) return there;
  feed_mouse_button(0, true);
  frames(window, 2);
  constexpr int kSteps = 8;
  for (int i = 1; i <= kSteps; ++i) {
    const float share = static_cast<float>(i) / kSteps;
    feed_mouse_position(rect->center_x() + dx * share, rect->center_y() + dy * share);
    frames(window, 1);
  }
  return Ok{};
}

Result<Ok> run_action(AppWindow& window, const std::string& id) {
  const Action* action = find_action(id);
  if (!action) {
    std::string all;
    for (const Action& a : actions()) all += std::string(all.empty() ? "" : ", ") + a.id;
    return Error::input("there is no action " + id, "there are " + all);
  }
  if (const std::string reason = why_not(*action, window.session()); !reason.empty())
    return Error::input(fmt::format("{} cannot be done now: {}", id, reason));
  perform(*action, window.session(), window.ui());
  frames(window, 2);
  return Ok{};
}

Result<Ok> run_one(AppWindow& window, const std::string& step) {
  const auto rest = [&](std::string_view prefix) -> std::optional<std::string> {
    return step.starts_with(prefix) ? std::optional(step.substr(prefix.size())) : std::nullopt;
  };
  if (const auto name = rest("hover:")) return point_at(window, *name);
  for (const auto& [prefix, mouse_button] : {std::pair{"click:", 0}, {"right:", 1}})
    if (const auto name = rest(prefix)) {
      if (const Tab* tab = name->starts_with("tab/") ? find_tab(std::string_view(*name).substr(4)) : nullptr;
          tab && !probe::last_frame().contains(*name)) {
        // It is in another group: that comes first.
        if (const auto group = point_at(window, std::string("tab/group/") + id_of(tab->group)); !group) return group;
        press(window, 0);
      }
      const auto there = point_at(window, *name);
      if (there) press(window, mouse_button);
      return there;
    }
  if (const auto what = rest("drag:")) return drag(window, *what);
  if (const auto text = rest("type:")) {
    feed_text(text->c_str());
    frames(window, 2);
    return Ok{};
  }
  if (step == "drop") {
    feed_mouse_button(0, false);
    frames(window, 2);
    return Ok{};
  }
  if (step == "list") {
    frames(window, 2);
    for (const auto& [name, rect] : probe::last_frame())
      fmt::print("{} {:.0f},{:.0f} {:.0f}x{:.0f}\n", printable(name), rect.x0, rect.y0, rect.x1 - rect.x0, rect.y1 - rect.y0);
    return Ok{};
  }
  return run_action(window, step);
}

}  // namespace

void settle(AppWindow& window) {
  window.step();  // some work begins by itself
  const auto layouts = [&] { return window.session().view().tab == BottomTab::Layout && window.ui().of<LayoutTabState>().working(); };
  while (window.session().live().active() || window.session().asking() || window.session().building() ||
         window.session().truth().active() || window.session().predictions().active() || window.session().triton().active() ||
         window.session().launch().active() || layouts()) {
    window.step();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  frames(window, 40);
}

Result<Ok> run_step(AppWindow& window, const std::string& step) {
  const bool at_once = step.ends_with('&');
  auto done = run_one(window, at_once ? step.substr(0, step.size() - 1) : step);
  if (done && !at_once) settle(window);
  return done;
}

}  // namespace heddle::app
