// The table of actions.
#include "app/ui/actions.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace heddle::app {
namespace {

std::string needs_kernel(const Session& s) { return s.content().kernel ? "" : "nothing is open"; }
std::string needs_schedule(const Session& s) { return s.content().entry() ? "" : "there is no schedule yet"; }
std::string needs_selection(const Session& s) { return s.selection().empty() ? "no op is selected" : ""; }
std::string solve_reason(const Session& s) { return s.why_no_solve(); }
std::string cancel_reason(const Session& s) {
  return s.live().phase == LiveSolve::Phase::Running ? "" : "nothing is being solved";
}
std::string undo_reason(const Session& s) { return s.next_undo() ? "" : "nothing to undo"; }
std::string redo_reason(const Session& s) { return s.next_redo() ? "" : "nothing to redo"; }

template <GanttMode mode>
bool in_mode(const Session& s) {
  return s.view().mode == mode;
}
template <ThemeName name>
bool in_theme(const Session& s) {
  return s.settings().theme == name;
}

Command next_mode(const Session& s) {
  switch (s.view().mode) {
    case GanttMode::Steady: return SetMode{GanttMode::Unrolled};
    case GanttMode::Unrolled: return SetMode{GanttMode::Pipeline};
    case GanttMode::Pipeline: break;
  }
  return SetMode{GanttMode::Steady};
}

template <class C>
Command make(const Session&) {
  return C{};
}
template <GanttMode mode>
Command make_mode(const Session&) {
  return SetMode{mode};
}
template <ThemeName name>
Command make_theme(const Session&) {
  return SetTheme{name};
}
template <BottomTab tab>
Command make_tab(const Session&) {
  return ShowTab{tab};
}
template <int step>
Command make_scale(const Session& s) {
  return SetScale{step == 0 ? 100 : s.settings().scale_percent + step};
}
template <int step>
Command make_iterations(const Session& s) {
  return SetIterations{s.iterations() + step};
}
Command remove_shown(const Session& s) { return RemoveSchedule{s.content().shown.value_or(0)}; }

const std::array kActions{
    Action{"open", "File", "Open ...", "Ctrl+O", {Key::O, true}, false, make<ShowOpenDialog>},
    Action{"save",
           "File",
           "Save schedule ...",
           "Ctrl+S",
           {Key::S, true},
           false,
           nullptr,
           needs_schedule,
           nullptr,
           Prompt::SavePath},
    Action{"export_svg",
           "File",
           "Export chart as SVG ...",
           "Ctrl+E",
           {Key::E, true},
           false,
           nullptr,
           needs_schedule,
           nullptr,
           Prompt::SvgPath},
    Action{"close", "File", "Close", "", {}, false, make<CloseDocument>, needs_kernel, nullptr, Prompt::Nothing, true},
    Action{"quit", "File", "Quit", "Ctrl+Q", {Key::Q, true}, false, make<Quit>},
    Action{"undo", "Edit", "Undo", "Ctrl+Z", {Key::Z, true}, false, make<Undo>, undo_reason},
    Action{"redo", "Edit", "Redo", "Ctrl+Y", {Key::Y, true}, false, make<Redo>, redo_reason},
    Action{"find",
           "Edit",
           "Find op or command",
           "Ctrl+P",
           {Key::P, true},
           false,
           make<FocusFind>,
           nullptr,
           nullptr,
           Prompt::Nothing,
           true},
    Action{"find_op", "", "Find op", "Ctrl+F", {Key::F, true}, false, make<FocusFind>},
    Action{"clear_selection", "Edit", "Clear selection", "Esc", {}, true, make<ClearSelection>, needs_selection},
    Action{"remove_schedule", "Edit", "Remove schedule from the list", "", {}, false, remove_shown, needs_schedule},
    Action{"steady",
           "View",
           "Steady state",
           "",
           {},
           false,
           make_mode<GanttMode::Steady>,
           nullptr,
           in_mode<GanttMode::Steady>},
    Action{"unrolled",
           "View",
           "Unrolled",
           "",
           {},
           false,
           make_mode<GanttMode::Unrolled>,
           nullptr,
           in_mode<GanttMode::Unrolled>},
    Action{"pipeline",
           "View",
           "Whole pipeline",
           "",
           {},
           false,
           make_mode<GanttMode::Pipeline>,
           nullptr,
           in_mode<GanttMode::Pipeline>},
    Action{"next_mode", "View", "Next of these", "U", {Key::U}, true, next_mode},
    Action{"more_iterations", "View", "More iterations", "", {}, false, make_iterations<1>},
    Action{"fewer_iterations", "View", "Fewer iterations", "", {}, false, make_iterations<-1>},
    Action{"zoom_selection",
           "View",
           "Centre selection, then fit",
           "F",
           {Key::F},
           true,
           make<ZoomToSelection>,
           needs_schedule,
           nullptr,
           Prompt::Nothing,
           true},
    Action{"fit", "View", "Fit all", "Home", {Key::Home}, true, make<FitAll>, needs_schedule},
    Action{"dark",
           "View",
           "Dark theme",
           "",
           {},
           false,
           make_theme<ThemeName::Dark>,
           nullptr,
           in_theme<ThemeName::Dark>,
           Prompt::Nothing,
           true},
    Action{"light",
           "View",
           "Light theme",
           "",
           {},
           false,
           make_theme<ThemeName::Light>,
           nullptr,
           in_theme<ThemeName::Light>},
    Action{"high_contrast",
           "View",
           "High contrast",
           "",
           {},
           false,
           make_theme<ThemeName::HighContrast>,
           nullptr,
           in_theme<ThemeName::HighContrast>},
    Action{"larger",
           "View",
           "Larger",
           "Ctrl+=",
           {Key::Equal, true},
           false,
           make_scale<10>,
           nullptr,
           nullptr,
           Prompt::Nothing,
           true},
    Action{"smaller", "View", "Smaller", "Ctrl+-", {Key::Minus, true}, false, make_scale<-10>},
    Action{"normal_size", "View", "Normal size", "Ctrl+0", {Key::Num0, true}, false, make_scale<0>},
    Action{"solve", "Solve", "Solve", "F5", {Key::F5}, false, make<StartSolve>, solve_reason},
    Action{"cancel", "Solve", "Cancel", "Shift+F5", {Key::F5, false, true}, false, make<CancelSolve>, cancel_reason},
    Action{"explain",
           "Solve",
           "Why is II not smaller?",
           "E",
           {Key::E},
           false,
           make_tab<BottomTab::Explain>,
           nullptr,
           nullptr,
           Prompt::Nothing,
           true},
    Action{"log", "Solve", "Log", "", {}, false, make_tab<BottomTab::Log>},
    Action{
        "ops", "View", "Table of ops", "", {}, false, make_tab<BottomTab::Ops>, nullptr, nullptr, Prompt::Nothing, true},
    Action{"slack", "View", "Slack of every op", "", {}, false, make_tab<BottomTab::Slack>},
    Action{"alternatives", "View", "Alternatives", "", {}, false, make_tab<BottomTab::Alternatives>},
    Action{"what_if", "View", "What if", "", {}, false, make_tab<BottomTab::WhatIf>},
    Action{"pareto", "View", "Pareto front", "", {}, false, make_tab<BottomTab::Pareto>},
    Action{"sensitivity", "View", "Sensitivity", "", {}, false, make_tab<BottomTab::Sensitivity>},
    Action{"compare", "View", "Compare", "", {}, false, make_tab<BottomTab::Compare>},
    Action{"graph", "View", "Dataflow graph", "", {}, false, make_tab<BottomTab::Graph>},
    Action{"pipeline_text", "View", "Pipeline as pseudocode", "", {}, false, make_tab<BottomTab::Pipeline>},
    Action{"units", "View", "Units and memory", "", {}, false, make_tab<BottomTab::Units>},
    Action{"constraints", "View", "Constraints", "", {}, false, make_tab<BottomTab::Constraints>},
    Action{"keys", "Help", "Keys and mouse", "F1", {Key::F1}, false, make<ToggleKeys>},
    Action{"keys_too", "", "Keys and mouse", "?", {Key::Slash, false, true}, false, make<ToggleKeys>},
};

}  // namespace

std::span<const Action> actions() { return kActions; }

const Action* find_action(std::string_view id) {
  for (const Action& action : kActions)
    if (id == action.id) return &action;
  return nullptr;
}

std::string why_not(const Action& action, const Session& session) {
  return action.why_not ? action.why_not(session) : std::string();
}

const Action* pressed_action(const Session& session) {
  const ImGuiIO& io = ImGui::GetIO();
  for (const Action& action : kActions) {
    if (action.by_chart || action.chord.key == Key::Count) continue;
    if (action.chord.ctrl != io.KeyCtrl || action.chord.shift != io.KeyShift || io.KeyAlt) continue;
    const bool function_key = action.chord.key == Key::F1 || action.chord.key == Key::F5;
    if (io.WantTextInput && !action.chord.ctrl && !function_key) continue;
    // Text fields have their own undo and redo.
    if (io.WantTextInput && (action.chord.key == Key::Z || action.chord.key == Key::Y)) continue;
    if (key_pressed(action.chord.key) && why_not(action, session).empty()) return &action;
  }
  return nullptr;
}

}  // namespace heddle::app
