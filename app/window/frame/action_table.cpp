// The table of actions.
#include "app/window/frame/action_makers.h"

namespace heddle::app {
namespace {

using namespace making;

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
    Action{"new_kernel", kFile, "New kernel ...", "Ctrl+N"}.does(new_kernel),
    Action{"open", kFile, "Open ...", "Ctrl+O", make<show_open_dialog>},
    Action{"open_measurement", kFile, "Open measurement ...", "", make<show_open_dialog>},
    Action{"open_sweep", kFile, "Open sweep ...", "", make<show_open_dialog>},
    Action{"close_sweep", kFile, "Close sweep", "", make<CloseSweep>}.needs(needs_sweep),
    Action{"save", kFile, "Save project", "Ctrl+S"}.does(save_project).needs(save_reason).below_line(),
    Action{"save_as", kFile, "Save project as ...", "Ctrl+Shift+S"}.asks(Prompt::ProjectPath).needs(save_reason),
    Action{"save_schedule", kFile, "Save schedule ...", ""}.asks(Prompt::SavePath).needs(needs_schedule),
    Action{"save_constraints", kFile, "Save constraints ...", ""}.asks(Prompt::ConstraintsPath).needs(needs_constraints),
    Action{"save_kernel_text", kFile, "Save kernel", ""}
        .does(save_text<SourceOf::Kernel>)
        .needs(no_text_to_save<SourceOf::Kernel>)
        .below_line(),
    Action{"save_kernel_as", kFile, "Save kernel as ...", ""}.asks(Prompt::KernelTextPath).needs(no_text_to_save<SourceOf::Kernel>),
    Action{"save_machine_text", kFile, "Save machine", ""}.does(save_text<SourceOf::Machine>).needs(no_text_to_save<SourceOf::Machine>),
    Action{"save_machine_as", kFile, "Save machine as ...", ""}.asks(Prompt::MachineTextPath).needs(no_text_to_save<SourceOf::Machine>),
    Action{"read_kernel_again", kFile, "Read the kernel's file again", "", read_again<SourceOf::Kernel>}.needs(
        no_file_to_read<SourceOf::Kernel>),
    Action{"read_machine_again", kFile, "Read the machine's file again", "", read_again<SourceOf::Machine>}.needs(
        no_file_to_read<SourceOf::Machine>),
    Action{"export", kFile, "Export ...", "Ctrl+E"}.does(open_export).needs(needs_schedule).below_line(),
    Action{"share", kFile, "Share: project, picture, trace and command ...", ""}.does(share).needs(needs_schedule),
    Action{"close", kFile, "Close", "", make<CloseDocument>}.needs(needs_something).below_line(),
    Action{"quit", kFile, "Quit", "Ctrl+Q", make<Quit>},

    Action{"undo", kEdit, "Undo", "Ctrl+Z", make<Undo>}.needs(undo_reason),
    Action{"redo", kEdit, "Redo", "Ctrl+Y Ctrl+Shift+Z", make<Redo>}.needs(redo_reason),
    Action{"find", kEdit, "Find anything", "Ctrl+P"}.does(show_palette<PaletteState::Scope::Everything>).below_line(),
    Action{"find_command", kEdit, "Find command", "Ctrl+Shift+P"}.does(show_palette<PaletteState::Scope::Commands>),
    Action{"find_op", kEdit, "Find op", "Ctrl+F"}.does(show_palette<PaletteState::Scope::Ops>).needs(needs_problem),
    Action{"find_next", kEdit, "Next match", "F3"}.does(find_step<1>).needs(needs_problem),
    Action{"find_previous", kEdit, "Previous match", "Shift+F3"}.does(find_step<-1>).needs(needs_problem),
    Action{"copy_command", kEdit, "Copy as command: what was done last", "Ctrl+Shift+C", make<CopyLine>}.needs(no_last_line).below_line(),
    Action{"copy_shown", kEdit, "Copy as command: what is shown", "", copy_shown}.needs(no_shown_line),
    Action{"edit_kernel", kEdit, "Kernel's text beside the chart", "Ctrl+K"}
        .does(edit_text<SourceOf::Kernel>)
        .needs(no_text<SourceOf::Kernel>)
        .ticked(editing<SourceOf::Kernel>)
        .below_line(),
    Action{"edit_machine", kEdit, "Machine's text beside the chart", "Ctrl+Shift+K"}
        .does(edit_text<SourceOf::Machine>)
        .needs(no_text<SourceOf::Machine>)
        .ticked(editing<SourceOf::Machine>),
    Action{"note", kEdit, "Note at the selected op or cycle ...", "N"}.does(add_note).needs(save_reason),
    Action{"clear_flags", kEdit, "Remove flags", "", make<ClearFlags>}.needs(needs_flags),
    Action{"clear_selection", kEdit, "Clear selection", "Esc", make<ClearSelection>}.in_chart().needs(needs_selection),
    Action{"pin", kEdit, "Pin or unpin selected ops", "P", pin_selection}.needs(pin_reason),
    Action{"take_back_change", kEdit, "Take back the last change of a number", "", take_back_change}.needs(changes_reason),
    Action{"remove_schedule", kEdit, "Remove schedule from the list", "", remove_shown}.needs(needs_schedule),

