// What the rows of the action table do, and what they need: the words that action_table.cpp is written in.
#pragma once

#include "app/session/launch_state.h"
#include "app/session/project.h"
#include "app/session/solving.h"
#include "app/session/source_document.h"
#include "app/session/texts.h"
#include "app/session/triton_state.h"
#include "app/session/window_link.h"
#include "app/window/kit/actions.h"

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/kernel_state.h"
#include "app/session/proposal.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/session/run_state.h"
#include "app/session/sweep_state.h"
#include "app/session/truth_state.h"
#include "app/session/way_back.h"
#include "app/window/chart/why_here.h"
#include "app/window/frame/palette.h"
#include "app/window/frame/panels.h"
#include "app/window/frame/project_dialogs.h"
#include "app/window/parts/notes.h"
#include "app/window/parts/tabs.h"
#include "app/window/tabs/cuda/cuda_state.h"
#include "app/window/tabs/cuda/cuda_views.h"
#include "app/window/tabs/family/family_state.h"
#include "app/window/tabs/layout/layout_views_drawn.h"
#include "app/window/tabs/pareto/pareto_model.h"
#include "app/window/tabs/schedules/compare_state.h"
#include "core/chart/gantt_facts.h"
#include "core/chart/gantt_model.h"
#include "core/library/dump_text.h"
#include "core/library/library.h"

