// The table of actions.
#include "app/window/kit/actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "app/session/command_line.h"
#include "app/session/dump_source.h"
#include "app/session/kernel_state.h"
#include "app/session/proposal.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/session/run_state.h"
#include "app/session/sweep_state.h"
#include "app/session/truth_state.h"
#include "app/window/chart/why_here.h"
#include "app/window/frame/palette.h"
#include "app/window/frame/panels.h"
#include "app/window/frame/project_dialogs.h"
#include "app/window/parts/notes.h"
#include "app/window/parts/tabs.h"
#include "app/window/tabs/compare/compare_state.h"
#include "app/window/tabs/cuda/cuda_state.h"
#include "app/window/tabs/cuda/cuda_views.h"
#include "app/window/tabs/pareto/pareto_model.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

std::string needs_kernel(const Session& s) { return s.content().kernel ? "" : "nothing is open"; }
std::string needs_schedule(const Session& s) { return s.content().entry() ? "" : "there is no schedule yet"; }
std::string needs_selection(const Session& s) { return s.selection().empty() ? "no op is selected" : ""; }
std::string solve_reason(const Session& s) { return s.why_no_solve(); }
std::string proof_reason(const Session& s) { return s.why_no_proof(); }
std::string cancel_reason(const Session& s) { return s.live().phase == LiveSolve::Phase::Running ? "" : "nothing is being solved"; }
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
Command robust_solve(const Session&) { return StartSolve{true}; }
template <ChangeView (*change)()>
Command make(const Session&) {
  return change();
}
template <GanttMode mode>
Command make_mode(const Session&) {
  return SetMode{mode};
}
template <ThemeName name>
Command make_theme(const Session&) {
  return use_theme(name);
}
template <BottomTab tab>
Command make_tab(const Session&) {
  return show_tab(tab);
}
template <int step>
Command make_scale(const Session& s) {
  return use_scale(step == 0 ? 100 : s.settings().scale_percent + step);
}
template <int step>
Command make_iterations(const Session& s) {
  return SetIterations{s.iterations() + step};
}
Command pin_selection(const Session& s) { return toggled_pins(*s.content().problem, s.content().constraints, s.selection().ops); }
std::string pin_reason(const Session& s) {
  const std::string missing = needs_schedule(s);
  return missing.empty() ? needs_selection(s) : missing;
}
Command why_selected_here(const Session& s) {
  const Content& c = s.content();
  return show_highlight(why_here(*c.problem, c.entry()->schedule, c.constraints, s.selection().primary()));
}
std::string needs_highlight(const Session& s) { return s.view().highlight.why.empty() ? "nothing is highlighted" : ""; }
template <Topic topic>
Command ask(const Session&) {
  return Ask{topic, {}};
}
template <Topic topic>
Command cancel_ask(const Session&) {
  return CancelAsk{topic};
}
template <Topic topic>
std::string no_question(const Session& s) {
  return s.why_no_question(topic);
}
template <Topic topic>
std::string not_asking(const Session& s) {
  return s.question(topic).active() ? "" : "it is not being asked";
}
/// Against the resources of the last sweep.
Command make_sweep(const Session& s) {
  const QuestionState& last = s.question(Topic::Pareto);
  return Ask{Topic::Pareto, last.phase == QuestionState::Phase::None ? AskOptions{} : last.options};
}
template <int direction>
Command make_front(const Session& s) {
  return next_point(s, direction).value_or(show_tab(BottomTab::Pareto));
}
template <int direction>
std::string front_reason(const Session& s) {
  return next_point(s, direction) ? "" : s.answered(Topic::Pareto) ? "there is no further point" : "sweep the front first (Pareto)";
}
std::string changes_reason(const Session& s) { return s.content().changes.empty() ? "no number is changed" : ""; }
Command take_back_change(const Session& s) { return RemoveChange{s.content().changes.size() - 1, false}; }

std::string needs_dump(const Session& s) { return s.content().dump ? "" : "no compiler's dump is open"; }
std::string needs_emitter_rules(const Session& s) {
  if (!s.content().dump) return needs_dump(s);
  if (s.content().dump->reading != dump::Reading::Full) return "issue slots know no warp groups: choose the full reading";
  return s.open_emitter_rules().empty() ? "it demands nothing that is not in force" : "";
}
std::string needs_loops(const Session& s) {
  if (!s.content().dump) return needs_dump(s);
  return s.content().dump->dump().loops.size() > 1 ? "" : "the dump has only this loop";
}
Command other_reading(const Session& s) {
  return ShowLoop{{}, s.content().dump->reading == dump::Reading::Full ? dump::Reading::IssueSlots : dump::Reading::Full};
}
Command next_loop(const Session& s) {
  const DumpSource& source = *s.content().dump;
  const auto& loops = source.dump().loops;
  return ShowLoop{loops[(source.loop + 1) % loops.size()].id, {}};
}