    Action{"steady", kView, "Steady state", "", make_mode<GanttMode::Steady>}.ticked(in_mode<GanttMode::Steady>),
    Action{"unrolled", kView, "Unrolled", "", make_mode<GanttMode::Unrolled>}.ticked(in_mode<GanttMode::Unrolled>),
    Action{"pipeline", kView, "Whole pipeline", "", make_mode<GanttMode::Pipeline>}.ticked(in_mode<GanttMode::Pipeline>),
    Action{"contended", kView, "Period, with contention", "", make_mode<GanttMode::Contended>}.ticked(in_mode<GanttMode::Contended>),
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
    Action{"barriers", kView, "Barriers and phases", "H", make<toggle_barriers>}.needs(needs_schedule).ticked([](const Session& s) {
      return s.view().barriers;
    }),
    Action{"tensor_memory", kView, "Tensor memory", "V", make<toggle_tensor>}.needs(needs_schedule).ticked([](const Session& s) {
      return s.view().tensor;
    }),
    Action{"queues", kView, "Queues: how full rings are", "Q", make<toggle_queues>}.needs(needs_schedule).ticked([](const Session& s) {
      return s.view().queues;
    }),
    Action{"legend", kView, "Legend: what the marks of the chart mean", "K", make<toggle_legend>}
        .needs(needs_schedule)
        .ticked([](const Session& s) { return s.view().legend; }),
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
    Action{"fold_left", kView, "Pane of schedules and ops", "Ctrl+B", fold<&PaneSizes::left_folded>}
        .ticked(shown<&PaneSizes::left_folded>)
        .below_line(),
    Action{"fold_bottom", kView, "Pane of tabs", "Ctrl+J", fold<&PaneSizes::bottom_folded>}.ticked(shown<&PaneSizes::bottom_folded>),
    Action{"fold_right", kView, "Inspector", "Ctrl+I", fold<&PaneSizes::right_folded>}.ticked(shown<&PaneSizes::right_folded>),
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
    Action{"window_same", kView, "Open this in a second window", "", another_window<false>}.needs(no_window<false>),
    Action{"ops", kView, "Table of ops", "", make_tab<BottomTab::Ops>}.below_line(),
    Action{"graph", kView, "Dataflow graph", "Ctrl+9", make_tab<BottomTab::Graph>},
    Action{"layout", kView, "Layouts: how tiles lie in threads and banks", "", make_tab<BottomTab::Layout>},
    Action{"pipeline_text", kView, "Pipeline as pseudocode", "", make_tab<BottomTab::Pipeline>},
    Action{"units", kView, "Units and memory", "", make_tab<BottomTab::Units>},
    Action{"machine", kView, "Machine: every number with its source", "", make_tab<BottomTab::Machine>},
    Action{"sweep", kView, "Sweep of configurations", "", make_tab<BottomTab::Sweep>},
    Action{"truth", kView, "Truth: predictions against measurements", "", make_tab<BottomTab::Truth>},
    Action{"constraints", kView, "Constraints", "", make_tab<BottomTab::Constraints>},
    Action{"log", kView, "Log", "Ctrl+1", make_tab<BottomTab::Log>},

