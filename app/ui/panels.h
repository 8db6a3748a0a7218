// The panels of the window. Each reads models and draws; what the person wants goes to the command queue. State that
// only matters to drawing (text in a filter, a popup that is open) lives in UiState.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/session.h"
#include "app/ui/actions.h"
#include "app/ui/focus.h"
#include "app/ui/gantt_view.h"
#include "app/ui/keys_overlay.h"
#include "app/ui/palette.h"
#include "app/ui/project_dialogs.h"
#include "app/ui/schedule_list.h"
#include "app/ui/tabs.h"
#include "app/viewmodel/chart_overlay.h"
#include "app/viewmodel/compare_model.h"
#include "app/viewmodel/header_model.h"
#include "app/viewmodel/inspector_model.h"
#include "app/viewmodel/ops_table.h"

namespace heddle::app {

/// What the panels read: built from the session, rebuilt when its revision changes.
struct Models {
  HeaderModel header;
  std::vector<OpsTableRow> ops;  ///< in op order
  std::optional<InspectorModel> inspector;
  std::optional<GanttModel> gantt;
  ChartOverlay overlay;
  std::optional<CompareModel> compare;  ///< where there is a B
  std::vector<OtherBar> measured;       ///< bars of the chosen run, where they are shown
  std::string measured_legend;          ///< empty: they are not shown
};

/// The file browser of the open dialog.
struct OpenDialogState {
  std::string folder;
  char path[1024] = "";
  char filter[128] = "";
  bool just_opened = false;
};

/// A dialog that asks for a path to write to.
struct PathPromptState {
  Prompt ask = Prompt::Nothing;  ///< Nothing: closed
  char path[1024] = "";
  bool just_opened = false;
};

// What each tab remembers between frames: app/ui/tabs/*_state.h.
struct AlternativesTabState;
struct AuditTabState;
struct CompareTabState;
struct ConstraintsState;
struct CudaTabState;
struct ExplainTabState;
struct GraphState;
struct ParetoState;
struct PipelineState;
struct SensitivityState;
struct SlackTabState;
struct SweepTabState;
struct WhatIfState;

struct UiState {
  UiState();
  ~UiState();

  CommandQueue commands;
  GanttViewState chart;
  GanttViewState chart_b;  ///< of the lower one, where two are on one axis
  ScheduleListState schedule_list;
  char ops_filter[128] = "";
  std::string_view list_sort = "start";  ///< title of a column of ops
  bool list_descending = false;
  char log_filter[128] = "";
  std::size_t log_seen = 0;
  OpenDialogState open_dialog;
  PathPromptState path_prompt;
  ExportDialogState export_dialog;
  NoteEditorState note;
  bool leave_opened = false;
  bool error_opened = false;
  KeysOverlayState keys;
  PaletteState palette;
  bool choose_subject = false;  ///< the list of kernels, machines and parameters opens in the next frame
  std::array<bool, kFocusPanes> on_screen{true, false, false, false};
  std::size_t strip_first = 0;                ///< the first tab that is on the strip
  std::shared_ptr<const Kernel> machines_of;  ///< the kernel that `machines` can run
  std::vector<std::string> machines;
  bool maximized = false;  ///< the pane under the chart has the chart's place too

  // Of the tabs; never null.
  std::unique_ptr<AlternativesTabState> alternatives;
  std::unique_ptr<AuditTabState> audit;
  std::unique_ptr<CompareTabState> compare_tab;
  std::unique_ptr<ConstraintsState> constraints;
  std::unique_ptr<CudaTabState> cuda;
  std::unique_ptr<ExplainTabState> explain;
  std::unique_ptr<GraphState> graph;
  std::unique_ptr<ParetoState> pareto;
  std::unique_ptr<PipelineState> pipeline;
  std::unique_ptr<SensitivityState> sensitivity;
  std::unique_ptr<SlackTabState> slack;
  std::unique_ptr<SweepTabState> sweep;
  std::unique_ptr<WhatIfState> what_if;
};

void draw_menu_bar(const Session& session, UiState& ui);
void draw_toolbar(const Session& session, const Models& models, UiState& ui);
void draw_status_bar(const Session& session, const Models& models, const UiState& ui);
void draw_left_pane(const Session& session, const Models& models, UiState& ui);
void draw_inspector(const Session& session, const Models& models, UiState& ui);
void draw_bottom_pane(const Session& session, const Models& models, UiState& ui);
/// The chart, or what to do when there is none yet.
void draw_center(Session& session, const Models& models, UiState& ui);
/// The switch between A, A over B, and A with B as ghosts, and what they are aligned at; right of the modes, between these
/// pixels of the window.
void draw_compare_bar(const Session& session, const Models& models, UiState& ui, float left, float right);
/// A strip that says what is pointed at and laid over the chart, and ends it; returns its height, 0 when there is nothing.
float draw_chart_legend(const Session& session, const Models& models, UiState& ui, float top);
void draw_welcome(const Session& session, UiState& ui);

// Over everything else.
void draw_open_dialog(Session& session, UiState& ui);
void draw_path_prompt(const Session& session, UiState& ui);
void draw_error_panel(const Session& session, UiState& ui);

}  // namespace heddle::app