Command remove_shown(const Session& s) { return RemoveSchedule{s.content().shown.value_or(0)}; }

std::string needs_two(const Session& s) { return s.content().schedules.size() > 1 ? "" : "there is no other schedule to compare with"; }
std::string needs_b(const Session& s) { return s.content().baseline_entry() ? "" : "there is no B yet: press B on a schedule"; }
std::string needs_b_and_op(const Session& s) { return needs_b(s).empty() ? needs_selection(s) : needs_b(s); }
std::string needs_divergence(const Session& s) {
  if (!needs_b(s).empty()) return needs_b(s);
  const Content& c = s.content();
  return compare_schedules(*c.problem, c.entry()->schedule, c.baseline_entry()->schedule).same_program() ? "A and B are the same program"
                                                                                                         : "";
}
std::string needs_violation(const Session& s) {
  if (!s.content().entry()) return "there is no schedule yet";
  return s.content().entry()->verdict.valid() ? "the shown schedule breaks no rule" : "";
}
Command shown_as_b(const Session& s) { return SetBaseline{s.content().shown}; }
template <ChartView view>
Command make_chart(const Session&) {
  return show_chart_as(view);
}
template <ChartView view>
bool in_chart_view(const Session& s) {
  return s.content().baseline && s.view().chart_view == view;
}
Command next_chart(const Session& s) { return show_chart_as(static_cast<ChartView>((static_cast<int>(s.view().chart_view) + 1) % 3)); }
template <Alignment::At at>
Command make_align(const Session& s) {
  return SetAlignment{{at, at == Alignment::At::Op ? s.selection().primary() : OpId{}}};
}
template <Alignment::At at>
bool in_alignment(const Session& s) {
  return s.view().alignment.at == at;
}
std::string needs_problem(const Session& s) { return s.content().problem ? "" : "no kernel is open on a machine"; }

template <PaletteState::Scope scope>
void show_palette(const Session&, UiState& ui) {
  ui.of<PaletteState>().show(scope);
}
template <int step>
void find_step(const Session& s, UiState& ui) {
  if (ui.of<PaletteState>().found.empty())
    ui.of<PaletteState>().show(PaletteState::Scope::Ops);
  else
    find_again(s, ui, step);
}
template <int step>
void move_focus(const Session&, UiState& ui) {
  focus::move(step, ui.on_screen);
}
template <int step>
Command step_tab(const Session& s) {
  const auto all = tabs();
  const auto here = std::find_if(all.begin(), all.end(), [&](const Tab& t) { return t.tab == s.view().tab; });
  const std::size_t count = all.size(), at = static_cast<std::size_t>(here - all.begin());
  return show_tab(all[(at + count + static_cast<std::size_t>(step + static_cast<int>(count))) % count].tab);
}
template <bool Layout::*folded>
bool shown(const Session& s) {
  return !(s.settings().layout.*folded);
}
template <bool Layout::*folded>
Command fold(const Session& s) {
  return fold_pane(folded, shown<folded>(s));
}
Command flip_wheel(const Session& s) { return scroll_with_wheel(!s.settings().wheel_scrolls); }

