// What only changes how things are shown: two types of command, one for the view, one for settings, and the functions that make them. A
// change of the view that does more than that (asks something, has a line of the command line) is a command of its own, in commands.h.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/session/settings.h"
#include "app/session/view_state.h"

namespace heddle::app {

struct ChangeView {
  std::function<void(ViewState&, PaneSizes&)> change;
};

ChangeView show_tab(BottomTab tab);
/// `folded` is one of the members of that name: &PaneSizes::left_folded.
ChangeView fold_pane(bool PaneSizes::*folded, bool away);
ChangeView show_chart_as(ChartView view);
/// What it points at comes into view.
ChangeView show_highlight(Highlight highlight);
ChangeView end_highlight();
ChangeView show_editor(std::optional<SourceOf> of);  ///< none: it goes away
ChangeView toggle_critical();                        ///< the overlay that shows what limits II
ChangeView toggle_barriers();                        ///< lanes of barriers and phases
ChangeView toggle_tensor();                          ///< lanes of tensor memory
ChangeView toggle_queues();                          ///< lanes of rings as queues
ChangeView toggle_keys();                            ///< the overlay that lists all keys
ChangeView toggle_legend();                          ///< what the marks of the chart mean, over it
ChangeView show_open_dialog();
ChangeView zoom_to_selection();          ///< chart: centre the selection; again: fit
ChangeView copy_text(std::string text);  ///< to the clipboard
ChangeView show_notice(std::string sentence);
ChangeView dismiss_notice();

struct ChangeSettings {
  std::function<void(Settings&)> change;
  bool keep = true;  ///< false: for this run only
};

ChangeSettings use_theme(ThemeName theme, bool keep = true);
ChangeSettings use_scale(int percent, bool keep = true);  ///< 50 .. 300
/// `action` is its id; `keys` as "Ctrl+K F7"; empty text: no key; none: the built-in ones again.
ChangeSettings use_keys(std::string action, std::optional<std::string> keys);
ChangeSettings use_built_in_keys();
ChangeSettings scroll_with_wheel(bool scrolls);       ///< plain wheel scrolls the chart's rows instead of zooming
ChangeSettings limit_searches(std::int64_t seconds);  ///< then searches and questions end with what they have
ChangeSettings run_on(std::string host);              ///< kernels are run there; empty: here
ChangeSettings remember_choice(std::string what);     ///< made in the palette: it comes first next time

}  // namespace heddle::app