namespace heddle::app::making {

inline std::string needs_kernel(const Session& s) { return s.content().kernel ? "" : "nothing is open"; }
inline std::string needs_something(const Session& s) { return s.launch().open() ? "" : needs_kernel(s); }
inline std::string needs_launch(const Session& s) { return s.launch().why_not_again(); }
inline std::string needs_check(const Session& s) { return s.launch().active() ? "" : "no PTX is being checked"; }
inline std::string needs_schedule(const Session& s) { return s.content().entry() ? "" : "there is no schedule yet"; }
inline std::string needs_selection(const Session& s) { return s.selection().empty() ? "no op is selected" : ""; }
inline std::string solve_reason(const Session& s) { return s.solving().why_no_solve(); }
inline std::string continue_reason(const Session& s) { return s.solving().why_no_continue(); }
inline std::string proof_reason(const Session& s) { return s.solving().why_no_proof(); }
inline std::string cancel_reason(const Session& s) { return s.live().phase == LiveSolve::Phase::Running ? "" : "nothing is being solved"; }
inline std::string undo_reason(const Session& s) { return s.next_undo() ? "" : "nothing to undo"; }
inline std::string redo_reason(const Session& s) { return s.next_redo() ? "" : "nothing to redo"; }

template <GanttMode mode>
bool in_mode(const Session& s) {
  return s.view().mode == mode;
}
template <ThemeName name>
bool in_theme(const Session& s) {
  return s.settings().theme == name;
}

inline Command next_mode(const Session& s) {
  switch (s.view().mode) {
    case GanttMode::Steady: return SetMode{GanttMode::Unrolled};
    case GanttMode::Unrolled: return SetMode{GanttMode::Pipeline};
    case GanttMode::Pipeline: return SetMode{GanttMode::Contended};
    case GanttMode::Contended: break;
  }
  return SetMode{GanttMode::Steady};
}

template <class C>
Command make(const Session&) {
  return C{};
}
inline Command robust_solve(const Session&) { return StartSolve{true}; }
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
inline Command pin_selection(const Session& s) { return toggled_pins(*s.content().problem, s.content().constraints, s.selection().ops); }
inline std::string pin_reason(const Session& s) {
  const std::string missing = needs_schedule(s);
  return missing.empty() ? needs_selection(s) : missing;
}
inline Command why_selected_here(const Session& s) {
  const Content& c = s.content();
  return show_highlight(why_here(*c.problem, c.entry()->schedule, c.constraints, s.selection().primary()));
}
inline std::string needs_highlight(const Session& s) { return s.view().highlight.why.empty() ? "nothing is highlighted" : ""; }
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
inline Command make_sweep(const Session& s) {
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
inline std::string changes_reason(const Session& s) { return s.content().changes.empty() ? "no number is changed" : ""; }
inline Command take_back_change(const Session& s) { return RemoveChange{s.content().changes.size() - 1, false}; }

inline std::string needs_dump(const Session& s) { return s.content().dump() ? "" : "no compiler's dump is open"; }
inline std::string needs_emitter_rules(const Session& s) {
  if (!s.content().dump()) return needs_dump(s);
  if (s.content().dump()->reading() != dump::DumpReading::Full) return "issue slots know no warp groups: choose the full reading";
  return s.sources().open_emitter_rules().empty() ? "it demands nothing that is not in force" : "";
}
inline std::string needs_loops(const Session& s) {
  if (!s.content().dump()) return needs_dump(s);
  return s.content().dump()->the_dump().loops.size() > 1 ? "" : "the dump has only this loop";
}
/// What comes after the one that is shown; with two it is the other one.
inline Command next_of(const std::vector<SourceChoice>& choices) {
  const auto now = std::find_if(choices.begin(), choices.end(), [](const SourceChoice& c) { return c.current; });
  const auto next = now == choices.end() || now + 1 == choices.end() ? choices.begin() : now + 1;
  return ShowPart{next->part.value_or(FilePart{})};
}
inline Command other_reading(const Session& s) { return next_of(s.content().source->outline().readings); }
inline Command next_loop(const Session& s) { return next_of(s.content().source->outline().loops); }

inline Command remove_shown(const Session& s) { return RemoveSchedule{s.content().shown.value_or(0)}; }

inline std::string needs_two(const Session& s) {
  return s.content().schedules.size() > 1 ? "" : "there is no other schedule to compare with";
}
inline std::string needs_b(const Session& s) { return s.content().baseline_entry() ? "" : "there is no B yet: press B on a schedule"; }
template <bool baseline>
Command another_window(const Session&) {
  return OpenWindow{baseline};
}
template <bool baseline>
std::string no_window(const Session& s) {
  return s.windows().why_no_window(baseline);
}
inline std::string needs_b_and_op(const Session& s) { return needs_b(s).empty() ? needs_selection(s) : needs_b(s); }
inline std::string needs_divergence(const Session& s) {
  if (!needs_b(s).empty()) return needs_b(s);
  const Content& c = s.content();
  return compare_schedules(*c.problem, c.entry()->schedule, c.baseline_entry()->schedule).same_program() ? "A and B are the same program"
                                                                                                         : "";
}
inline std::string needs_violation(const Session& s) {
  if (!s.content().entry()) return "there is no schedule yet";
  return s.content().entry()->verdict.valid() ? "the shown schedule breaks no rule" : "";
}
inline Command shown_as_b(const Session& s) { return SetBaseline{s.content().shown}; }
template <ChartView view>
Command make_chart(const Session&) {
  return show_chart_as(view);
}
template <ChartView view>
bool in_chart_view(const Session& s) {
  const bool there = s.content().triton() || s.content().baseline;
  return there && s.view().chart_view == view;
}
inline std::string needs_triton(const Session& s) { return s.content().triton() ? "" : "no Triton kernel is open"; }
/// Ways to show the chart that there are now.
inline std::vector<ChartView> chart_views(const Session& s) {
  std::vector<ChartView> views{ChartView::A};
  if (s.content().baseline_entry()) views.insert(views.end(), {ChartView::Split, ChartView::Ghost});
  if (s.content().triton()) views.push_back(ChartView::Three);
  return views;
}
inline std::string needs_chart_views(const Session& s) { return chart_views(s).size() > 1 ? "" : needs_b(s); }
inline std::string needs_a(const Session& s) { return s.content().triton() ? needs_schedule(s) : needs_b(s); }
inline Command next_chart(const Session& s) {
  const std::vector<ChartView> views = chart_views(s);
  const auto now = std::find(views.begin(), views.end(), s.view().chart_view);
  return show_chart_as(now == views.end() || now + 1 == views.end() ? views.front() : now[1]);
}
template <triton::Whose whose>
Command show_side(const Session&) {
  return ShowSide{whose};
}
template <triton::Whose whose>
std::string no_side(const Session& s) {
  return needs_triton(s).empty() ? s.sources().why_no_side(whose) : needs_triton(s);
}
inline std::string needs_triton_kernel(const Session& s) {
  if (!needs_triton(s).empty()) return needs_triton(s);
  return s.content().kernel ? "" : "no loop of it can be scheduled";
}
inline std::string needs_comparison(const Session& s) { return s.triton().active() ? "" : "nothing is being compared"; }
template <Alignment::At at>
Command make_align(const Session& s) {
  return SetAlignment{{at, at == Alignment::At::Op ? s.selection().primary() : OpId{}}};
}
template <Alignment::At at>
bool in_alignment(const Session& s) {
  return s.view().alignment.at == at;
}
inline std::string needs_problem(const Session& s) { return s.content().problem ? "" : "no kernel is open on a machine"; }

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
template <bool PaneSizes::*folded>
bool shown(const Session& s) {
  return !(s.settings().panes.*folded);
}
template <bool PaneSizes::*folded>
Command fold(const Session& s) {
  return fold_pane(folded, shown<folded>(s));
}
inline Command flip_wheel(const Session& s) { return scroll_with_wheel(!s.settings().wheel_scrolls); }

inline std::string needs_code_generator(const Session& s) { return KernelState::why_no_kernel(s.content()); }
inline std::string needs_compiler(const Session& s) { return s.kernel().why_no_build(); }
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
inline std::string needs_kernel_text(const Session& s) {
  const std::string missing = KernelState::why_no_kernel(s.content());
  if (!missing.empty()) return missing;
  const auto& text = s.kernel().text();
  if (!KernelState::is_current(text, KernelState::subject_of(s.content()))) return "there is no CUDA text of the shown schedule yet";
  return text.answer()->emission ? "" : "the schedule cannot be written as a kernel";
}
inline Command verify_with_data(const Session&) { return CheckKernel{kUsualDataInterleavings, true}; }
/// Why this one of the options cannot be turned; empty as well where nothing is known of it.
inline std::string offer(const Session& s, std::string KernelOffers::*which) {
  if (!s.content().kernel) return "nothing is open";
  const KernelText* text = s.kernel().text_of_problem();
  return text ? text->offers.*which : std::string();
}
inline bool in_clusters(const Session& s) { return s.content().kernel_options.build.cluster == 2; }
inline bool with_turns(const Session& s) { return s.content().kernel_options.build.turns; }
inline Command flip_cluster(const Session& s) {
  KernelOptions options = s.content().kernel_options;
  options.build.cluster = in_clusters(s) ? 1 : 2;
  return SetKernelOptions{options};
}
inline Command flip_turns(const Session& s) {
  KernelOptions options = s.content().kernel_options;
  options.build.turns = !options.build.turns;
  return SetKernelOptions{options};
}
inline bool with_deep_rings(const Session& s) { return s.content().kernel_options.build.deep_rings; }
inline Command flip_rings(const Session& s) {
  KernelOptions options = s.content().kernel_options;
  options.build.deep_rings = !options.build.deep_rings;
  return SetKernelOptions{options};
}
inline std::string no_cluster(const Session& s) { return s.content().kernel && in_clusters(s) ? "" : offer(s, &KernelOffers::cluster); }
inline std::string no_turns(const Session& s) { return s.content().kernel && !with_turns(s) ? "" : offer(s, &KernelOffers::turns); }
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
inline void show_steps(const Session&, UiState& ui) {
  ui.of<CudaTabState>().steps = !ui.of<CudaTabState>().steps;
  ui.commands.push(show_tab(BottomTab::Cuda));
}
template <int step>
void next_source(const Session& s, UiState& ui) {
  step_source(s, ui, step);
}
inline std::string no_layout_shown(const Session& s) { return s.view().tab == BottomTab::Layout ? "" : "the Layout tab is not shown"; }
inline std::string no_layout_of_selected(const Session& s) {
  if (!needs_selection(s).empty()) return needs_selection(s);
  const OpId op = s.selection().primary();
  if (!s.content().problem || op.index() >= s.content().problem->ops.size()) return "no kernel is open on a machine";
  return shared_memory_plan(*s.content().problem, op) ? "" : "the selected op does not move a tile between registers and shared memory";
}
inline void show_layout(const Session&, UiState& ui) {
  ui.of<LayoutTabState>().followed = {};
  ui.of<LayoutTabState>().own = false;
  ui.commands.push(show_tab(BottomTab::Layout));
}
inline void ask_layouts(const Session&, UiState& ui) {
  ui.of<LayoutTabState>().own = false;
  ui.of<LayoutTabState>().choosing = true;
  ui.commands.push(show_tab(BottomTab::Layout));
  ui.commands.push(Ask{Topic::Layouts, {}});
}
inline void show_layout_text(const Session&, UiState& ui) {
  ui.of<LayoutTabState>().own = true;
  ui.commands.push(show_tab(BottomTab::Layout));
}
template <int step>
void next_phase(const Session&, UiState& ui) {
  LayoutTabState& state = ui.of<LayoutTabState>();
  if (state.a.view()) step_phase(*state.a.view(), state, step);
}
inline void next_layout_colour(const Session&, UiState& ui) {
  LayoutColour& colour = ui.of<LayoutTabState>().colour;
  colour = colour == LayoutColour::Phase ? LayoutColour::Warp : static_cast<LayoutColour>(static_cast<int>(colour) + 1);
}
inline Command take_back_layouts(const Session&) { return ChooseLayouts{{}, {}, false}; }
inline std::string no_layout_chosen(const Session& s) { return s.content().choices.empty() ? "no layout is chosen" : ""; }
inline std::string needs_gpu(const Session& s) { return s.runs().why_no_run(); }
template <bool profile>
Command make_run(const Session&) {
  return RunKernel{profile};
}
inline std::string needs_measurement(const Session& s) { return s.runs().why_no_measured(); }
inline std::string needs_residuals(const Session& s) { return s.runs().why_no_adoption(); }
inline std::string needs_race(const Session& s) { return s.runs().race().active() ? "" : "no race is being run"; }
inline std::string needs_run(const Session& s) { return s.runs().run().active() ? "" : "no kernel is being run"; }

inline void solve_family(const Session& s, UiState& ui) {
  ui.commands.push(show_tab(BottomTab::Family));
  ui.commands.push(Ask{Topic::Family, family_options(s, ui)});
}
inline void start_race(const Session&, UiState& ui) {
  ui.of<CompareTabState>().view = CompareView::Race;
  ui.commands.push(StartRace{});
}
inline void ask_paper(const Session&, UiState& ui) {
  ui.of<CompareTabState>().view = CompareView::Paper;
  ui.commands.push(show_tab(BottomTab::Compare));
  ui.commands.push(Ask{Topic::Paper, ui.of<CompareTabState>().paper});
}

inline std::string no_tune(const Session& s) { return s.sweep().why_no_tune(); }
inline std::string no_more(const Session& s) { return s.sweep().why_no_more(); }
template <bool more>
Command make_tune(const Session&) {
  return StartTune{TuneOptions{}, more};
}
inline std::string needs_tuning(const Session& s) { return s.sweep().running() ? "" : "nothing is being tuned"; }
inline std::string needs_sweep(const Session& s) { return s.sweep().file() ? "" : "no sweep is open"; }
inline std::string needs_best(const Session& s) {
  if (!needs_sweep(s).empty()) return needs_sweep(s);
  return s.sweep().table().best ? "" : "no point of the sweep has a value yet";
}
inline Command show_best(const Session& s) { return OpenPoint{*s.sweep().table().best, false}; }

inline std::string no_validation(const Session& s) { return s.content().kernel ? s.truth().why_no_validation() : "open a kernel first"; }
inline std::string needs_validation(const Session& s) { return s.truth().task().active() ? "" : "nothing is being validated"; }
inline std::string no_published(const Session& s) {
  const TruthState& truth = s.truth();
  if (!truth.answer()) return "nothing has been validated";
  if (!truth.chosen()) return "no measurement is chosen";
  return truth.answer()->models[*truth.chosen()] ? "" : "nothing here stands for the chosen measurement";
}
inline Command open_published(const Session& s) { return OpenPublished{s.truth().chosen().value_or(0)}; }

inline std::string save_reason(const Session& s) { return s.projects().why_no_save(); }
inline std::string needs_constraints(const Session& s) {
  return s.content().constraints.empty() && s.content().changes.empty() ? "there are no constraints" : "";
}
inline std::string needs_flags(const Session& s) { return s.content().flags.empty() ? "there are no flags" : ""; }

template <SourceOf of>
std::string no_text(const Session& s) {
  return of == SourceOf::Kernel && s.content().triton() ? "" : s.texts().why_no_edit(of);  // that one is only read
}
/// Triton's text is shown, and is no text of ours to save.
template <SourceOf of>
std::string no_text_to_save(const Session& s) {
  return s.texts().why_no_edit(of);
}
template <SourceOf of>
std::string no_file_to_read(const Session& s) {
  const SourceText* text = s.texts().text_of(of);
  return !text ? s.texts().why_no_edit(of) : text->file.empty() ? "it has no file yet" : "";
}
template <SourceOf of>
void edit_text(const Session& s, UiState& ui) {
  const bool shown = s.view().editor == of;
  ui.commands.push(show_editor(shown ? std::nullopt : std::optional(of)));
  if (!shown) focus_editor(ui);
}
template <SourceOf of>
bool editing(const Session& s) {
  return s.view().editor == of;
}
/// To its file; what has none, or one that ships with Heddle, asks for a name.
template <SourceOf of>
void save_text(const Session& s, UiState& ui) {
  const std::string& file = s.texts().text_of(of)->file;
  const Shelf shelf = of == SourceOf::Kernel ? Shelf::Kernels : Shelf::Machines;
  if (file.empty() || name_in_library(shelf, file) != file)
    perform(*find_action(of == SourceOf::Kernel ? "save_kernel_as" : "save_machine_as"), s, ui);
  else
    ui.commands.push(SaveSource{of});
}
template <SourceOf of>
Command read_again(const Session&) {
  return ReadSourceAgain{of};
}
inline void set_limit(const Session&, UiState& ui) { begin_limit(ui); }
inline void new_kernel(const Session&, UiState& ui) { begin_new_kernel(ui); }

inline void save_project(const Session& s, UiState& ui) {
  // While a text has the keyboard, it is what is saved.
  if (const auto of = s.view().editor; of && text_has_keys(ui) && s.texts().why_no_edit(*of).empty()) {
    const char* action = *of == SourceOf::Kernel ? "save_kernel_text" : "save_machine_text";
    return perform(*find_action(action), s, ui);
  }
  if (s.projects().project_file().empty())
    perform(*find_action("save_as"), s, ui);
  else
    ui.commands.push(SaveProject{});
}
template <CompareView view>
void show_compare(const Session&, UiState& ui) {
  ui.of<CompareTabState>().view = view;
  ui.commands.push(show_tab(BottomTab::Compare));
}
inline void measure_all(const Session& s, UiState& ui) {
  show_compare<CompareView::Board>(s, ui);
  ui.commands.push(Ask{Topic::Compare, {}});
}
inline std::string no_way_back(const Session& s) { return why_no_way_back(s.content()); }
inline void open_export(const Session&, UiState& ui) { ui.of<ExportDialogState>().wanted = true; }
inline void add_note(const Session& s, UiState& ui) { begin_note(s, ui); }
inline void share(const Session& s, UiState& ui) {
  if (s.projects().project_file().empty()) {
    ui.path_prompt.ask = Prompt::SharePath;
    ui.path_prompt.just_opened = true;
  } else {
    share_as(ui, s.projects().project_file());
  }
}
/// What is shown; without a schedule, how to get one.
inline std::string shown_line(const Session& s) { return s.content().entry() ? shown_as_command(s) : command_line(s, "solve"); }
inline Command copy_shown(const Session& s) { return copy_text(shown_line(s)); }
inline std::string no_shown_line(const Session& s) { return shown_line(s).empty() ? why_no_line(s) : ""; }
inline std::string no_last_line(const Session& s) { return s.last_line().empty() ? why_no_line(s) : ""; }

}  // namespace heddle::app::making