std::string needs_code_generator(const Session& s) { return s.why_no_kernel(); }
std::string needs_compiler(const Session& s) { return s.why_no_build(); }
template <KernelStep step>
Command cancel_kernel(const Session&) {
  return CancelKernel{step};
}
template <KernelStep step>
std::string not_at_work(const Session& s) {
  const KernelState& k = s.kernel();
  const bool active = step == KernelStep::Text    ? k.text().active()
                      : step == KernelStep::Check ? k.checked().active()
                      : step == KernelStep::Data  ? k.verified().active()
                                                  : k.built().active();
  return active || k.waits(step) ? "" : "it is not being done";
}
std::string needs_kernel_text(const Session& s) {
  const std::string missing = s.why_no_kernel();
  if (!missing.empty()) return missing;
  const auto& text = s.kernel().text();
  if (!KernelState::is_current(text, KernelState::subject_of(s.content()))) return "there is no CUDA text of the shown schedule yet";
  return text.answer()->emission ? "" : "the schedule cannot be written as a kernel";
}
Command verify_with_data(const Session&) { return CheckKernel{kUsualDataInterleavings, true}; }
/// Why this one of the options cannot be turned; empty as well where nothing is known of it.
std::string offer(const Session& s, std::string KernelOffers::*which) {
  if (!s.content().kernel) return "nothing is open";
  const KernelText* text = s.kernel_text_of_problem();
  return text ? text->offers.*which : std::string();
}
bool in_clusters(const Session& s) { return s.content().kernel_options.build.cluster == 2; }
bool with_turns(const Session& s) { return s.content().kernel_options.build.turns; }
Command flip_cluster(const Session& s) {
  KernelOptions options = s.content().kernel_options;
  options.build.cluster = in_clusters(s) ? 1 : 2;
  return SetKernelOptions{options};
}
Command flip_turns(const Session& s) {
  KernelOptions options = s.content().kernel_options;
  options.build.turns = !options.build.turns;
  return SetKernelOptions{options};
}
std::string no_cluster(const Session& s) { return s.content().kernel && in_clusters(s) ? "" : offer(s, &KernelOffers::cluster); }
std::string no_turns(const Session& s) { return s.content().kernel && !with_turns(s) ? "" : offer(s, &KernelOffers::turns); }
template <codegen::Recording records>
Command make_records(const Session& s) {
  KernelOptions options = s.content().kernel_options;
  options.records = records;
  return SetKernelOptions{options};
}
template <codegen::Recording records>
bool with_records(const Session& s) {
  return s.content().kernel_options.records == records;
}
template <codegen::Recording records>
std::string no_records(const Session& s) {
  if (s.content().kernel && with_records<records>(s)) return "";
  return records == codegen::Recording::None
             ? needs_kernel(s)
             : offer(s, records == codegen::Recording::Loop ? &KernelOffers::loop_records : &KernelOffers::op_records);
}
void show_steps(const Session&, UiState& ui) {
  ui.of<CudaTabState>().steps = !ui.of<CudaTabState>().steps;
  ui.commands.push(show_tab(BottomTab::Cuda));
}
template <int step>
void next_source(const Session& s, UiState& ui) {
  step_source(s, ui, step);
}
std::string needs_gpu(const Session& s) { return s.why_no_run(); }
template <bool profile>
Command make_run(const Session&) {
  return RunKernel{profile};
}
std::string needs_measurement(const Session& s) { return s.why_no_measured(); }
std::string needs_residuals(const Session& s) { return s.why_no_adoption(); }
std::string needs_run(const Session& s) { return s.runs().run().active() ? "" : "no kernel is being run"; }

std::string no_tune(const Session& s) { return s.why_no_tune(); }
std::string no_more(const Session& s) { return s.why_no_more(); }
template <bool more>
Command make_tune(const Session&) {
  return StartTune{TuneOptions{}, more};
}
std::string needs_tuning(const Session& s) { return s.sweep().running() ? "" : "nothing is being tuned"; }
std::string needs_sweep(const Session& s) { return s.sweep().file() ? "" : "no sweep is open"; }
std::string needs_best(const Session& s) {
  if (!needs_sweep(s).empty()) return needs_sweep(s);
  return s.sweep().table().best ? "" : "no point of the sweep has a value yet";
}
Command show_best(const Session& s) { return OpenPoint{*s.sweep().table().best, false}; }

std::string no_validation(const Session& s) { return s.content().kernel ? s.why_no_validation() : "open a kernel first"; }
std::string needs_validation(const Session& s) { return s.truth().task().active() ? "" : "nothing is being validated"; }
std::string no_published(const Session& s) {
  const TruthState& truth = s.truth();
  if (!truth.answer()) return "nothing has been validated";
  if (!truth.chosen()) return "no measurement is chosen";
  return truth.answer()->models[*truth.chosen()] ? "" : "nothing here stands for the chosen measurement";
}
Command open_published(const Session& s) { return OpenPublished{s.truth().chosen().value_or(0)}; }

std::string save_reason(const Session& s) { return s.why_no_save(); }
std::string needs_constraints(const Session& s) {
  return s.content().constraints.empty() && s.content().changes.empty() ? "there are no constraints" : "";
}
std::string needs_flags(const Session& s) { return s.content().flags.empty() ? "there are no flags" : ""; }

void save_project(const Session& s, UiState& ui) {
  if (s.project_file().empty())
    perform(*find_action("save_as"), s, ui);
  else
    ui.commands.push(SaveProject{});
}
template <bool board>
void show_compare(const Session&, UiState& ui) {
  ui.of<CompareTabState>().board = board;
  ui.commands.push(show_tab(BottomTab::Compare));
}
void measure_all(const Session& s, UiState& ui) {
  show_compare<true>(s, ui);
  ui.commands.push(Ask{Topic::Compare, {}});
}
void open_export(const Session&, UiState& ui) { ui.of<ExportDialogState>().wanted = true; }
void add_note(const Session& s, UiState& ui) { begin_note(s, ui); }
void share(const Session& s, UiState& ui) {
  if (s.project_file().empty()) {
    ui.path_prompt.ask = Prompt::SharePath;
    ui.path_prompt.just_opened = true;
  } else {
    share_as(ui, s.project_file());
  }
}
/// What is shown; without a schedule, how to get one.
std::string shown_line(const Session& s) { return s.content().entry() ? shown_as_command(s) : command_line(s, "solve"); }
Command copy_shown(const Session& s) { return copy_text(shown_line(s)); }
std::string no_shown_line(const Session& s) { return shown_line(s).empty() ? why_no_line(s) : ""; }
std::string no_last_line(const Session& s) { return s.last_line().empty() ? why_no_line(s) : ""; }

