// Everything a person can do, as data. Panels append commands while drawing and never change the session; the session
// applies them between two frames. Commands are at once the unit of undo, the entries of menus and the words of UI
// tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/id.h"
#include "core/report/gantt_model.h"

namespace heddle::app {

enum class ThemeName { Dark, Light, HighContrast };
enum class BottomTab { Log, Explain, Ops, Units, Constraints };

// Files. A NAME is a shipped name ("toy_fig1", "h100") or a path.
struct OpenFile {
  std::string path;
};  ///< any of our files, told apart by its "schema" (drag and drop, open dialog)
struct OpenKernel {
  std::string name;
};
struct OpenMachine {
  std::string name;
};
struct OpenPair {
  std::string kernel, machine;
  bool solve = true;
};  ///< welcome cards, command line
struct OpenSchedule {
  std::string path;
};
struct OpenConstraints {
  std::string path;
};
struct SaveSchedule {
  std::string path;
};  ///< the schedule that is shown
struct ExportSvg {
  std::string path;
};                        ///< the chart as it is shown
struct CloseDocument {};  ///< back to the welcome screen
struct DismissError {};

// The document.
struct SetParam {
  std::string name;
  std::int64_t value = 0;
};
struct SelectSchedule {
  std::size_t index = 0;
};  ///< index into Document::schedules
struct RemoveSchedule {
  std::size_t index = 0;
};
struct ToggleConstraint {
  std::size_t index = 0;
};
struct Undo {};
struct Redo {};

// Selection.
struct SelectOp {
  OpId op;
  bool extend = false;
};  ///< extend: add to, or take from, what is selected
struct ClearSelection {};

// Solving.
struct StartSolve {};
struct CancelSolve {};

// How things are shown.
struct SetMode {
  GanttMode mode = GanttMode::Steady;
};
struct SetIterations {
  int count = 3;
};  ///< unrolled and pipeline modes, 1 .. 64
struct SetTheme {
  ThemeName theme = ThemeName::Dark;
  bool keep = true;  ///< false: for this run only
};
struct SetScale {
  int percent = 100;
  bool keep = true;
};  ///< user scale, 50 .. 300
struct ShowTab {
  BottomTab tab = BottomTab::Log;
};
struct ToggleKeys {};  ///< the overlay that lists all keys
struct ShowOpenDialog {};
struct FocusFind {};
struct ZoomToSelection {};  ///< chart: centre the selection; again: fit
struct FitAll {};           ///< chart: show everything
struct CopyText {
  std::string text;
};  ///< to the clipboard
struct Quit {};

using Command =
    std::variant<OpenFile, OpenKernel, OpenMachine, OpenPair, OpenSchedule, OpenConstraints, SaveSchedule, ExportSvg,
                 CloseDocument, DismissError, SetParam, SelectSchedule, RemoveSchedule, ToggleConstraint, Undo, Redo,
                 SelectOp, ClearSelection, StartSolve, CancelSolve, SetMode, SetIterations, SetTheme, SetScale, ShowTab,
                 ToggleKeys, ShowOpenDialog, FocusFind, ZoomToSelection, FitAll, CopyText, Quit>;

class CommandQueue {
 public:
  void push(Command command) { commands_.push_back(std::move(command)); }
  bool empty() const { return commands_.empty(); }
  /// Hands over what was pushed so far, in order.
  std::vector<Command> take() { return std::exchange(commands_, {}); }

 private:
  std::vector<Command> commands_;
};

}  // namespace heddle::app
