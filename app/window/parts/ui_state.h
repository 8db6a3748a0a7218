// What everything in the window reads, and what it remembers between frames: text in a filter, a popup that is open. Panels and tabs read
// models and draw; what the person wants goes to the command queue.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <vector>

#include "app/window/chart/chart_overlay.h"
#include "app/window/chart/compare_model.h"
#include "app/window/chart/gantt_view.h"
#include "app/window/chart/inspector_model.h"
#include "app/window/chart/three_model.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/focus.h"
#include "app/window/parts/header_model.h"
#include "app/window/parts/ops_table.h"
#include "app/window/parts/tabs.h"
#include "core/chart/range_statistics.h"

namespace heddle::app {

/// What the panels read: built from the session, rebuilt when its revision changes.
struct Models {
  HeaderModel header;
  std::vector<OpsTableRow> ops;  ///< in op order, then prologue and epilogue
  EndOps ends;                   ///< the kernel's prologue and epilogue, of the shown schedule where there is one
  std::optional<InspectorModel> inspector;
  std::optional<GanttModel> gantt;
  ChartOverlay overlay;
  std::optional<CompareModel> compare;   ///< where there is a B
  std::optional<ThreeModel> three;       ///< where the chart shows all three of a Triton kernel
  std::vector<OtherBar> measured;        ///< bars of the chosen run, where they are shown
  std::string measured_legend;           ///< empty: they are not shown
  std::optional<StreamPieces> streams;   ///< of the chart, once a stretch of it was measured
  std::optional<RangeStatistics> range;  ///< of the measured stretch
};

/// The file browser of the open dialog.
struct OpenDialogState {
  std::string folder;
  char path[1024] = "";
  char filter[128] = "";
  std::string complaint;  ///< about the path
  bool just_opened = false;
};

/// A dialog that asks for a path to write to.
struct PathPromptState {
  Prompt ask = Prompt::Nothing;  ///< Nothing: closed
  char path[1024] = "";
  bool just_opened = false;
  std::string preview{};  ///< how what is written is called, or why it cannot be; empty: nothing to say
};

struct UiState {
  CommandQueue commands;
  GanttViewState chart;
  GanttViewState chart_b;  ///< of the lower one, where two are on one axis
  GanttViewState chart_c;  ///< of another one, where three are
  char ops_filter[128] = "";
  std::string_view list_sort = "start";  ///< title of a column of ops
  bool list_descending = false;
  char log_filter[128] = "";
  std::size_t log_seen = 0;
  OpenDialogState open_dialog;
  PathPromptState path_prompt;
  bool leave_opened = false;
  bool error_opened = false;
  bool menu_by_key = false;     ///< the menu that is open was opened with the keyboard, which moves through it
  bool choose_subject = false;  ///< the list of kernels, machines and parameters opens in the next frame
  std::array<bool, kFocusPanes> on_screen{true};
  std::shared_ptr<const Kernel> machines_of;  ///< the kernel that `machines` can run
  std::vector<std::string> machines;
  bool maximized = false;  ///< the pane under the chart has the chart's place too

  /// What one part remembers between frames, made when it is first asked for: ui.of<SlackTabState>(). Constant state has it
  /// too: it is only how things are drawn.
  template <class T>
  T& of() const {
    std::shared_ptr<void>& state = parts_[typeid(T)];
    if (!state) state = std::make_shared<T>();
    return *static_cast<T*>(state.get());
  }

 private:
  mutable std::unordered_map<std::type_index, std::shared_ptr<void>> parts_;
};

}  // namespace heddle::app