constexpr const char* kFile = "File";
constexpr const char* kEdit = "Edit";
constexpr const char* kView = "View";
constexpr const char* kSolve = "Solve";
constexpr const char* kCompare = "Compare";
constexpr const char* kKernel = "Kernel";
constexpr const char* kHelp = "Help";
constexpr const char* kNowhere = "";  // in no menu; keys and the palette still reach it

constexpr const char* kMenus[] = {kFile, kEdit, kView, kSolve, kCompare, kKernel, kHelp};

// One line each: {id, menu, label, keys, command}, then what more there is to say. Keep a menu's lines together.
const Action kActions[] = {
    Action{"open", kFile, "Open ...", "Ctrl+O", make<show_open_dialog>},
    Action{"open_measurement", kFile, "Open measurement ...", "", make<show_open_dialog>},
    Action{"open_sweep", kFile, "Open sweep ...", "", make<show_open_dialog>},
    Action{"close_sweep", kFile, "Close sweep", "", make<CloseSweep>}.needs(needs_sweep),
    Action{"save", kFile, "Save project", "Ctrl+S"}.does(save_project).needs(save_reason).below_line(),
    Action{"save_as", kFile, "Save project as ...", "Ctrl+Shift+S"}.asks(Prompt::ProjectPath).needs(save_reason),
    Action{"save_schedule", kFile, "Save schedule ...", ""}.asks(Prompt::SavePath).needs(needs_schedule),
    Action{"save_constraints", kFile, "Save constraints ...", ""}.asks(Prompt::ConstraintsPath).needs(needs_constraints),
    Action{"export", kFile, "Export ...", "Ctrl+E"}.does(open_export).needs(needs_schedule).below_line(),
    Action{"share", kFile, "Share: project, picture, trace and command ...", ""}.does(share).needs(needs_schedule),
    Action{"close", kFile, "Close", "", make<CloseDocument>}.needs(needs_kernel).below_line(),
    Action{"quit", kFile, "Quit", "Ctrl+Q", make<Quit>},

    Action{"undo", kEdit, "Undo", "Ctrl+Z", make<Undo>}.needs(undo_reason),
    Action{"redo", kEdit, "Redo", "Ctrl+Y Ctrl+Shift+Z", make<Redo>}.needs(redo_reason),
    Action{"find", kEdit, "Find anything", "Ctrl+P", make<focus_find>}.below_line(),
    Action{"find_command", kEdit, "Find command", "Ctrl+Shift+P"}.does(show_palette<PaletteState::Scope::Commands>),
    Action{"find_op", kEdit, "Find op", "Ctrl+F"}.does(show_palette<PaletteState::Scope::Ops>).needs(needs_problem),
    Action{"find_next", kEdit, "Next match", "F3"}.does(find_step<1>).needs(needs_problem),
    Action{"find_previous", kEdit, "Previous match", "Shift+F3"}.does(find_step<-1>).needs(needs_problem),
    Action{"copy_command", kEdit, "Copy as command: what was done last", "Ctrl+Shift+C", make<CopyLine>}.needs(no_last_line).below_line(),
    Action{"copy_shown", kEdit, "Copy as command: what is shown", "", copy_shown}.needs(no_shown_line),
    Action{"note", kEdit, "Note at the selected op or cycle ...", "N"}.does(add_note).needs(save_reason),
    Action{"clear_flags", kEdit, "Remove flags", "", make<ClearFlags>}.needs(needs_flags),
    Action{"clear_selection", kEdit, "Clear selection", "Esc", make<ClearSelection>}.in_chart().needs(needs_selection),
    Action{"pin", kEdit, "Pin or unpin selected ops", "P", pin_selection}.needs(pin_reason),
    Action{"take_back_change", kEdit, "Take back the last change of a number", "", take_back_change}.needs(changes_reason),
    Action{"remove_schedule", kEdit, "Remove schedule from the list", "", remove_shown}.needs(needs_schedule),

    Action{"steady", kView, "Steady state", "", make_mode<GanttMode::Steady>}.ticked(in_mode<GanttMode::Steady>),
    Action{"unrolled", kView, "Unrolled", "", make_mode<GanttMode::Unrolled>}.ticked(in_mode<GanttMode::Unrolled>),
    Action{"pipeline", kView, "Whole pipeline", "", make_mode<GanttMode::Pipeline>}.ticked(in_mode<GanttMode::Pipeline>),
    Action{"next_mode", kView, "Next mode of the chart", "U", next_mode}.in_chart(),
    Action{"more_iterations", kView, "More iterations", "", make_iterations<1>},
    Action{"fewer_iterations", kView, "Fewer iterations", "", make_iterations<-1>},
    Action{"critical", kView, "What limits II", "C", make<toggle_critical>}
        .needs(needs_schedule)
        .ticked([](const Session& s) { return s.view().critical; })
        .below_line(),
    Action{"whiskers", kView, "How far ops can move", "L", make<ToggleWhiskers>}.needs(needs_schedule).ticked([](const Session& s) {
      return s.view().whiskers;
    }),
    Action{"end_highlight", kView, "End the highlight", "", make<end_highlight>}.needs(needs_highlight),
    Action{"zoom_selection", kView, "Centre selection, then fit", "F"}.in_chart().needs(needs_schedule).below_line(),
    Action{"fit", kView, "Fit all", "Home 0"}.in_chart().needs(needs_schedule),
    Action{"zoom_in", kView, "Zoom in", "W"}.in_chart().needs(needs_schedule),
    Action{"zoom_out", kView, "Zoom out", "S"}.in_chart().needs(needs_schedule),
    Action{"zoom_back", kView, "Undo zoom", "Backspace"}.in_chart().needs(needs_schedule),
    Action{"pan_left", kNowhere, "Pan left", "A Left"}.in_chart().needs(needs_schedule),
    Action{"pan_right", kNowhere, "Pan right", "D Right"}.in_chart().needs(needs_schedule),
    Action{"page_left", kNowhere, "Page left", "Shift+A Shift+Left"}.in_chart().needs(needs_schedule),
    Action{"page_right", kNowhere, "Page right", "Shift+D Shift+Right"}.in_chart().needs(needs_schedule),
    Action{"row_up", kNowhere, "Previous row", "Up"}.in_chart().needs(needs_schedule),
    Action{"row_down", kNowhere, "Next row", "Down"}.in_chart().needs(needs_schedule),
    Action{"op_next", kNowhere, "Next op on the row", "."}.in_chart().needs(needs_schedule),
    Action{"op_previous", kNowhere, "Previous op on the row", ","}.in_chart().needs(needs_schedule),
    Action{"follow_on", kNowhere, "Follow a dependence to its consumer", "]"}.in_chart().needs(needs_schedule),
    Action{"follow_back", kNowhere, "Follow a dependence to its producer", "["}.in_chart().needs(needs_schedule),
    Action{"measure", kView, "Measure the selection", "M"}.in_chart().needs(needs_schedule),
    Action{"wheel_scrolls", kView, "Wheel scrolls rows", "", flip_wheel}.ticked(
        [](const Session& s) { return s.settings().wheel_scrolls; }),
    Action{"fold_left", kView, "Pane of schedules and ops", "Ctrl+B", fold<&Layout::left_folded>}
        .ticked(shown<&Layout::left_folded>)
        .below_line(),
    Action{"fold_bottom", kView, "Pane of tabs", "Ctrl+J", fold<&Layout::bottom_folded>}.ticked(shown<&Layout::bottom_folded>),
    Action{"fold_right", kView, "Inspector", "Ctrl+I", fold<&Layout::right_folded>}.ticked(shown<&Layout::right_folded>),
    Action{"next_pane", kNowhere, "Keyboard to the next pane", "Tab"}.does(move_focus<1>),
    Action{"previous_pane", kNowhere, "Keyboard to the previous pane", "Shift+Tab"}.does(move_focus<-1>),
    Action{"next_tab", kNowhere, "Next tab", "Ctrl+Tab", step_tab<1>},
    Action{"previous_tab", kNowhere, "Previous tab", "Ctrl+Shift+Tab", step_tab<-1>},
    Action{"dark", kView, "Dark theme", "", make_theme<ThemeName::Dark>}.ticked(in_theme<ThemeName::Dark>).below_line(),
    Action{"light", kView, "Light theme", "", make_theme<ThemeName::Light>}.ticked(in_theme<ThemeName::Light>),
    Action{"high_contrast", kView, "High contrast", "", make_theme<ThemeName::HighContrast>}.ticked(in_theme<ThemeName::HighContrast>),
    Action{"larger", kView, "Larger", "Ctrl+=", make_scale<10>}.below_line(),
    Action{"smaller", kView, "Smaller", "Ctrl+-", make_scale<-10>},
    Action{"normal_size", kView, "Normal size", "Ctrl+0", make_scale<0>},
    Action{"maximize", kView, "Maximize the lower pane, and back", "F11 Ctrl+M"}
        .does([](const Session&, UiState& ui) { ui.maximized = !ui.maximized; })
        .needs(needs_kernel)
        .below_line(),
    Action{"ops", kView, "Table of ops", "", make_tab<BottomTab::Ops>}.below_line(),
    Action{"graph", kView, "Dataflow graph", "Ctrl+9", make_tab<BottomTab::Graph>},
    Action{"pipeline_text", kView, "Pipeline as pseudocode", "", make_tab<BottomTab::Pipeline>},
    Action{"units", kView, "Units and memory", "", make_tab<BottomTab::Units>},
    Action{"sweep", kView, "Sweep of configurations", "", make_tab<BottomTab::Sweep>},
    Action{"truth", kView, "Truth: predictions against measurements", "", make_tab<BottomTab::Truth>},
    Action{"constraints", kView, "Constraints", "", make_tab<BottomTab::Constraints>},
    Action{"log", kView, "Log", "Ctrl+1", make_tab<BottomTab::Log>},

    Action{"solve", kSolve, "Solve", "F5", make<StartSolve>}.needs(solve_reason),
    Action{"solve_robust", kSolve, "Solve for an order that stands wrong numbers", "Alt+F5", robust_solve}.needs(solve_reason),
    Action{"prove", kSolve, "Prove the shown schedule's II", "Ctrl+F5", make<ProveShown>}.needs(proof_reason),
    Action{"cancel", kSolve, "Cancel", "Shift+F5", make<CancelSolve>}.needs(cancel_reason),
    Action{"explain", kSolve, "Why is II not smaller?", "E Ctrl+2", make<AskWhy>}.below_line(),
    Action{"why_here", kSolve, "Why does the selected op start here?", "", why_selected_here}.needs(pin_reason),
    Action{"cancel_why", kSolve, "Cancel the question why", "", cancel_ask<Topic::Explain>}.needs(not_asking<Topic::Explain>),
    Action{"slack", kSolve, "Slack of every op", "Ctrl+3", make_tab<BottomTab::Slack>},
    Action{"ask_slack", kSolve, "Exact slack of every op", "", ask<Topic::Slack>}.needs(no_question<Topic::Slack>),
    Action{"cancel_slack", kSolve, "Cancel the question for slack", "", cancel_ask<Topic::Slack>}.needs(not_asking<Topic::Slack>),
    Action{"alternatives", kSolve, "Alternatives", "Ctrl+4", make_tab<BottomTab::Alternatives>},
    Action{"ask_alternatives", kSolve, "Find schedules as good", "", ask<Topic::Alternatives>}.needs(no_question<Topic::Alternatives>),
    Action{"cancel_alternatives", kSolve, "Cancel the search for alternatives", "", cancel_ask<Topic::Alternatives>}.needs(
        not_asking<Topic::Alternatives>),
    Action{"price", kSolve, "Price of every constraint", "", ask<Topic::Price>}.needs(no_question<Topic::Price>),
    Action{"what_if", kSolve, "What if", "Ctrl+5", make_tab<BottomTab::WhatIf>},
    Action{"pareto", kSolve, "Pareto front", "Ctrl+6", make_tab<BottomTab::Pareto>},
    Action{"sensitivity", kSolve, "Sensitivity", "Ctrl+7", make_tab<BottomTab::Sensitivity>},

    Action{"ask_pareto", kSolve, "Sweep the front", "", make_sweep}.needs(no_question<Topic::Pareto>).below_line(),
    Action{"ask_sensitivity", kSolve, "Try every number 10 % off", "", ask<Topic::Sensitivity>}.needs(no_question<Topic::Sensitivity>),
    Action{"ask_latency", kSolve, "II by the selected op's latency", "", ask<Topic::Latency>}.needs(no_question<Topic::Latency>),
    Action{"tune", kSolve, "Tune: search tile sizes and options", "", make_tune<false>}.needs(no_tune).below_line(),
    Action{"tune_more", kSolve, "Tune: go on with the open history", "", make_tune<true>}.needs(no_more),
    Action{"cancel_tune", kSolve, "Cancel tuning", "", make<CancelTune>}.needs(needs_tuning),
    Action{"validate", kSolve, "Validate against published measurements", "", make<Validate>}.needs(no_validation),
    Action{"cancel_validation", kNowhere, "Cancel the validation", "", make<CancelValidation>}.needs(needs_validation),
    Action{"open_published", kNowhere, "Truth: open the chosen row", "", open_published}.needs(no_published),
    Action{"best_point", kSolve, "Sweep: show the best point", "", show_best}.needs(needs_best),
    Action{"cancel_pareto", kNowhere, "Cancel the sweep of the front", "", cancel_ask<Topic::Pareto>}.needs(not_asking<Topic::Pareto>),
    Action{"cancel_sensitivity", kNowhere, "Cancel trying the numbers", "", cancel_ask<Topic::Sensitivity>}.needs(
        not_asking<Topic::Sensitivity>),
    Action{"cancel_latency", kNowhere, "Cancel II by latency", "", cancel_ask<Topic::Latency>}.needs(not_asking<Topic::Latency>),
    Action{"front_slower", kNowhere, "Front: show the point with the next greater II", "", make_front<1>}.needs(front_reason<1>),
    Action{"front_faster", kNowhere, "Front: show the point with the next smaller II", "", make_front<-1>}.needs(front_reason<-1>),

    Action{"compare", kCompare, "Compare A and B", "Ctrl+8"}.does(show_compare<false>),
    Action{"scoreboard", kCompare, "Scoreboard of all schedules", ""}.does(show_compare<true>),
    Action{"ask_compare", kCompare, "Simulate hand schedules and heuristics", ""}.does(measure_all).needs(no_question<Topic::Compare>),
    Action{"cancel_compare", kNowhere, "Cancel simulating the scoreboard", "", cancel_ask<Topic::Compare>}.needs(
        not_asking<Topic::Compare>),
    Action{"audit", kCompare, "Audit of a compiler's schedule", "Ctrl+Shift+A", make_tab<BottomTab::Audit>},
    Action{"next_reading", kCompare, "Other reading of the dump", "", other_reading}.needs(needs_dump),
    Action{"next_loop", kCompare, "Next loop of the dump", "", next_loop}.needs(needs_loops),
    Action{"emitter_rules", kCompare, "Demand what the dump's emitter demands", "", make<DemandEmitterRules>}.needs(needs_emitter_rules),
    Action{"set_b", kCompare, "Make the shown schedule B", "B", shown_as_b}.needs(needs_two),
    Action{"swap_ab", kCompare, "Swap A and B", "X", make<SwapBaseline>}.needs(needs_b),
    Action{"no_b", kCompare, "End the comparison", "", make<SetBaseline>}.needs(needs_b),
    Action{"chart_a", kCompare, "Chart of A alone", "", make_chart<ChartView::A>}
        .needs(needs_b)
        .ticked(in_chart_view<ChartView::A>)
        .below_line(),
    Action{"chart_split", kCompare, "Charts of A over B", "", make_chart<ChartView::Split>}.needs(needs_b).ticked(
        in_chart_view<ChartView::Split>),
    Action{"chart_ghost", kCompare, "Chart of A with B as ghosts", "", make_chart<ChartView::Ghost>}.needs(needs_b).ticked(
        in_chart_view<ChartView::Ghost>),
    Action{"next_chart", kCompare, "Next way to compare", "G", next_chart}.needs(needs_b),
    Action{"align_start", kCompare, "Align at II start", "", make_align<Alignment::At::IiStart>}
        .needs(needs_b)
        .ticked(in_alignment<Alignment::At::IiStart>)
        .below_line(),
    Action{"align_most", kCompare, "Align where most ops agree", "", make_align<Alignment::At::Most>}.needs(needs_b).ticked(
        in_alignment<Alignment::At::Most>),
    Action{"align_op", kCompare, "Align at the selected op", "", make_align<Alignment::At::Op>}
        .needs(needs_b_and_op)
        .ticked(in_alignment<Alignment::At::Op>),
    Action{"first_divergence", kCompare, "First divergence of the programs", "J", make<FirstDivergence>}
        .needs(needs_divergence)
        .below_line(),
    Action{"first_violation", kCompare, "First violation of A", "", make<FirstViolation>}.needs(needs_violation),

    Action{"open_kernel", kKernel, "Open kernel ...", ""}.does(show_palette<PaletteState::Scope::Kernels>),
    Action{"open_machine", kKernel, "Open machine ...", ""}.does(show_palette<PaletteState::Scope::Machines>),
    Action{"parameters", kKernel, "Machine and parameters ...", ""}
        .does([](const Session&, UiState& ui) { ui.choose_subject = true; })
        .needs(needs_kernel),
    Action{"generate", kKernel, "Generate CUDA", "F6", make<WriteKernel>}.needs(needs_code_generator).below_line(),
    Action{"verify", kKernel, "Verify the program on the CPU", "Shift+F6", make<CheckKernel>}.needs(needs_code_generator),
    Action{"compile", kKernel, "Compile", "F7", make<BuildKernel>}.needs(needs_compiler),
    Action{"verify_data", kKernel, "Verify the program with data on the CPU", "Ctrl+F6", verify_with_data}.needs(needs_code_generator),
    Action{"cluster", kKernel, "Kernel in clusters of two blocks", "", flip_cluster}.needs(no_cluster).ticked(in_clusters).below_line(),
    Action{"turns", kKernel, "Kernel keeps wgmmas of warp groups in order", "", flip_turns}.needs(no_turns).ticked(with_turns),
    Action{"records_none", kKernel, "Kernel without clock readings", "", make_records<codegen::Recording::None>}
        .needs(no_records<codegen::Recording::None>)
        .ticked(with_records<codegen::Recording::None>),
    Action{"records_loop", kKernel, "Kernel reads the clock around its loop", "", make_records<codegen::Recording::Loop>}
        .needs(no_records<codegen::Recording::Loop>)
        .ticked(with_records<codegen::Recording::Loop>),
    Action{"records_ops", kKernel, "Kernel reads the clock around every op", "", make_records<codegen::Recording::Ops>}
        .needs(no_records<codegen::Recording::Ops>)
        .ticked(with_records<codegen::Recording::Ops>),
    Action{"steps", kKernel, "Kernel as steps of every role, and back", ""}.does(show_steps).needs(needs_code_generator),
    Action{"cancel_generate", kNowhere, "Cancel generating CUDA", "", cancel_kernel<KernelStep::Text>}.needs(not_at_work<KernelStep::Text>),
    Action{"cancel_verify", kNowhere, "Cancel verifying the program", "", cancel_kernel<KernelStep::Check>}.needs(
        not_at_work<KernelStep::Check>),
    Action{"cancel_verify_data", kNowhere, "Cancel verifying with data", "", cancel_kernel<KernelStep::Data>}.needs(
        not_at_work<KernelStep::Data>),
    Action{"cancel_compile", kNowhere, "Cancel compiling", "", cancel_kernel<KernelStep::Build>}.needs(not_at_work<KernelStep::Build>),
    Action{"save_kernel", kKernel, "Save CUDA ...", ""}.asks(Prompt::KernelPath).needs(needs_kernel_text).below_line(),
    Action{"next_source", kKernel, "Next lines of the selected op", "F4"}.does(next_source<1>).needs(why_no_source_step),
    Action{"previous_source", kKernel, "Previous lines of the selected op", "Shift+F4"}.does(next_source<-1>).needs(why_no_source_step),
    Action{"run_kernel", kKernel, "Run and measure", "F8", make_run<false>}.needs(needs_gpu).below_line(),
    Action{"profile_kernel", kKernel, "Profile: measure every op", "Shift+F8", make_run<true>}.needs(needs_gpu),
    Action{"cancel_run", kKernel, "Cancel the run", "", make<CancelRun>}.needs(needs_run),
    Action{"overlay_measured", kKernel, "Measured times over the chart", "T", make<ToggleMeasured>}
        .needs(needs_measurement)
        .ticked([](const Session& s) { return s.view().measured; }),
    Action{"adopt_measured", kKernel, "Adopt measured latencies and solve", "", make<AdoptMeasured>}.needs(needs_residuals),
    Action{"cuda", kKernel, "CUDA source", "", make_tab<BottomTab::Cuda>}.below_line(),
    Action{"simulate", kKernel, "Whole kernel: predicted time, and where it goes", "", make_tab<BottomTab::Simulate>},
    Action{"runs", kKernel, "Runs", "", make_tab<BottomTab::Runs>},

    Action{"keys", kHelp, "Keys and mouse", "F1 ?", make<toggle_keys>},
};

}  // namespace

std::span<const Action> actions() { return kActions; }
std::span<const char* const> menus() { return kMenus; }

const Action* find_action(std::string_view id) {
  for (const Action& action : kActions)
    if (id == action.id) return &action;
  return nullptr;
}

std::string why_not(const Action& action, const Session& session) { return action.why_not ? action.why_not(session) : std::string(); }

void perform(const Action& action, const Session& session, UiState& ui) {
  if (!why_not(action, session).empty()) return;
  if (action.prompt != Prompt::Nothing) {
    ui.path_prompt.ask = action.prompt;
    ui.path_prompt.just_opened = true;
  } else if (action.run) {
    action.run(session, ui);
  } else if (action.make) {
    ui.commands.push(action.make(session));
  } else if (action.by_chart) {
    ui.chart.requested.emplace_back(action.id);
  }
}

}  // namespace heddle::app
