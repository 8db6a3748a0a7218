#include "app/session/view_commands.h"

#include <algorithm>
#include <utility>

namespace heddle::app {

ChangeView show_tab(BottomTab tab) {
  return {[tab](ViewState& view, PaneSizes& panes) {
    view.tab = tab;
    panes.bottom_folded = false;  // what is asked for is seen
  }};
}
ChangeView fold_pane(bool PaneSizes::*folded, bool away) {
  return {[=](ViewState&, PaneSizes& panes) { panes.*folded = away; }};
}
ChangeView show_chart_as(ChartView chart) {
  return {[chart](ViewState& view, PaneSizes&) { view.chart_view = chart; }};
}
ChangeView show_highlight(Highlight highlight) {
  return {[highlight = std::move(highlight)](ViewState& view, PaneSizes&) {
    view.highlight = highlight;
    view.reveal = !highlight.ops.empty();
  }};
}
ChangeView end_highlight() {
  return {[](ViewState& view, PaneSizes&) { view.highlight = {}; }};
}
ChangeView show_editor(std::optional<SourceOf> of) {
  return {[of](ViewState& view, PaneSizes&) { view.editor = of; }};
}
ChangeView toggle_critical() {
  return {[](ViewState& view, PaneSizes&) { view.critical = !view.critical; }};
}
ChangeView toggle_tensor() {
  return {[](ViewState& view, PaneSizes&) { view.tensor = !view.tensor; }};
}
ChangeView toggle_queues() {
  return {[](ViewState& view, PaneSizes&) { view.queues = !view.queues; }};
}
ChangeView toggle_barriers() {
  return {[](ViewState& view, PaneSizes&) { view.barriers = !view.barriers; }};
}
ChangeView toggle_keys() {
  return {[](ViewState& view, PaneSizes&) { view.keys_overlay = !view.keys_overlay; }};
}
ChangeView show_open_dialog() {
  return {[](ViewState& view, PaneSizes&) { view.open_dialog = true; }};
}
ChangeView toggle_legend() {
  return {[](ViewState& view, PaneSizes&) { view.legend = !view.legend; }};
}
ChangeView zoom_to_selection() {
  return {[](ViewState& view, PaneSizes&) { view.zoom_to_selection = true; }};
}
ChangeView copy_text(std::string text) {
  return {[text = std::move(text)](ViewState& view, PaneSizes&) { view.clipboard = text; }};
}
ChangeView show_notice(std::string sentence) {
  return {[sentence = std::move(sentence)](ViewState& view, PaneSizes&) { view.notice = sentence; }};
}
ChangeView dismiss_notice() {
  return {[](ViewState& view, PaneSizes&) { view.notice.clear(); }};
}

ChangeSettings use_theme(ThemeName theme, bool keep) {
  return {[theme](Settings& settings) { settings.theme = theme; }, keep};
}
ChangeSettings use_scale(int percent, bool keep) {
  return {[percent](Settings& settings) { settings.scale_percent = std::clamp(percent, 50, 300); }, keep};
}
ChangeSettings use_keys(std::string action, std::optional<std::string> keys) {
  return {[action = std::move(action), keys = std::move(keys)](Settings& settings) {
    if (keys)
      settings.keys[action] = *keys;
    else
      settings.keys.erase(action);
  }};
}
ChangeSettings use_built_in_keys() {
  return {[](Settings& settings) { settings.keys.clear(); }};
}
ChangeSettings scroll_with_wheel(bool scrolls) {
  return {[scrolls](Settings& settings) { settings.wheel_scrolls = scrolls; }};
}
ChangeSettings limit_searches(std::int64_t seconds) {
  return {[seconds](Settings& settings) { settings.search_seconds = std::clamp(seconds, kLeastSearchSeconds, kMostSearchSeconds); }};
}
ChangeSettings run_on(std::string host) {
  return {[host = std::move(host)](Settings& settings) { settings.run_host = host; }};
}
ChangeSettings remember_choice(std::string what) {
  return {[what = std::move(what)](Settings& settings) { remember_used(settings, what); }};
}

}  // namespace heddle::app