    Action{"solve", kSolve, "Solve", "F5", make<StartSolve>}.needs(solve_reason),
    Action{"solve_robust", kSolve, "Solve for an order that stands wrong numbers", "Alt+F5", robust_solve}.needs(solve_reason),
    Action{"prove", kSolve, "Prove the shown schedule's II", "Ctrl+F5", make<ProveShown>}.needs(proof_reason),
    Action{"cancel", kSolve, "Cancel", "Shift+F5", make<CancelSolve>}.needs(cancel_reason),
    Action{"continue", kSolve, "Go on with the search of the shown schedule", "", make<ContinueSolve>}.needs(continue_reason),
    Action{"limit", kSolve, "Time limit of searches ...", ""}.does(set_limit),
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
    Action{"family", kSolve, "Family: sizes, cuts and warp groups as decisions", "", make_tab<BottomTab::Family>}.below_line(),
    Action{"ask_family", kSolve, "Solve the family of kernels", ""}.does(solve_family).needs(no_question<Topic::Family>),
    Action{"cancel_family", kNowhere, "Cancel solving the family", "", cancel_ask<Topic::Family>}.needs(not_asking<Topic::Family>),
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

    Action{"compare", kCompare, "Compare A and B", "Ctrl+8"}.does(show_compare<CompareView::Pair>),
    Action{"scoreboard", kCompare, "Scoreboard of all schedules", ""}.does(show_compare<CompareView::Board>),
    Action{"ask_compare", kCompare, "Simulate hand schedules and heuristics", ""}.does(measure_all).needs(no_question<Topic::Compare>),
    Action{"cancel_compare", kNowhere, "Cancel simulating the scoreboard", "", cancel_ask<Topic::Compare>}.needs(
        not_asking<Topic::Compare>),
    Action{"race", kCompare, "Race on the GPU: programs against each other", ""}.does(start_race).needs(needs_gpu),
    Action{"cancel_race", kCompare, "Cancel the race", "", make<CancelRace>}.needs(needs_race),
    Action{"show_race", kCompare, "What the race has shown", ""}.does(show_compare<CompareView::Race>),
    Action{"paper", kCompare, "Twill paper: what its method makes of this", ""}.does(show_compare<CompareView::Paper>),
    Action{"ask_paper", kCompare, "Schedule as the Twill paper does", ""}.does(ask_paper).needs(no_question<Topic::Paper>),
    Action{"cancel_paper", kNowhere, "Cancel scheduling as the paper does", "", cancel_ask<Topic::Paper>}.needs(not_asking<Topic::Paper>),
    Action{"audit", kCompare, "Audit of a compiler's schedule", "Ctrl+Shift+A", make_tab<BottomTab::Audit>},
    Action{"next_reading", kCompare, "Other reading of the dump", "", other_reading}.needs(needs_dump),
    Action{"next_loop", kCompare, "Next loop of the dump", "", next_loop}.needs(needs_loops),
    Action{"emitter_rules", kCompare, "Demand what the dump's emitter demands", "", make<DemandEmitterRules>}.needs(needs_emitter_rules),
    Action{"triton", kCompare, "Triton kernel: its three schedules", "", make_tab<BottomTab::Triton>}.below_line(),
    Action{"show_tritons", kCompare, "Show Triton's own schedule", "", show_side<triton::Whose::Tritons>}.needs(
        no_side<triton::Whose::Tritons>),
    Action{"show_best_triton", kCompare, "Show the best Triton could do", "", show_side<triton::Whose::BestOfTriton>}.needs(
        no_side<triton::Whose::BestOfTriton>),
    Action{"show_best_machine", kCompare, "Show the best the machine could do", "", show_side<triton::Whose::BestOfMachine>}.needs(
        no_side<triton::Whose::BestOfMachine>),
    Action{"chart_three", kCompare, "Charts of all three", "", make_chart<ChartView::Three>}
        .needs(needs_triton_kernel)
        .ticked(in_chart_view<ChartView::Three>),
    Action{"triton_reading", kCompare, "Other reading of the Triton kernel", "", other_reading}.needs(needs_triton_kernel),
    Action{"compare_triton", kCompare, "Work the three schedules out anew", "", make<CompareTriton>}.needs(needs_triton_kernel),
    Action{"check_launch", kCompare, "Check the open PTX again", "", make<CheckLaunch>}.needs(needs_launch),
    Action{"cancel_launch", kCompare, "Cancel checking the PTX", "", make<CancelLaunch>}.needs(needs_check),
    Action{"cancel_triton", kCompare, "Cancel working out the three schedules", "", make<CancelTriton>}.needs(needs_comparison),
    Action{"set_b", kCompare, "Make the shown schedule B", "B", shown_as_b}.needs(needs_two),
    Action{"swap_ab", kCompare, "Swap A and B", "X", make<SwapBaseline>}.needs(needs_b),
    Action{"no_b", kCompare, "End the comparison", "", make<SetBaseline>}.needs(needs_b),
    Action{"chart_a", kCompare, "Chart of A alone", "", make_chart<ChartView::A>}
        .needs(needs_a)
        .ticked(in_chart_view<ChartView::A>)
        .below_line(),
    Action{"chart_split", kCompare, "Charts of A over B", "", make_chart<ChartView::Split>}.needs(needs_b).ticked(
        in_chart_view<ChartView::Split>),
    Action{"chart_ghost", kCompare, "Chart of A with B as ghosts", "", make_chart<ChartView::Ghost>}.needs(needs_b).ticked(
        in_chart_view<ChartView::Ghost>),
    Action{"next_chart", kCompare, "Next way to compare", "G", next_chart}.needs(needs_chart_views),
    Action{"window_b", kCompare, "Open B in a second window", "", another_window<true>}.needs(no_window<true>),
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
    Action{"rings", kKernel, "Kernel's rings take what shared memory is left", "", flip_rings}.needs(needs_kernel).ticked(with_deep_rings),
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
    Action{"save_package", kKernel, "Save CUDA package ...", ""}.asks(Prompt::PackagePath).needs(needs_kernel_text),
    Action{"save_torch", kKernel, "Save PyTorch operator ...", ""}.asks(Prompt::TorchPath).needs(needs_kernel_text),
    Action{"save_ttgir", kKernel, "Write Triton's text with this schedule ...", ""}.asks(Prompt::TtgirPath).needs(no_way_back),
    Action{"next_source", kKernel, "Next lines of the selected op", "F4"}.does(next_source<1>).needs(why_no_source_step),
    Action{"previous_source", kKernel, "Previous lines of the selected op", "Shift+F4"}.does(next_source<-1>).needs(why_no_source_step),
    Action{"show_layout", kKernel, "Layout of the selected op", "Y"}.does(show_layout).needs(no_layout_of_selected).below_line(),
    Action{"layout_phase", kNowhere, "Layout: next phase of the instruction", ""}.does(next_phase<1>).needs(no_layout_shown),
    Action{"layout_phase_back", kNowhere, "Layout: previous phase of the instruction", ""}.does(next_phase<-1>).needs(no_layout_shown),
    Action{"layout_colour", kNowhere, "Layout: colour by the next of warp, lane, register, bank, phase", "Shift+Y"}
        .does(next_layout_colour)
        .needs(no_layout_shown),
    Action{"layout_use", kNowhere, "Layout: use the alternative that stands beside", ""}.does(use_layout_beside).needs(no_layout_shown),
    Action{"layout_default", kNowhere, "Layout: what is looked at by default again", ""}.does(layout_by_default).needs(no_layout_shown),
    Action{"layout_defaults", kNowhere, "Layouts and instructions by default again, all of them", "", take_back_layouts}.needs(
        no_layout_chosen),
    Action{"ask_layouts", kSolve, "Choose layouts and instructions with the schedule", ""}
        .does(ask_layouts)
        .needs(no_question<Topic::Layouts>),
    Action{"cancel_layouts", kNowhere, "Cancel choosing layouts", "", cancel_ask<Topic::Layouts>}.needs(not_asking<Topic::Layouts>),
    Action{"layout_text", kKernel, "Layout by itself: a text of CuTe or Triton", ""}.does(show_layout_text).needs(needs_kernel),
    Action{"save_layout", kKernel, "Save layout ...", ""}.asks(Prompt::LayoutPath).needs(no_layout_shown),
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
